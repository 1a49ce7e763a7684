//! What everybody does with an engine.

use crate::LONG;
use crate::watchdog::watched;
use mailring::task::{Engine, Placement, Shutdown, TaskHandle, TaskState};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};

#[test]
fn a_task_is_spawned_posted_to_asked_and_drained() {
    watched(|| {
        let engine = Engine::builder()
            .placement(Placement::PerCore)
            .build()
            .unwrap();
        let counter = engine.spawn("counter", |_cx| 0_u64).unwrap();
        for _ in 0..1000 {
            counter.post(|sum| *sum += 1).unwrap();
        }
        assert_eq!(counter.ask(|sum| *sum).unwrap().wait(), Ok(1000));
        counter.post(|sum| *sum += 1).unwrap();
        let report = engine.shutdown(Shutdown::drain_within(LONG)).unwrap();
        assert!(report.is_clean(), "{report}");
        assert_eq!(report.outcomes.len(), 1);
        assert_eq!(counter.state(), TaskState::Finished);
        assert!(counter.post(|_| ()).is_err());
    });
}

#[test]
fn ping_pong_between_tasks_of_one_thread_and_of_two() {
    watched(|| {
        let engine = Engine::builder().threads(2).build().unwrap();
        for threads in [[0, 0], [0, 1]] {
            let task = |name: &str, thread: usize| {
                engine
                    .task(name)
                    .on_thread(thread)
                    .spawn(|_| 0_u64)
                    .unwrap()
            };
            let (ping, pong) = (task("ping", threads[0]), task("pong", threads[1]));
            let (done, rounds) = std::sync::mpsc::channel();
            play(&ping, &pong, 10_000, done);
            rounds.recv().unwrap();
            assert_eq!(ping.ask(|hits| *hits).unwrap().wait(), Ok(5_000));
            assert_eq!(pong.ask(|hits| *hits).unwrap().wait(), Ok(5_000));
        }
    });
}

type Player = mailring::task::TaskHandle<u64>;

fn play(to: &Player, from: &Player, left: u32, done: std::sync::mpsc::Sender<()>) {
    if left == 0 {
        return done.send(()).unwrap();
    }
    let (me, other) = (to.clone(), from.clone());
    to.post(move |hits| {
        *hits += 1;
        play(&other, &me, left - 1, done);
    })
    .unwrap();
}

/// Such a hook is on the tasks' own thread, and so posts past their rings, when the thread has looked
/// already.
#[test]
fn what_a_hook_posts_before_its_thread_sleeps_is_run_at_once() {
    const POSTS: usize = 3;
    watched(|| {
        let of_hook = Arc::new(OnceLock::<TaskHandle<Sender<()>>>::new());
        let (task, posts) = (Arc::clone(&of_hook), AtomicUsize::new(0));
        let builder = Engine::builder().placement(Placement::Unpinned).threads(1);
        let builder = builder.on_park(move |_| {
            if let Some(task) = task.get()
                && posts.fetch_add(1, SeqCst) < POSTS
            {
                task.post(|ran| ran.send(())).unwrap();
            }
        });
        let engine = builder.build().unwrap();
        let (ran, runs) = channel();
        let task = engine.spawn("task", move |_| ran).unwrap();
        assert!(of_hook.set(task.clone()).is_ok());
        // Its thread sleeps after this at the latest.
        task.post(|_| ()).unwrap();
        for _ in 0..POSTS {
            runs.recv().unwrap();
        }
    });
}

#[test]
fn what_is_refused_is_named_as_it_was_asked_for() {
    watched(|| {
        let builder = Engine::builder().placement(Placement::Unpinned).threads(1);
        let error = builder.tasks_max(1 << 45).build().unwrap_err();
        let text = error.to_string();
        let named = "so many tasks a thread are too many: a ring of 35184372088832 letters";
        assert!(text.starts_with(named), "{text}");
    });
}
