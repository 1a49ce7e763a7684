//! Makes a mailbox.

use super::envelope::Envelope;
use super::owner::Mailbox;
use super::sender::Sender;
use super::shared::Shared;
use crate::letter::Letter;
use crate::ring::{CapacityError, mpsc};
use crate::sync::{Cpus, LineArc};
use crate::wait::{Chosen, WaitStrategy};

/// Settings of a mailbox.
///
/// ```
/// use mailring::letter::Mail;
/// use mailring::mailbox::{Builder, PostError};
///
/// let settings = Builder::new(2).urgent_capacity(1).markers(0);
/// let (sender, mut mailbox) = settings.build::<u32, Mail<u32>>()?;
/// let add = || Mail::new(|sum: &mut u32| *sum += 1);
/// sender.try_post(add()).unwrap();
/// sender.try_post(add()).unwrap();
/// // Urgent letters have room of their own.
/// assert!(matches!(sender.try_post(add()), Err(PostError::Full(_))));
/// sender.try_post_urgent(add()).unwrap();
/// assert_eq!(mailbox.len(), 3);
/// assert!(mailbox.marker("none", |_| ()).is_err());
/// # Ok::<(), mailring::ring::CapacityError>(())
/// ```
pub struct Builder {
    capacity: usize,
    urgent_capacity: usize,
    markers: usize,
    urgent_markers: usize,
    batch_max: usize,
    hidden_max: usize,
    sender_wait: Chosen,
    owner_wait: Chosen,
    cpus: Option<Cpus>,
    hook: Option<Box<dyn Fn() + Send + Sync>>,
    lean: bool,
}

impl Builder {
    const URGENT_CAPACITY: usize = 64;
    const MARKERS: usize = 8;
    const BATCH_MAX: usize = 256;
    const HIDDEN_MAX: usize = 65_536;

    /// A mailbox that holds exactly `capacity` ordinary letters, besides those its owner has taken
    /// into a batch.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            urgent_capacity: Self::URGENT_CAPACITY,
            markers: Self::MARKERS,
            urgent_markers: Self::MARKERS,
            batch_max: Self::BATCH_MAX,
            hidden_max: Self::HIDDEN_MAX,
            sender_wait: Chosen::default(),
            owner_wait: Chosen::default(),
            cpus: None,
            hook: None,
            lean: false,
        }
    }

    /// How many ordinary letters it holds: another number than it was made with.
    #[must_use]
    pub fn capacity(mut self, capacity: usize) -> Self {
        self.capacity = capacity;
        self
    }

    /// How many urgent letters it holds besides; 64 without this.
    #[must_use]
    pub fn urgent_capacity(mut self, capacity: usize) -> Self {
        self.urgent_capacity = capacity;
        self
    }

    /// How many ordinary markers can be registered; 8 without this. Each takes a slot besides the
    /// capacity.
    #[must_use]
    pub fn markers(mut self, count: usize) -> Self {
        self.markers = count;
        self
    }

    /// How many urgent markers can be registered; 8 without this.
    #[must_use]
    pub fn urgent_markers(mut self, count: usize) -> Self {
        self.urgent_markers = count;
        self
    }

    /// How many letters the owner takes from the ring for one batch, at least 1; 256 without this.
    #[must_use]
    pub fn batch_max(mut self, letters: usize) -> Self {
        self.batch_max = letters.max(1);
        self
    }

    /// How many letters takes by priority, and so yields, may move from the ring into the owner's
    /// memory before the next batch, because they are hidden by their priority; 65,536 without this.
    /// While they do senders find room, so this bounds what a letter that yields for long lets pile up.
    #[must_use]
    pub fn hidden_max(mut self, letters: usize) -> Self {
        self.hidden_max = letters;
        self
    }

    /// How senders wait for room in either lane; [`Parking`](crate::wait::Parking) without this.
    #[must_use]
    pub fn sender_wait(mut self, strategy: impl WaitStrategy + 'static) -> Self {
        self.sender_wait = Chosen::new(strategy);
        self
    }

    /// How the owner waits for letters, urgent ones too; [`Parking`](crate::wait::Parking) without this.
    #[must_use]
    pub fn owner_wait(mut self, strategy: impl WaitStrategy + 'static) -> Self {
        self.owner_wait = Chosen::new(strategy);
        self
    }

    /// The CPUs that the threads of this mailbox share; without it, what the process is allowed.
    #[must_use]
    pub fn cpus(mut self, cpus: Cpus) -> Self {
        self.cpus = Some(cpus);
        self
    }

    /// For an owner that somebody else's loop drives: called once for each rest
    /// ([`Mailbox::rest`]), by whoever brings something to look at, on its own thread.
    #[must_use]
    pub fn wake_by(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.hook = Some(Box::new(hook));
        self
    }

    /// A small mailbox. Nothing is made in advance that may never be needed: places for those who wait
    /// for room, the owner's memory for a batch and for markers; it is allocated when it is needed for
    /// the first time. And markers do not keep apart in memory: posts of several at once, by several
    /// threads, get in each other's way.
    #[must_use]
    pub fn lean(mut self) -> Self {
        self.lean = true;
        self
    }

    /// Makes the mailbox.
    ///
    /// # Errors
    /// [`CapacityError`] where a capacity is 0 or absurd, or memory is short.
    #[expect(clippy::type_complexity, reason = "the two halves of one thing")]
    pub fn build<O, L: Letter<O>>(self) -> Result<(Sender<O, L>, Mailbox<O, L>), CapacityError> {
        let mut main = mpsc::Builder::new(self.capacity)
            .reserved(self.markers)
            .waits(&self.sender_wait, &self.owner_wait);
        let mut urgent = mpsc::Builder::new(self.urgent_capacity)
            .reserved(self.urgent_markers)
            .waits(&self.sender_wait, &self.owner_wait);
        if self.lean {
            main = main.lean();
            urgent = urgent.lean();
        }
        if let Some(hook) = self.hook {
            main = main.wake_by(hook);
        }
        if let Some(cpus) = self.cpus {
            main = main.cpus(cpus);
            urgent = urgent.cpus(cpus);
        }
        let (main_producer, main) = main.build::<Envelope<O, L>>()?;
        let (urgent_producer, urgent) = urgent.build::<Envelope<O, L>>()?;
        let shared = LineArc::new(Shared::new());
        let sender = Sender::new(main_producer, urgent_producer, LineArc::clone(&shared));
        let mailbox = Mailbox::new(
            main,
            urgent,
            sender.downgrade(),
            [self.markers, self.urgent_markers],
            self.batch_max,
            self.hidden_max,
            self.lean,
        );
        Ok((sender, mailbox))
    }
}

