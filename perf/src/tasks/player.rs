//! Two who play: one asks, the other answers, and neither can lose or double a word unnoticed.

use crate::clock::{Clock, Ticks};
use crate::measure::{Reading, Site, Unsound};
use crate::recorder::Recorder;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};

/// Who plays.
#[derive(Debug)]
pub(crate) enum Player {
    /// Who begins and ends.
    Asking(Asking),
    /// Who does what they are told.
    Answering(Answering),
}

impl Player {
    /// What is to be said before anything was heard.
    pub(crate) fn begin(&mut self) -> Option<u64> {
        match self {
            Self::Asking(asking) => asking.ask(),
            Self::Answering(_) => None,
        }
    }

    /// Hears a word, and gives the next one; none when it is over.
    #[inline]
    pub(crate) fn hit(&mut self, word: u64) -> Option<u64> {
        match self {
            Self::Asking(asking) => {
                asking.hear(word);
                asking.ask()
            }
            Self::Answering(answering) => Some(answering.answer(word)),
        }
    }
}

/// Asks, hears the answers, and notes how long they took. It tells when it is dropped.
#[derive(Debug)]
pub(crate) struct Asking {
    clock: &'static Clock,
    interrupted: &'static AtomicBool,
    /// Questions that are to be asked.
    all: u64,
    asked: u64,
    heard: u64,
    wrong: u64,
    /// When what is timed at the moment began.
    start: Ticks,
    timed: Timed,
    recorder: Recorder,
    home: Sender<Noted>,
}

/// What is timed.
#[derive(Clone, Copy, Debug)]
enum Timed {
    /// Stretches of [`STRETCH`] round trips.
    Stretches,
    /// Each round trip but for so many at the beginning.
    Each { warm_up: u64 },
}

/// Round trips that are timed together where a look at the clock takes about as long as one of them.
/// All of them together would not do: the time of whatever else runs on the CPU is in few stretches
/// alone.
const STRETCH: u64 = 256;

/// What is left of an [`Asking`].
#[derive(Debug)]
struct Noted {
    asked: u64,
    wrong: u64,
    timed: Timed,
    recorder: Recorder,
}

/// Answers, and counts how often. It tells when it is dropped.
#[derive(Debug)]
pub(crate) struct Answering {
    answered: u64,
    home: Sender<u64>,
}

/// Where what became of two players arrives.
#[derive(Debug)]
pub(crate) struct Asks {
    asked: Receiver<Noted>,
    answered: Receiver<u64>,
}

impl Asks {
    /// Two who play so many round trips. Where `each` is timed, after a tenth as many to warm up.
    pub(crate) fn new(site: &Site, trips: u64, each: bool) -> (Asking, Answering, Self) {
        let trips = trips.max(1);
        let warm_up = trips / 10;
        let (timed, all) = match each {
            true => (Timed::Each { warm_up }, trips + warm_up),
            false => (Timed::Stretches, trips.next_multiple_of(STRETCH)),
        };
        let (asked_home, asked) = mpsc::channel();
        let (answered_home, answered) = mpsc::channel();
        let asking = Asking {
            clock: site.clock,
            interrupted: site.interrupted,
            all,
            asked: 0,
            heard: 0,
            wrong: 0,
            start: 0,
            timed,
            recorder: site.recorder(),
            home: asked_home,
        };
        let answering = Answering {
            answered: 0,
            home: answered_home,
        };
        (asking, answering, Self { asked, answered })
    }

    /// What became of them, when both are gone.
    pub(crate) fn arrive(&self) -> Result<Reading, Unsound> {
        let noted = self
            .asked
            .recv()
            .expect("a player tells when it is dropped");
        let answered = self.answered.recv();
        let taken = answered.expect("a player tells when it is dropped");
        let posted = noted.asked;
        if taken != posted || noted.wrong > 0 {
            let taken = taken.saturating_sub(noted.wrong);
            return Err(Unsound { posted, taken });
        }
        Ok(match noted.timed {
            Timed::Each { .. } => Reading::of_median(noted.recorder),
            Timed::Stretches => Reading::of(noted.recorder.median() as f64 / STRETCH as f64),
        })
    }
}

impl Asking {
    /// The next question; none when there were enough, or the user wants to stop.
    #[inline]
    pub(crate) fn ask(&mut self) -> Option<u64> {
        let is_first = match self.timed {
            Timed::Each { .. } => {
                self.start = self.clock.now();
                true
            }
            Timed::Stretches => self.asked.is_multiple_of(STRETCH),
        };
        if is_first {
            // Relaxed: it says when to stop and orders nothing.
            let is_stopped = self.asked > 0 && self.interrupted.load(Ordering::Relaxed);
            if is_stopped || self.asked == self.all {
                return None;
            }
            if matches!(self.timed, Timed::Stretches) {
                self.start = self.clock.now();
            }
        }
        self.asked += 1;
        Some(self.asked)
    }

    /// The answer to the last question.
    #[inline]
    pub(crate) fn hear(&mut self, answer: u64) {
        self.heard += 1;
        // One that is heard twice is wrong, for another question was asked meanwhile, or none.
        self.wrong += u64::from(answer != answer_to(self.asked) || self.heard != self.asked);
        let is_last = match self.timed {
            Timed::Each { .. } => true,
            Timed::Stretches => self.heard.is_multiple_of(STRETCH),
        };
        if is_last {
            let end = self.clock.now_after_loads();
            let counts = match self.timed {
                Timed::Each { warm_up } => self.asked > warm_up,
                Timed::Stretches => true,
            };
            if counts {
                let time = self.clock.ns(end.saturating_sub(self.start));
                self.recorder.record(time);
            }
        }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        let noted = Noted {
            asked: self.asked,
            // What was never heard is wrong as well.
            wrong: self.wrong + self.asked.saturating_sub(self.heard),
            timed: self.timed,
            recorder: mem::replace(&mut self.recorder, Recorder::new(2)),
        };
        // Who does not want to know is gone.
        let _ = self.home.send(noted);
    }
}

impl Answering {
    /// The answer to a question.
    #[inline]
    pub(crate) fn answer(&mut self, question: u64) -> u64 {
        self.answered += 1;
        answer_to(question)
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        // Who does not want to know is gone.
        let _ = self.home.send(self.answered);
    }
}

#[inline]
fn answer_to(question: u64) -> u64 {
    question.wrapping_mul(3)
}
