//! Pins of real threads, on Linux; each in a thread or a process of its own.

use mailring::mailbox;
use mailring::processor::MailboxProcessor;
use mailring::task::{
    CpuSet, Engine, OnPinFailure, PinError, Placement, Plan, Topology, Warning, mask, pin,
};
use mailring::wait::{BusySpin, Parking, WaitStrategy};
use std::io;
use std::num::NonZeroUsize;
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// What a hang is told by; all work here ends in a small part of it.
const LIMIT: Duration = Duration::from_secs(240);

/// Runs `work` on a thread of its own and hands on its panic; fails if it hangs.
fn apart<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, outcome) = channel();
    let worker = thread::spawn(move || {
        // Nobody listens any more where the limit has passed.
        let _ = done.send(work());
    });
    match outcome.recv_timeout(LIMIT) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => panic!("hangs: not done after {LIMIT:?}"),
        Err(RecvTimeoutError::Disconnected) => match worker.join() {
            Ok(()) => unreachable!("it sends before it ends"),
            Err(panic) => std::panic::resume_unwind(panic),
        },
    }
}

fn allowed() -> &'static CpuSet {
    Topology::of_process().allowed()
}

fn one(cpu: usize) -> CpuSet {
    CpuSet::from([cpu])
}

#[test]
fn a_thread_is_pinned_to_one_cpu_and_to_many_and_it_alone() {
    let before = mask().unwrap();
    apart(|| {
        for cpu in allowed() {
            pin(&one(cpu)).unwrap();
            assert_eq!(mask().unwrap(), one(cpu));
        }
        pin(allowed()).unwrap();
        assert_eq!(&mask().unwrap(), allowed());
    });
    assert_eq!(mask().unwrap(), before);
}

#[test]
fn a_plan_pins_each_of_its_threads() {
    let plan = Placement::Spread
        .plan(Topology::of_process(), None)
        .unwrap();
    for thread in 0..plan.threads().get() {
        let plan = plan.clone();
        apart(move || {
            plan.pin(thread).unwrap();
            assert_eq!(&mask().unwrap(), plan.cpus(thread));
        });
    }
}

#[test]
fn what_cannot_be_had_is_an_error_that_names_it() {
    apart(|| {
        assert!(matches!(pin(&CpuSet::new()), Err(PinError::NoCpu)));
        for cpu in [5_000, 70_000, usize::MAX] {
            let error = pin(&one(cpu)).unwrap_err();
            let PinError::Refused { cpus, source } = &error else {
                panic!("{error:?}");
            };
            assert_eq!(
                (cpus, source.raw_os_error()),
                (&one(cpu), Some(libc::EINVAL))
            );
            let refused = format!("this thread is not pinned to CPU {cpu}: Invalid argument");
            assert!(error.to_string().starts_with(&refused), "{error}");
        }
        assert_eq!(&mask().unwrap(), allowed(), "it is where it was");

        // In part it can: the thread is there, and the rest is named.
        let here = one(allowed().first().unwrap());
        let cpus = here.union(&one(5_000));
        let error = pin(&cpus).unwrap_err();
        assert_eq!(mask().unwrap(), here);
        assert_eq!(
            error.to_string(),
            format!("this thread was to be pinned to CPUs {cpus} and is pinned to CPU {here}")
        );
        assert!(matches!(error, PinError::Narrowed { got, .. } if got == here));
    });
}

#[test]
fn b34_a_pinned_thread_sees_all_that_the_process_was_started_with() {
    let before = Topology::read();
    let cpu = allowed().last().unwrap();
    apart(move || {
        pin(&one(cpu)).unwrap();
        let seen = Topology::read();
        assert_eq!(seen.allowed(), before.allowed());
        assert_eq!(Topology::of_process().allowed(), before.allowed());

        // A plan made here is that of everywhere else, and what it starts is put right.
        let plan = Placement::PerCore.plan(&seen, None).unwrap();
        assert_eq!(Ok(plan), Placement::PerCore.plan(&before, None));
        let free = Placement::Unpinned.plan(&seen, None).unwrap();
        let masks = thread::spawn(move || {
            let inherited = mask().unwrap();
            free.pin(0).unwrap();
            (inherited, mask().unwrap())
        });
        assert_eq!(masks.join().unwrap(), (one(cpu), before.allowed().clone()));
    });
    assert_eq!(
        Topology::read().allowed(),
        allowed(),
        "main's own mask is as before"
    );
}

