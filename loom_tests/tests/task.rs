//! Tasks: their crew's sleep, what ends them, and who comes to whom from other threads.

mod model;

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread::JoinHandle;
use mailring::mailbox;
use mailring::model::{Crew, Life, is_at_home};
use mailring::processor::MailboxProcessor;
use mailring::task::{TaskHandle, TaskState};
use mailring::wait::reply;
use model::{
    Alarm, Letter, Plain, assert_fails, check, join, preemptions, sleep_at_once, spawn, unbounded,
    with,
};
use std::sync::Arc;

const RACE: &str = "Causality violation";
const DEADLOCK: &str = "deadlock";
const PLACES: &str = "each place is given back once";

/// What tasks did, for the model to see at the end. Plain: it orders nothing.
#[derive(Clone, Default)]
struct Log(Arc<AtomicU32>);

impl Log {
    fn ran(&self) -> u32 {
        self.0.load(Relaxed)
    }
}

/// A task's state: counts what runs, and finishes after so many letters.
struct Owner {
    me: TaskHandle<Owner>,
    log: Log,
    until: u32,
}

impl Owner {
    fn run(&mut self, letter: &Letter) {
        let _id = letter.id();
        if self.log.0.fetch_add(1, Relaxed) + 1 == self.until {
            self.me.finish();
        }
    }
}

/// Seats a task that finishes after `until` letters.
fn seat(crew: &mut Crew, capacity: usize, until: u32) -> (TaskHandle<Owner>, Log) {
    let log = Log::default();
    let its = log.clone();
    let handle = crew.seat(capacity, move |cx| Owner {
        me: cx.handle(),
        log: its,
        until,
    });
    (handle, log)
}

/// Posts letter `id`; whether it was accepted.
fn post(handle: &TaskHandle<Owner>, id: u32) -> bool {
    let letter = Letter::new(id);
    handle.try_post(move |owner| owner.run(&letter)).is_ok()
}

fn posting(handle: &TaskHandle<Owner>, id: u32) -> JoinHandle<(TaskHandle<Owner>, bool)> {
    with(handle.clone(), move |handle| post(handle, id))
}

/// As `post`, past the ring: a neighbour's letter overtakes none.
fn urgent(handle: &TaskHandle<Owner>, id: u32) -> bool {
    let letter = Letter::new(id);
    handle.post_urgent(move |owner| owner.run(&letter)).is_ok()
}

/// Runs a crew of tasks that end.
fn run(mut crew: Crew) {
    crew.stop();
    crew.run();
}

/// A post while the crew's thread goes to sleep: the ready ring's own `PARKED` is the thread's.
#[test]
fn m70_post_against_the_sleep_of_a_crew() {
    check(preemptions(3, 1_400), || {
        let mut crew = Crew::new(1);
        let (handle, log) = seat(&mut crew, 1, 1);
        let posting = posting(&handle, 1);
        run(crew);
        assert_eq!(join([posting]), [true]);
        assert_eq!(log.ran(), 1);
        assert_eq!(handle.state(), TaskState::Finished);
    });
}

/// Two tasks of one thread, each with a post.
#[test]
fn m17_two_tasks_of_one_crew() {
    check(preemptions(1, 9_000), || {
        let mut crew = Crew::new(2);
        let tasks = [0, 1].map(|_| seat(&mut crew, 1, 1));
        let posting = [0, 1].map(|at| posting(&tasks[at].0, at as u32));
        run(crew);
        assert_eq!(join(posting), [true; 2]);
        assert_eq!(tasks.each_ref().map(|(_, log)| log.ran()), [1, 1]);
    });
}

