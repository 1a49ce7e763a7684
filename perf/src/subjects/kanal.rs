//! kanal, bounded, with a consumer that takes all there is under one lock.
//!
//! `drain_into` knows no limit. What it brings beyond it stays in the consumer's hands for the next
//! call, so up to as many letters as the channel holds may be there besides.

use crate::letter::Letter;
use crate::subject::{Consumer, Producer, Setting, Subject};
use kanal::{Receiver, Sender};
use std::sync::Once;
use std::time::Duration;

/// `kanal::bounded`.
#[derive(Debug)]
pub struct Kanal;

impl Subject for Kanal {
    const NAME: &'static str = "kanal";
    const ABOUT: &'static str = "bounded channel, drain_into";
    const PACKAGE: &'static str = "kanal";
    const MANY_PRODUCERS: bool = true;
    const BATCHES: bool = false;
    const BLOCKS: bool = true;
    type Producer<L: Letter> = Sender<L>;
    type Consumer<L: Letter> = Drained<L>;

    fn queue<L: Letter>(setting: Setting) -> (Vec<Self::Producer<L>>, Self::Consumer<L>) {
        count_cpus();
        let (sender, receiver) = kanal::bounded(setting.capacity);
        let drained = Drained {
            receiver,
            // All letters, and one from each producer that waits for room.
            taken: Vec::with_capacity(setting.capacity + setting.producers),
            given: 0,
        };
        (vec![sender; setting.producers], drained)
    }
}

/// Has it count the CPUs of this thread. It does so once, on the first thread that waits for its
/// lock, and that would be one which is kept on a single CPU: it would then yield rather than spin.
fn count_cpus() {
    static COUNTED: Once = Once::new();
    COUNTED.call_once(|| {
        // A wait with a timeout counts them too; without a time to wait it ends before that.
        let (_sender, receiver) = kanal::bounded::<u64>(1);
        let nothing = receiver.recv_timeout(Duration::from_millis(5));
        debug_assert!(nothing.is_err());
    });
}

/// A receiver and what it has taken.
#[derive(Debug)]
pub struct Drained<L> {
    receiver: Receiver<L>,
    taken: Vec<L>,
    /// How many of those taken are no longer there.
    given: usize,
}

impl<L: Letter> Producer<L> for Sender<L> {
    #[inline]
    fn try_post(&mut self, letter: L) -> bool {
        self.try_send(letter).expect("the consumer is there")
    }

    #[inline]
    fn post(&mut self, letter: L) {
        self.send(letter).expect("the consumer is there");
    }
}

impl<L: Letter> Consumer<L> for Drained<L> {
    #[inline]
    fn try_drain(&mut self, limit: usize, each: impl FnMut(L)) -> usize {
        if self.given == self.taken.len() {
            self.taken.clear();
            self.given = 0;
            self.receiver
                .drain_into(&mut self.taken)
                .expect("this end is open");
        }
        let left = &self.taken[self.given..];
        let some = &left[..limit.min(left.len())];
        some.iter().copied().for_each(each);
        self.given += some.len();
        some.len()
    }

    #[inline]
    fn drain(&mut self, limit: usize, mut each: impl FnMut(L)) -> usize {
        let hands_empty = self.given == self.taken.len();
        // One is received at once, rather than looked for first.
        if !(hands_empty && limit == 1) {
            let taken = self.try_drain(limit, &mut each);
            if taken > 0 {
                return taken;
            }
        }
        self.receiver.recv().into_iter().map(each).count()
    }
}
