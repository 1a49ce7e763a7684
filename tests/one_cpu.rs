//! More threads than CPUs: every wait strategy gets its letters through on a single CPU.
//!
//! The mask must be there before anything asks how many CPUs there are, and must not hold the other
//! tests: the test starts this binary again, under a mask of one CPU, and has it run the child test
//! alone.
#![cfg(target_os = "linux")]

use mailring::ring::{Consumer, Producer, Ring, Waited, mpsc, spsc};
use mailring::wait::{BusySpin, Parking, Spell, SpinHint, Step, WaitStrategy, Yielding};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// What the case allows; a pure spinner takes minutes.
const LIMIT: Duration = Duration::from_secs(5);
const LETTERS: u64 = 100_000;

/// A user's strategy without any regard for others.
#[derive(Debug)]
struct Stubborn;

impl WaitStrategy for Stubborn {
    fn step(&self, spell: Spell) -> Step {
        if spell.looks.is_multiple_of(2) {
            Step::Look
        } else {
            Step::Spin
        }
    }
}

type Make = fn() -> Box<dyn WaitStrategy>;

/// A strategy chosen by name.
#[derive(Debug)]
struct Chosen(Box<dyn WaitStrategy>);

impl WaitStrategy for Chosen {
    fn step(&self, spell: Spell) -> Step {
        self.0.step(spell)
    }
}

const STRATEGIES: [(&str, Make); 6] = [
    ("BusySpin", || Box::new(BusySpin)),
    ("SpinHint", || Box::new(SpinHint)),
    ("Yielding", || Box::new(Yielding)),
    ("Parking", || Box::new(Parking::default())),
    ("Parking at once", || {
        Box::new(Parking::after(Duration::ZERO))
    }),
    ("a user's", || Box::new(Stubborn)),
];

/// Lets `LETTERS` through; how long it took.
fn run<R>(producers: Vec<Producer<R>>, mut consumer: Consumer<R>) -> Duration
where
    R: Ring<Letter = u64, ProducerSide: Send> + Send + Sync,
{
    let each = LETTERS / producers.len() as u64;
    let start = cpu_time();
    thread::scope(|scope| {
        for producer in producers {
            scope.spawn(move || {
                for letter in 0..each {
                    producer.post(letter).unwrap();
                }
            });
        }
        let mut taken = 0;
        while consumer.wait() != Waited::Finished {
            taken += consumer.drain(64, |_, _| {}) as u64;
        }
        assert_eq!(taken, LETTERS);
    });
    cpu_time() - start
}

/// What this process has used of its CPU. What other programs take of it on a busy machine is not
/// ours to answer for; that nothing stands still is told by the outer limit.
fn cpu_time() -> Duration {
    // SAFETY: getrusage fills the whole struct, which zeroes are a value of.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_SELF, &mut usage), 0);
        usage
    };
    let time = |t: libc::timeval| {
        Duration::from_secs(t.tv_sec as u64) + Duration::from_micros(t.tv_usec as u64)
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}

#[test]
#[ignore = "run by the other test, under a mask of one CPU"]
fn child_on_one_cpu() {
    if thread::available_parallelism().unwrap().get() > 1 {
        println!("nothing to show with more than one CPU");
        return;
    }
    for (posting, producer_wait) in STRATEGIES {
        for (taking, consumer_wait) in STRATEGIES {
            let (done, outcome) = channel();
            thread::spawn(move || {
                let (producer, consumer) = mpsc::Builder::new(64)
                    .producer_wait(Chosen(producer_wait()))
                    .consumer_wait(Chosen(consumer_wait()))
                    .build()
                    .unwrap();
                let many = run(vec![producer.clone(), producer], consumer);
                let (producer, consumer) = spsc::Builder::new(64)
                    .producer_wait(Chosen(producer_wait()))
                    .consumer_wait(Chosen(consumer_wait()))
                    .build()
                    .unwrap();
                let one = run(vec![producer], consumer);
                done.send((many, one)).unwrap();
            });
            let (many, one) = outcome
                .recv_timeout(24 * LIMIT)
                .unwrap_or_else(|_| panic!("{posting} against {taking} stands still on one CPU"));
            println!("{posting} against {taking}: mpsc {many:?}, spsc {one:?}");
            assert!(many < LIMIT, "{posting} against {taking}: {many:?}");
            assert!(one < LIMIT, "{posting} against {taking}: {one:?}");
        }
    }
}

#[test]
fn b22_and_scenario_51_every_strategy_gets_its_letters_through_on_one_cpu() {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "child_on_one_cpu", "--ignored", "--nocapture"]);
    // SAFETY: between fork and exec it makes two system calls and touches nothing but its stack.
    unsafe {
        child.pre_exec(|| {
            let mut mask: libc::cpu_set_t = std::mem::zeroed();
            let size = size_of_val(&mask);
            if libc::sched_getaffinity(0, size, &mut mask) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            let allowed = (0..libc::CPU_SETSIZE as usize).find(|&cpu| libc::CPU_ISSET(cpu, &mask));
            libc::CPU_ZERO(&mut mask);
            libc::CPU_SET(allowed.unwrap_or(0), &mut mask);
            if libc::sched_setaffinity(0, size, &mask) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            Ok(())
        });
    }
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    println!("{said}");
    assert!(output.status.success(), "{said}\n{complained}");
    for (name, _) in STRATEGIES {
        assert!(
            said.contains(&format!("{name}: mpsc")),
            "{name} has run: {said}"
        );
    }
}
