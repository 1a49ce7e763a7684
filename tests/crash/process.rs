//! The child as a process.

use super::mortal::Step;
use super::output::Folder;
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What became of a child.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The job has run to its end.
    Done,
    /// It was killed.
    Killed,
    /// It says why.
    Failed(String),
}

/// See above.
pub(crate) struct Child(std::process::Child);

impl Child {
    /// A process that runs the job in `folder`, reading so many rows a second.
    pub(crate) fn start(folder: &Folder, rate: u64) -> Self {
        Self::start_as(folder, rate, &[])
    }

    /// One whose job does not come to its end.
    pub(crate) fn start_endless(folder: &Folder, rate: u64) -> Self {
        Self::start_as(folder, rate, &[("CRASH_ENDLESS", String::new())])
    }

    /// One that dies at a step when that has come so often, and not before.
    pub(crate) fn start_and_kill(folder: &Folder, at: (Step, u32), rate: u64) -> Self {
        Self::start_with(folder, at, libc::SIGKILL, rate)
    }

    /// One that stands still there instead; it does when this returns.
    pub(crate) fn start_and_pause(folder: &Folder, at: (Step, u32), rate: u64) -> Self {
        let child = Self::start_with(folder, at, libc::SIGSTOP, rate);
        let mut status = 0;
        // SAFETY: `status` is written only; a process that stands still is not reaped by that.
        let told = unsafe { libc::waitpid(child.pid(), &mut status, libc::WUNTRACED) };
        assert_eq!(told, child.pid());
        assert!(libc::WIFSTOPPED(status), "{at:?} comes: {status}");
        child
    }

    fn pid(&self) -> libc::pid_t {
        libc::pid_t::try_from(self.0.id()).expect("a process's number")
    }

    /// Has it go on.
    pub(crate) fn resume(&self) {
        // SAFETY: a signal to a child that was not reaped.
        let sent = unsafe { libc::kill(self.pid(), libc::SIGCONT) };
        assert_eq!(sent, 0);
    }

    fn start_with(
        folder: &Folder,
        (step, time): (Step, u32),
        signal: libc::c_int,
        rate: u64,
    ) -> Self {
        let at = format!("{step:?} {time} {signal}");
        let words = [("CRASH_ENDLESS", String::new()), ("CRASH_AT", at)];
        Self::start_as(folder, rate, &words)
    }

    fn start_as(folder: &Folder, rate: u64, words: &[(&str, String)]) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("a test has a program"));
        command
            .args(["child", "--exact", "--ignored", "--nocapture"])
            .env("CRASH_FOLDER", folder.path())
            .env("CRASH_RATE", rate.to_string())
            .envs(words.iter().map(|(name, said)| (name, said)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        Self(command.spawn().expect("a process"))
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> Ended {
        let mut said = String::new();
        if let Some(mut stderr) = self.0.stderr.take() {
            let _unreadable = stderr.read_to_string(&mut said);
        }
        let status = self.0.wait().expect("it was started");
        match (status.success(), status.signal()) {
            (true, _) => Ended::Done,
            (false, Some(libc::SIGKILL)) => Ended::Killed,
            _ => Ended::Failed(said),
        }
    }

    /// Kills it after `life`, unless it has ended before.
    pub(crate) fn wait_or_kill(mut self, life: Duration) -> Ended {
        let begun = Instant::now();
        while begun.elapsed() < life {
            if matches!(self.0.try_wait(), Ok(Some(_))) {
                return self.wait();
            }
            std::thread::sleep(Duration::from_millis(1).min(life));
        }
        // It may have ended by itself just now, which is told by how.
        let _ended = self.0.kill();
        self.wait()
    }
}