/// Whichever pinned thread starts them.
#[test]
fn b34_threads_of_an_engine_that_are_not_pinned_are_free() {
    apart(|| {
        pin(&one(allowed().last().unwrap())).unwrap();
        let (told, stuck) = channel();
        let builder = Engine::builder().placement(Placement::Unpinned).threads(1);
        let builder = builder.cancel_timeout(Duration::ZERO);
        let builder = builder.on_stuck(move |_| told.send(mask().unwrap()).unwrap());
        let engine = builder.build().unwrap();
        let job = engine.io().submit(|| mask().unwrap()).unwrap();
        assert_eq!(job.wait().as_ref(), Ok(allowed()), "a thread for jobs");

        let task = engine.spawn("task", |_| ()).unwrap();
        let of_task = task.ask(|()| mask().unwrap()).unwrap();
        assert_eq!(of_task.wait().as_ref(), Ok(allowed()), "a thread for tasks");

        let ((begin, begun), (go, gate)) = (channel(), channel::<()>());
        let held = move |_: &mut ()| {
            begin.send(()).unwrap();
            let _gone = gate.recv();
        };
        task.post(held).unwrap();
        begun.recv().unwrap();
        task.cancel();
        assert_eq!(stuck.recv().as_ref(), Ok(allowed()), "the watchdog's");
        drop(go);
    });
}

#[test]
#[ignore = "run by the other test, under a mask of one CPU"]
fn child_in_a_narrow_mask() {
    let started_with = mask().unwrap();
    assert_eq!(allowed(), &started_with);
    assert_eq!(started_with.len(), 1);
    assert_eq!(Topology::of_process().threads_worth_starting().get(), 1);
    let machine = Topology::of_process()
        .reachable()
        .expect("a system that tells")
        .clone();
    for cpu in &machine {
        let plan = Placement::Cpu(cpu)
            .plan(Topology::of_process(), None)
            .unwrap();
        let outside = plan.warnings().iter();
        let outside = outside.filter(|w| matches!(w, Warning::OutsideMask { .. }));
        assert_eq!(outside.count(), usize::from(!started_with.contains(cpu)));
        match apart(move || (plan.pin(0), mask().unwrap())) {
            (Ok(()), mask) => assert_eq!(mask, one(cpu)),
            (Err(error), mask) => {
                assert!(
                    error.to_string().contains(&format!("CPU {cpu}:")),
                    "{error}"
                );
                assert_eq!(mask, started_with, "never another CPU in silence");
            }
        }
    }
    let beyond = machine.last().unwrap() + 1;
    let error = Placement::Cpu(beyond)
        .plan(Topology::of_process(), None)
        .unwrap_err();
    assert!(
        error.to_string().starts_with(&format!("CPU {beyond} ")),
        "{error}"
    );
    println!("tried {machine} from {started_with}");
}

#[test]
fn b35_a_number_is_that_cpu_whatever_the_mask_at_the_start() {
    // A process inherits the mask of the thread that starts it.
    let cpu = allowed().last().unwrap();
    let output = apart(move || {
        pin(&one(cpu)).unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args([
            "--exact",
            "pins::child_in_a_narrow_mask",
            "--ignored",
            "--nocapture",
        ]);
        child.output().unwrap()
    });
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
    assert!(
        said.contains(&format!(" from {cpu}\n")),
        "it has run: {said}"
    );
}

