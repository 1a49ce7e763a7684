//! A game's loop at 60 Hz that gives its world's letters two milliseconds of each frame.
//!
//! The loop is the game's own, so the processor is stepped and never sleeps: what does not fit into
//! a frame's budget is run in the next. A second thread sends input; the world needs no lock.

use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use mailring::processor::{Executor, MailboxProcessor, Step};
use mailring::ring::Budget;

const FRAMES: u32 = 60;
const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);
const FOR_LETTERS: Duration = Duration::from_millis(2);
const INPUTS: u32 = 400;

/// What the loop's thread alone touches.
#[derive(Default)]
struct World {
    speed: i64,
    position: i64,
    inputs: u32,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut processor = MailboxProcessor::new(World::default())?;
    let executor = processor.executor();
    let playing = thread::spawn(move || play(&executor));

    let (mut letters_max, mut late) = (0, 0);
    let mut next = Instant::now();
    for _ in 0..FRAMES {
        let before = processor.with_owner(|world| world.inputs);
        let budget = Budget::letters(1_000).and_time(FOR_LETTERS);
        if processor.step(budget)? == Step::More {
            late += 1;
        }
        let inputs = processor.with_owner(|world| {
            world.position += world.speed;
            world.inputs
        });
        letters_max = letters_max.max(inputs - before);
        // Here the game would draw. A frame that came late is not made up for.
        next += FRAME;
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }

    playing.join().expect("the player does not panic");
    // What was posted behind the last frame is run now, and not lost.
    let finished = processor.finish();
    let (inputs, position) = processor.with_owner(|world| (world.inputs, world.position));
    assert_eq!(inputs, INPUTS);
    println!("{FRAMES} frames; the budget was used up in {late} of them");
    println!("{inputs} letters, {letters_max} at most in one frame");
    println!("{} letters behind the last frame", finished.ran);
    println!("the world is at {position}");
    Ok(())
}

/// Presses keys for some time, four at once.
fn play(executor: &Executor<World>) {
    for round in 0..INPUTS / 4 {
        for key in 0..4 {
            let push = if (round + key) % 3 == 0 { 2 } else { -1 };
            let pressed = executor.execute(move |world| {
                world.speed += push;
                world.inputs += 1;
            });
            pressed.expect("the world takes letters until the player is gone");
        }
        thread::sleep(Duration::from_millis(8));
    }
}
