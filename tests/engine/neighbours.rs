//! Tasks of one thread and of two, beside each other: nothing is lost on the way, and nobody starves.
//!
//! `cargo test --release -p mailring --test engine neighbours -- --ignored` plays longer, and tells how
//! much CPU time a neighbour's letters wait.

use crate::gate::Gate;
use crate::watchdog::{Dice, watched, watched_for};
use crate::{engine, held};
use mailring::processor::Controller;
use mailring::task::{Engine, TaskHandle};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// Rounds of ping-pong that are quick also without optimisation.
const ROUNDS: u64 = if cfg!(debug_assertions) {
    100_000
} else {
    1_000_000
};

/// Hits, and who hits back.
#[derive(Default)]
struct Player {
    hits: u64,
    other: Option<TaskHandle<Player>>,
    strays: u64,
}

/// Two players, on these threads.
fn players(engine: &Engine, threads: [usize; 2]) -> [TaskHandle<Player>; 2] {
    let [ping, pong] = threads.map(|thread| {
        let task = engine.task("player").on_thread(thread);
        task.spawn(|_| Player::default()).unwrap()
    });
    for (player, other) in [(&ping, &pong), (&pong, &ping)] {
        let other = other.clone();
        player.post(|player| player.other = Some(other)).unwrap();
    }
    [ping, pong]
}

fn hit(left: u64, done: std::sync::mpsc::Sender<()>) -> impl FnOnce(&mut Player) + Send {
    move |player| {
        player.hits += 1;
        match (left, &player.other) {
            (0, _) | (_, None) => done.send(()).unwrap(),
            (_, Some(other)) => other.post(hit(left - 1, done)).unwrap(),
        }
    }
}

fn hits(player: &TaskHandle<Player>) -> u64 {
    player.ask(|player| player.hits).unwrap().wait().unwrap()
}

/// Plays so many rounds while a third thread posts to both at random.
fn play(threads: [usize; 2], rounds: u64) {
    let engine = engine(2);
    let players = players(&engine, threads);
    let (done, is_done) = channel();
    let over = Arc::new(AtomicBool::new(false));
    let disturbing = {
        let (players, over) = (players.clone(), Arc::clone(&over));
        thread::spawn(move || {
            let mut dice = Dice::new(41);
            let mut strays = 0_u64;
            while !over.load(SeqCst) {
                let player = &players[dice.roll(2) as usize];
                // One at a time: a full mailbox would refuse the neighbour's letter.
                player
                    .ask(|player| player.strays += 1)
                    .unwrap()
                    .wait()
                    .unwrap();
                strays += 1;
                dice.dawdle(2_000);
            }
            strays
        })
    };
    players[0].post(hit(2 * rounds - 1, done)).unwrap();
    is_done.recv().unwrap();
    over.store(true, SeqCst);
    let strays = disturbing.join().unwrap();
    let seen = players.each_ref().map(|player| {
        let strays = player.ask(|player| player.strays).unwrap();
        assert_eq!(hits(player), rounds);
        strays.wait().unwrap()
    });
    assert_eq!(seen.iter().sum::<u64>(), strays);
}

#[test]
fn b41_neighbours_play_ping_pong_and_no_letter_waits_for_the_next() {
    watched(|| play([0, 0], ROUNDS));
}

#[test]
fn b41_tasks_of_two_threads_play_ping_pong_and_no_letter_waits_for_the_next() {
    watched(|| play([0, 1], ROUNDS / 10));
}

#[test]
#[ignore = "takes a minute"]
fn b41_tasks_of_two_threads_play_for_longer() {
    watched_for(Duration::from_secs(600), || play([0, 1], ROUNDS));
}

/// Posts itself for ever, and counts.
fn again(task: TaskHandle<u64>, runs: Arc<AtomicU64>) -> impl FnOnce(&mut u64) + Send {
    move |_| {
        runs.fetch_add(1, SeqCst);
        let next = again(task.clone(), runs);
        // It is refused where the task ends.
        let _ended = task.post(next);
    }
}

/// What one turn of a task may run.
const TURN: u64 = 256;

/// A task that is held and will never have nothing to do, and what counts its runs.
type Busy = fn(&Engine) -> (TaskHandle<u64>, Gate, Arc<AtomicU64>);

/// By its letters, each of which posts the next.
fn busy_by_letters(engine: &Engine) -> (TaskHandle<u64>, Gate, Arc<AtomicU64>) {
    let busy = engine.spawn("busy", |_| 0).unwrap();
    let gate = held(&busy);
    let runs = Arc::new(AtomicU64::new(0));
    busy.post(again(busy.clone(), Arc::clone(&runs))).unwrap();
    (busy, gate, runs)
}

/// By its default action, which is never done.
fn busy_by_action(engine: &Engine) -> (TaskHandle<u64>, Gate, Arc<AtomicU64>) {
    let runs = Arc::new(AtomicU64::new(0));
    let counts = Arc::clone(&runs);
    let busy = engine.task("busy");
    let busy = busy.action(move |_: &mut u64, _: &mut Controller<'_>| {
        counts.fetch_add(1, SeqCst);
    });
    let busy = busy.spawn(|_| 0).unwrap();
    let gate = held(&busy);
    runs.store(0, SeqCst);
    (busy, gate, runs)
}

/// Has the neighbour's letters wait for the busy task, and tells what that took: runs of the busy one,
/// and the last letter's word.
fn hundred_beside<T: Send + 'static>(
    busy: Busy,
    last: impl Fn() -> T + Send + 'static,
) -> (u64, T) {
    let engine = engine(1);
    let patient = engine.task("patient").capacity(128).spawn(|_| ()).unwrap();
    let (busy, gate, runs) = busy(&engine);
    for _ in 0..99 {
        patient.post(|()| ()).unwrap();
    }
    let (tell, told) = channel();
    patient
        .post(move |()| tell.send((runs.load(SeqCst), last())).unwrap())
        .unwrap();
    gate.open();
    let told = told.recv().unwrap();
    busy.cancel();
    told
}

#[test]
fn b39_a_task_that_always_has_something_to_do_leaves_its_neighbour_its_turns() {
    watched(|| {
        for busy in [busy_by_letters as Busy, busy_by_action] {
            let (runs, ()) = hundred_beside(busy, || ());
            // A turn is one letter at least, and the busy one's 256 at most.
            assert!(runs <= 101 * TURN, "{runs} runs");
        }
    });
}

#[cfg(target_os = "linux")]
fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the place is valid for the call.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(failed, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The engine's thread does nothing else, so its CPU time is that of the neighbours.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "tells a figure"]
fn b39_cpu_time_until_a_neighbours_hundred_letters_are_done() {
    for busy in [busy_by_letters as Busy, busy_by_action] {
        let mut figures: Vec<_> = (0..101).map(|_| hundred_beside(busy, cpu_time).1).collect();
        figures.sort();
        println!(
            "from the thread's start: median {:?}, most {:?}",
            figures[50], figures[100]
        );
    }
}