/// Has the kernel refuse `sched_setaffinity` to this thread from now on.
fn forbid_pins() -> io::Result<()> {
    let step = |code: u32, jt, jf, k| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let load = step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0);
    let compare = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let answer = libc::BPF_RET | libc::BPF_K;
    let mut program = [
        load,
        step(compare, 0, 1, libc::SYS_sched_setaffinity as u32),
        step(answer, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        step(answer, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog {
        len: program.len() as u16,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: the filter and its program live until the call that copies them returns.
    let refused = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &filter) != 0
    };
    match refused {
        true => Err(io::Error::last_os_error()),
        false => Ok(()),
    }
}

#[test]
fn b36_where_pins_are_forbidden_a_thread_runs_unpinned_with_one_warning() {
    apart(|| {
        // A CPU that the thread is not pinned to already.
        let cpu = allowed().first().unwrap();
        let asked = match allowed().len() {
            1 => one(cpu + 1),
            _ => one(cpu),
        };
        forbid_pins().expect("a kernel with seccomp filters");
        let text = format!("this thread is not pinned to CPU {asked}: ");

        let warning = OnPinFailure::Warn
            .weigh(pin(&asked))
            .unwrap()
            .expect("a warning");
        assert!(warning.to_string().starts_with(&text), "{warning}");
        let errno = |error: &PinError| match error {
            PinError::Refused { source, .. } => source.raw_os_error(),
            other => panic!("{other:?}"),
        };
        assert_eq!(errno(&warning), Some(libc::EPERM));
        let error = OnPinFailure::Error.weigh(pin(&asked)).unwrap_err();
        assert_eq!(errno(&error), Some(libc::EPERM));
        assert!(OnPinFailure::Ignore.weigh(pin(&asked)).unwrap().is_none());
        assert_eq!(&mask().unwrap(), allowed());

        // To be free where one is free already needs no leave.
        let free = Placement::Unpinned
            .plan(Topology::of_process(), None)
            .unwrap();
        free.pin(0).unwrap();
    });
}

/// Five pinned owners with 1,000 letters each; the masks they ran under.
fn run_five(plan: &Plan, wait: impl WaitStrategy + Clone + 'static) -> Vec<CpuSet> {
    const LETTERS: u64 = 1_000;
    let owners: Vec<_> = (0..plan.threads().get())
        .map(|number| {
            let (plan, wait) = (plan.clone(), wait.clone());
            let (ready, executor) = channel();
            let owner = thread::spawn(move || {
                plan.pin(number).unwrap();
                let mailbox = mailbox::Builder::new(64).owner_wait(wait);
                let builder = MailboxProcessor::<u64>::builder().mailbox(mailbox);
                let mut processor = builder.build(0_u64).unwrap();
                ready.send(processor.executor()).unwrap();
                processor.run().unwrap();
                mask().unwrap()
            });
            (owner, executor.recv().unwrap())
        })
        .collect();
    for _ in 0..LETTERS {
        for (_, executor) in &owners {
            executor.execute(|count| *count += 1).unwrap();
        }
    }
    owners
        .into_iter()
        .map(|(owner, executor)| {
            assert_eq!(executor.ask(|count| *count).unwrap().wait(), Ok(LETTERS));
            executor.all_done();
            owner.join().unwrap()
        })
        .collect()
}

#[test]
fn b38_five_pinned_owners_on_two_cpus_get_all_their_letters() {
    let two: CpuSet = allowed().iter().take(2).collect();
    let plan = Placement::Each(two.iter().collect())
        .plan(Topology::of_process(), NonZeroUsize::new(5))
        .unwrap();
    let fewer = Warning::FewerCpus {
        threads: 5,
        cpus: two.clone(),
    };
    assert!(plan.warnings().contains(&fewer), "{:?}", plan.warnings());
    let wanted: Vec<CpuSet> = plan.iter().cloned().collect();
    let of_first = wanted
        .iter()
        .filter(|cpus| **cpus == one(two.first().unwrap()));
    assert_eq!(of_first.count(), if two.len() == 2 { 3 } else { 5 });

    let parked = plan.clone();
    assert_eq!(apart(move || run_five(&parked, Parking::default())), wanted);
    assert_eq!(apart(move || run_five(&plan, BusySpin)), wanted);
}
