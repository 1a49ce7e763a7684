//! A processor's descriptor: readable when there is something to do, and written once a rest.
#![cfg(target_os = "linux")]

mod bare;
mod driven;
mod lost;
#[path = "../watchdog/mod.rs"]
mod watchdog;

use mailring::task::{EventFd, FdProcessor};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsFd;
use std::fs::File;
use std::io::Read;

/// Whether `fd` is readable just now.
fn is_readable(fd: impl AsFd) -> bool {
    let mut fds = [PollFd::new(&fd, PollFlags::IN)];
    let at_once = Timespec::default();
    poll(&mut fds, Some(&at_once)).unwrap() == 1
}

/// Sleeps until `fd` is readable.
fn sleep_on(fd: impl AsFd) {
    let mut fds = [PollFd::new(&fd, PollFlags::IN)];
    assert_eq!(poll(&mut fds, None), Ok(1));
    assert_eq!(fds[0].revents(), PollFlags::IN);
}

/// How often `fd` was written since it was cleared last; clears it.
fn writes(fd: impl AsFd) -> u64 {
    let mut count = [0; 8];
    // Another descriptor of the same counter.
    match File::from(fd.as_fd().try_clone_to_owned().unwrap()).read(&mut count) {
        Ok(_all) => u64::from_ne_bytes(count),
        Err(error) => {
            assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
            0
        }
    }
}

/// From any thread to any other, as what they are made of.
const _: () = {
    const fn travels<T: Send>() {}
    const fn is_shared<T: Sync>() {}
    travels::<EventFd>();
    is_shared::<EventFd>();
    travels::<FdProcessor<u32>>();
};