/// A neighbour's post has a task run while another thread's ends its rest: it rests again only when its
/// index came.
#[test]
fn m17b_neighbour_against_a_post() {
    check(preemptions(1, 9_000), || {
        let mut crew = Crew::new(2);
        let (far, far_log) = seat(&mut crew, 2, 3);
        let (near, near_log) = seat(&mut crew, 1, 1);
        let posting = with((near, far.clone()), |(near, far)| {
            let neighbour = far.clone();
            let posts = move |owner: &mut Owner| {
                post(&neighbour, 1);
                owner.run(&Letter::new(3));
            };
            near.try_post(posts).is_ok() && urgent(far, 2) && post(far, 4)
        });
        run(crew);
        assert_eq!(join([posting]), [true]);
        assert_eq!((far_log.ran(), near_log.ran()), (3, 1));
        assert_eq!(far.state(), TaskState::Finished);
    });
}

/// A cancel while the crew's thread goes to sleep.
#[test]
fn m18_cancel_against_the_sleep_of_a_crew() {
    check(preemptions(4, 7_000), || {
        let mut crew = Crew::new(1);
        let (handle, log) = seat(&mut crew, 1, 1);
        let cancelling = with(handle.clone(), |handle| handle.cancel());
        run(crew);
        assert_eq!(join([cancelling]), [true]);
        assert_eq!(log.ran(), 0);
        assert_eq!(handle.state(), TaskState::Canceled);
    });
}

/// A cancel against a post: what was accepted has run, or is counted as undelivered.
#[test]
fn m71_cancel_against_a_post() {
    check(preemptions(1, 9_000), || {
        let mut crew = Crew::new(1);
        let (handle, log) = seat(&mut crew, 1, 9);
        let cancelling = with(handle.clone(), |handle| handle.cancel());
        let posting = posting(&handle, 1);
        run(crew);
        let [accepted] = join([posting]);
        assert_eq!(join([cancelling]), [true]);
        let outcome = handle.outcome().unwrap();
        assert_eq!(outcome.state, TaskState::Canceled);
        assert_eq!(log.ran() + outcome.undelivered as u32, u32::from(accepted));
    });
}

/// A finish against a post: what was accepted has run.
#[test]
fn m72_finish_against_a_post() {
    check(preemptions(1, 2_500), || {
        let mut crew = Crew::new(1);
        let (handle, log) = seat(&mut crew, 1, 9);
        let finishing = with(handle.clone(), |handle| handle.finish());
        let posting = posting(&handle, 1);
        run(crew);
        let [accepted] = join([posting]);
        join([finishing]);
        let outcome = handle.outcome().unwrap();
        assert_eq!(
            (outcome.state, outcome.undelivered),
            (TaskState::Finished, 0)
        );
        assert_eq!(log.ran(), u32::from(accepted));
    });
}

/// A finish against the planting of a task: whichever is later finds the other.
#[test]
fn m73_finish_against_planting() {
    check(preemptions(1, 700), || {
        let crew = Crew::new(1);
        let port = crew.port();
        let life = port.life();
        let finishing = with(life.clone(), |life| life.finish());
        let spawning = with((port, life), |(port, life)| {
            let log = Log::default();
            port.spawn(life, 1, move |cx| Owner {
                me: cx.handle(),
                log,
                until: 9,
            })
            .unwrap();
            port.stop().unwrap();
        });
        let mut crew = crew;
        crew.run();
        join([finishing]);
        let [()] = join([spawning]);
    });
}

