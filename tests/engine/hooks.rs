//! What an engine calls on its threads: when, where, and that a panic there harms nobody.

use crate::LONG;
use crate::watchdog::{until, watched};
use mailring::task::{Engine, EngineBuilder, Placement, Shutdown, ThreadInfo};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::thread;

/// What was called, on which thread's behalf, in order.
type Calls = Arc<Mutex<Vec<(&'static str, usize)>>>;

fn noted(calls: &Calls, what: &'static str, panics: bool) -> impl Fn(&ThreadInfo) + use<> {
    let calls = Arc::clone(calls);
    move |info| {
        assert_eq!(thread::current().name(), Some(&*info.name));
        calls.lock().unwrap().push((what, info.index));
        assert!(!panics, "in a hook");
    }
}

fn hooked(calls: &Calls, panics: bool) -> EngineBuilder {
    Engine::builder()
        .placement(Placement::Unpinned)
        .threads(2)
        .name("trading")
        .on_thread_start(noted(calls, "start", panics))
        .on_thread_stop(noted(calls, "stop", panics))
        .on_park(noted(calls, "park", panics))
        .on_unpark(noted(calls, "unpark", panics))
}

#[test]
fn each_hook_is_called_on_the_thread_it_is_about_also_where_it_panics() {
    watched(|| {
        for panics in [false, true] {
            let calls = Calls::default();
            let engine = hooked(&calls, panics).build().unwrap();
            let names: Vec<_> = engine.threads().iter().map(|info| &*info.name).collect();
            assert_eq!(names, ["trading-0", "trading-1"]);
            let parks = |thread| {
                let calls = calls.lock().unwrap();
                calls
                    .iter()
                    .filter(|call| **call == ("park", thread))
                    .count()
            };
            for thread in 0..2 {
                until(|| parks(thread) > 0);
                let task = engine.task("task").on_thread(thread).spawn(|_| ()).unwrap();
                let slept = parks(thread);
                assert!(task.ask(|()| ()).unwrap().wait().is_ok());
                until(|| parks(thread) > slept);
            }
            engine.shutdown(Shutdown::drain_within(LONG)).unwrap();
            let calls = calls.lock().unwrap();
            for thread in 0..2 {
                let of_thread = calls.iter().filter(|call| call.1 == thread);
                let of_thread: Vec<_> = of_thread.map(|call| call.0).collect();
                let (first, last) = (of_thread.first(), of_thread.last());
                assert_eq!((first, last), (Some(&"start"), Some(&"stop")));
                // What is between is sleep after sleep.
                let sleeps = &of_thread[1..of_thread.len() - 1];
                assert!(sleeps.len() >= 4);
                for sleep in sleeps.chunks(2) {
                    assert_eq!(sleep, ["park", "unpark"]);
                }
            }
        }
    });
}

#[test]
fn a_thread_starts_before_its_first_task_and_stops_after_its_last() {
    watched(|| {
        let alive = Arc::new(AtomicUsize::new(0));
        let (starts, stops) = (Arc::clone(&alive), Arc::clone(&alive));
        let engine = Engine::builder()
            .placement(Placement::Unpinned)
            .threads(1)
            .on_thread_start(move |_| {
                starts.fetch_add(1, SeqCst);
            })
            .on_thread_stop(move |_| {
                stops.fetch_sub(1, SeqCst);
            })
            .build()
            .unwrap();
        assert_eq!(alive.load(SeqCst), 1, "it is there when the engine is");
        let dropped = Arc::clone(&alive);
        let last = OnDrop(Some(move || assert_eq!(dropped.load(SeqCst), 1)));
        let task = engine.spawn("task", move |_| last).unwrap();
        let report = engine.shutdown(Shutdown::drain_within(LONG)).unwrap();
        assert!(report.is_clean());
        assert_eq!(alive.load(SeqCst), 0);
        drop(task);
    });
}

struct OnDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        if let Some(act) = self.0.take() {
            act();
        }
    }
}

#[test]
fn a_hook_of_states_that_panics_harms_nobody() {
    watched(|| {
        let calls = Arc::new(AtomicUsize::new(0));
        let counts = Arc::clone(&calls);
        let engine = Engine::builder()
            .placement(Placement::Unpinned)
            .threads(1)
            .on_task_state(move |_| {
                counts.fetch_add(1, SeqCst);
                panic!("in a hook");
            })
            .build()
            .unwrap();
        for _ in 0..10 {
            let task = engine.spawn("task", |_| 1).unwrap();
            assert_eq!(task.ask(|one| *one).unwrap().wait(), Ok(1));
            task.finish();
            task.join().unwrap();
        }
        engine.shutdown(Shutdown::now()).unwrap();
        assert_eq!(calls.load(SeqCst), 50, "five states each");
    });
}