impl core::fmt::Debug for Builder {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Builder")
            .field("capacity", &self.capacity)
            .field("urgent_capacity", &self.urgent_capacity)
            .field("markers", &self.markers)
            .field("urgent_markers", &self.urgent_markers)
            .field("batch_max", &self.batch_max)
            .field("hidden_max", &self.hidden_max)
            .field("sender_wait", &self.sender_wait)
            .field("owner_wait", &self.owner_wait)
            .field("cpus", &self.cpus)
            .finish_non_exhaustive()
    }
}

/// Makes a mailbox that holds `capacity` ordinary letters, with the [`Builder`]'s other settings.
///
/// # Errors
/// [`CapacityError`] where the capacity is 0 or absurd, or memory is short.
#[expect(clippy::type_complexity, reason = "the two halves of one thing")]
pub fn bounded<O, L: Letter<O>>(
    capacity: usize,
) -> Result<(Sender<O, L>, Mailbox<O, L>), CapacityError> {
    Builder::new(capacity).build()
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::*;
    use crate::letter::Mail;
    use crate::sync::{Mutex, thread};
    use crate::wait::{Answer, Spell, Step, reply};
    use core::time::Duration;

    /// Tells that it was asked.
    #[derive(Debug)]
    struct Telling(Mutex<Option<Answer<()>>>);

    impl WaitStrategy for Telling {
        fn step(&self, _spell: Spell) -> Step {
            if let Some(asked) = self.0.lock().take() {
                asked.send(()).unwrap();
            }
            Step::Yield
        }
    }

    #[test]
    fn senders_wait_in_both_lanes_by_their_strategy() {
        for urgent in [false, true] {
            let (answer, asked) = reply();
            let (sender, mut mailbox) = Builder::new(1)
                .urgent_capacity(1)
                .sender_wait(Telling(Mutex::new(Some(answer))))
                .build::<(), Mail<()>>()
                .unwrap();
            let post = move || {
                let mail = Mail::new(|_: &mut ()| ());
                if urgent {
                    sender.post_urgent(mail)
                } else {
                    sender.post(mail)
                }
            };
            let posting = thread::spawn(move || post().and_then(|()| post()));
            let waits_so = asked.wait_timeout(Duration::from_secs(240));
            assert!(mailbox.try_take().is_ok());
            posting.join().unwrap().unwrap();
            assert!(waits_so.is_ok(), "urgent: {urgent}");
        }
    }
}