/// A task that a neighbour has run ends while its canceller still owes its index: its seat is nobody's
/// until that came.
#[test]
fn m74_end_while_an_index_is_owed() {
    check(preemptions(1, 9_000), || {
        let mut crew = Crew::new(3);
        let (far, _log) = seat(&mut crew, 1, 9);
        let (near, near_log) = seat(&mut crew, 1, 1);
        let (last, last_log) = seat(&mut crew, 1, 1);
        let port = crew.port();
        let [places, stops] = [crew.port(), crew.port()];
        let ending = with((near, far.clone()), move |(near, far)| {
            let neighbour = far.clone();
            let spawns = move |owner: &mut Owner| {
                let log = Log::default();
                let next = port.spawn(&port.life(), 1, move |cx| Owner {
                    me: cx.handle(),
                    log,
                    until: 9,
                });
                // It is refused where the place is not free.
                if let Ok(next) = next {
                    next.finish();
                }
                owner.run(&Letter::new(3));
            };
            let posts = move |owner: &mut Owner| {
                let _ended = post(&neighbour, 2);
                assert!(last.try_post(spawns).is_ok());
                owner.run(&Letter::new(1));
            };
            let did = near.try_post(posts).is_ok() & far.cancel();
            stops.stop().unwrap();
            did
        });
        crew.run();
        assert_eq!(join([ending]), [true]);
        assert_eq!(places.tasks(), 0, "{PLACES}");
        assert_eq!((near_log.ran(), last_log.ran()), (1, 1));
        assert_eq!(far.state(), TaskState::Canceled);
    });
}

/// A task is sent to a crew that goes to sleep, and a letter after it.
#[test]
fn m75_spawn_against_the_sleep_of_a_crew() {
    check(preemptions(2, 35_000), || {
        let mut crew = Crew::new(1);
        let log = Log::default();
        let its = log.clone();
        let spawning = with(crew.port(), |port| {
            let handle = port
                .spawn(&port.life(), 1, move |cx| Owner {
                    me: cx.handle(),
                    log: its,
                    until: 1,
                })
                .unwrap();
            assert!(post(&handle, 1));
            port.stop().unwrap();
        });
        crew.run();
        join([spawning]);
        assert_eq!(log.ran(), 1);
    });
}

/// An errand against the end of its crew: it is refused, or carried out; who waits for it is told.
#[test]
fn m76_errand_against_the_end_of_a_crew() {
    check(unbounded(1_400), || {
        let crew = Crew::new(1);
        let sending = with(crew.port(), |port| {
            let (answer, told) = reply::<u32>();
            let letter = Letter::new(1);
            let sent = port.send(move || {
                drop(letter);
                let _gone = answer.send(1);
            });
            (sent.is_ok(), told.wait())
        });
        run(crew);
        let [(sent, told)] = join([sending]);
        assert_eq!(told.is_ok(), sent);
    });
}

/// The end of a crew is asked for while its last task is cancelled.
#[test]
fn m77_stop_against_a_cancel() {
    check(preemptions(2, 20_000), || {
        let mut crew = Crew::new(1);
        let (handle, _log) = seat(&mut crew, 1, 9);
        let stopping = with(crew.port(), |port| port.stop().is_ok());
        let cancelling = with(handle.clone(), |handle| handle.cancel());
        crew.run();
        drop(crew);
        assert_eq!(join([stopping]), [true]);
        assert_eq!(join([cancelling]), [true]);
        assert_eq!(handle.state(), TaskState::Canceled);
    });
}

/// Who waits for a task is told its end.
#[test]
fn m78_join_against_the_end() {
    check(preemptions(3, 9_000), || {
        let mut crew = Crew::new(1);
        let (handle, _log) = seat(&mut crew, 1, 9);
        let joining = with(handle.clone(), |handle| {
            handle.cancel();
            handle.join().map(|outcome| outcome.state)
        });
        run(crew);
        assert_eq!(join([joining]), [Ok(TaskState::Canceled)]);
    });
}

/// Two wait for a life that its thread ends (L3).
#[test]
fn m78b_two_join() {
    check(preemptions(3, 13_000), || {
        let life = Life::new();
        let joining = [1, 2].map(|_| {
            with(life.clone(), |life| {
                life.join().map(|outcome| outcome.state)
            })
        });
        assert!(life.cancel());
        life.end();
        assert_eq!(join(joining), [Ok(TaskState::Canceled); 2]);
    });
}

