//! An owner without a thread: whoever ends its rest runs it, on its own thread.
//!
//! It lies in plain memory beside a number that it writes on every run. Nothing but the ring's own
//! words says whose turn it is: no lock, no parked thread and no waker adds an edge that could
//! hide a weak ordering.

use super::{Letter, many, yield_now};
use loom::cell::UnsafeCell;
use mailring::ring::mpsc::{Consumer, Producer, Rest};
use std::sync::Arc;

/// The cell that holds the owner.
pub(crate) struct Hosted {
    owner: UnsafeCell<Option<Owner>>,
    /// Called on every run after a kick was taken.
    on_kick: Box<dyn Fn()>,
}

struct Owner {
    consumer: Consumer<Letter>,
    ran: Ran,
}

/// What the owner did.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Ran {
    /// The letters it took, in order.
    pub(crate) letters: Vec<u32>,
    /// How often it was run.
    pub(crate) runs: u32,
    /// How many kicks it took.
    pub(crate) kicks: u32,
    /// Whether it has seen the end.
    pub(crate) finished: bool,
}

// SAFETY: loom checks that every access to the cell happens before or after every other; a model in
// which two could race fails before anything is touched.
unsafe impl Sync for Hosted {}
// SAFETY: as above.
unsafe impl Send for Hosted {}

impl Hosted {
    /// A ring of `capacity` letters whose owner is at rest.
    pub(crate) fn new(capacity: usize) -> (Producer<Letter>, Arc<Self>) {
        Self::with(capacity, || {})
    }

    /// The same; `on_kick` is called by each run that takes a kick.
    pub(crate) fn with(
        capacity: usize,
        on_kick: impl Fn() + 'static,
    ) -> (Producer<Letter>, Arc<Self>) {
        let hosted = Arc::new(Self {
            owner: UnsafeCell::new(None),
            on_kick: Box::new(on_kick),
        });
        let hook = Arc::clone(&hosted);
        let (producer, consumer) = many(capacity)
            .wake_by(move || hook.run())
            .build()
            .expect("a small ring");
        let owner = Owner {
            consumer,
            ran: Ran::default(),
        };
        // SAFETY: nobody else knows the cell yet.
        hosted.owner.with_mut(|cell| unsafe { *cell = Some(owner) });
        hosted.run();
        (producer, hosted)
    }

    /// Runs the owner until it rests again. Only who has ended its rest may.
    fn run(&self) {
        // SAFETY: as for any visit.
        if self.owner.with(|cell| unsafe { (*cell).is_none() }) {
            // `into_ran` has taken it out, and dropping it has ended its own rest.
            return;
        }
        self.visit(|owner| owner.ran.runs += 1);
        loop {
            let owner = self.visit(|owner| {
                while let Ok(letter) = owner.consumer.try_take() {
                    owner.ran.letters.push(letter.id());
                }
                core::ptr::from_mut(owner)
            });
            // SAFETY: this thread has ended the owner's rest, or rests it for the first time, so
            // nobody else touches the owner before the exchange in `rest`; and `rest` touches
            // nothing after it. The visit is over by then, as far as loom is concerned.
            match unsafe { (*owner).consumer.rest() } {
                Rest::Resting => return,
                // A claimed letter is not there yet.
                Rest::Look => yield_now(),
                Rest::Kicked => {
                    self.visit(|owner| owner.ran.kicks += 1);
                    (self.on_kick)();
                }
                Rest::Finished => return self.visit(|owner| owner.ran.finished = true),
            }
        }
    }

    /// Ends the ring and says what the owner did. Only after all threads were joined.
    pub(crate) fn into_ran(self: Arc<Self>) -> Ran {
        // SAFETY: loom checks that all other accesses happen before.
        let owner = self.owner.with_mut(|cell| unsafe { (*cell).take() });
        owner.expect("ended once").ran
    }

    fn visit<R>(&self, f: impl FnOnce(&mut Owner) -> R) -> R {
        self.owner.with_mut(|cell| {
            // SAFETY: loom checks that all other accesses happen before or after.
            let owner = unsafe { (*cell).as_mut() };
            f(owner.expect("not ended yet"))
        })
    }
}