/// The first cause wins, and who sees the state finds the cause (L1, L2).
#[test]
fn m79_fail_against_fail_and_cancel() {
    check(unbounded(600), || {
        let life = Life::new();
        let failing = ["a", "b"].map(|cause| with(life.clone(), move |life| life.fail(cause)));
        let cancelled = life.cancel();
        if life.state() == TaskState::Failed {
            assert!(life.cause().is_some(), "L2");
        }
        let [a, b] = join(failing);
        assert_eq!(u32::from(a) + u32::from(b) + u32::from(cancelled), 1, "L1");
        let cause = life.cause();
        match cause.as_deref() {
            None => assert!(cancelled),
            Some(cause) => assert!(cause.contains(if a { "a" } else { "b" })),
        }
        let ended = life.end();
        assert_eq!(ended.state == TaskState::Canceled, cancelled);
    });
}

/// What came before a step is seen by who sees the state, or whose own step came too late.
#[test]
fn m79v_what_came_before_a_step_is_seen() {
    check(unbounded(200), || {
        let life = Life::new();
        let work = Arc::new(Plain::new(0));
        let made = Arc::clone(&work);
        let stepping = with(life.clone(), move |life| {
            made.write(1);
            life.step(TaskState::Created, TaskState::Deploying)
        });
        let seen = Arc::clone(&work);
        let looking = with(life.clone(), move |life| {
            if life.state() == TaskState::Deploying {
                assert_eq!(seen.read(), 1);
            }
        });
        if !life.step(TaskState::Created, TaskState::Canceling) {
            assert_eq!(work.read(), 1);
        }
        let [_] = join([stepping]);
        join([looking]);
    });
}

/// A processor goes to another thread, whose home is not taken for its own by the one that had it
/// before.
#[test]
fn m80_home_of_another_thread() {
    check(unbounded(90), || {
        let mailbox = mailbox::Builder::new(1)
            .urgent_capacity(1)
            .markers(0)
            .urgent_markers(0)
            .owner_wait(sleep_at_once());
        let mut processor = MailboxProcessor::<u32>::builder()
            .mailbox(mailbox)
            .build(0)
            .unwrap();
        let executor = processor.executor();
        processor.with_owner(|_| assert!(is_at_home(&executor)));
        // The other goes on when it has rung, and so is ahead; nothing that it does then is known here.
        let alarm = Alarm::new();
        let rings = alarm.waker();
        let elsewhere = spawn(move || {
            let executor = processor.executor();
            rings.wake();
            processor.with_owner(|_| assert!(is_at_home(&executor)));
            processor
        });
        alarm.wait();
        assert!(!is_at_home(&executor), "F1: another thread's home");
        drop(elsewhere.join().unwrap());
    });
}

/// The call that ends a rest, and that which ends the crew's sleep.
#[test]
fn row_wake_left_out_of_a_crew() {
    for model in [
        "m70_post_against_the_sleep_of_a_crew",
        "m75_spawn_against_the_sleep_of_a_crew",
        "m18_cancel_against_the_sleep_of_a_crew",
    ] {
        assert_fails(model, "wake", Relaxed, DEADLOCK);
    }
}

#[test]
fn row_x_home_is_put_there_after_its_thread() {
    assert_fails("m80_home_of_another_thread", "x", Relaxed, "F1");
}

#[test]
fn row_x1_home_is_read_before_its_thread() {
    assert_fails("m80_home_of_another_thread", "x1", Relaxed, "F1");
}

#[test]
fn row_z_state_acquires() {
    assert_fails("m79v_what_came_before_a_step_is_seen", "z", Relaxed, RACE);
}

#[test]
fn row_z1_step_releases() {
    assert_fails("m79v_what_came_before_a_step_is_seen", "z1", Relaxed, RACE);
}

#[test]
fn row_z2_finish_and_planting_find_each_other() {
    for half in [Acquire, Release] {
        assert_fails("m73_finish_against_planting", "z2", half, DEADLOCK);
    }
}

/// No ordering, but what a task knows of an index that is on its way.
#[test]
fn row_owed_left_out_of_an_end() {
    assert_fails("m74_end_while_an_index_is_owed", "owed", Relaxed, PLACES);
}
