//! One way of a baseline that sleeps: the word is the mailbox, and holds one mail.

use super::raw::Asleep;
use crate::measure::NoThread;
use crate::owner::{Owned, Poster, Seat, Serving};
use crossbeam_utils::CachePadded;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};

/// There is no mail.
const EMPTY: u32 = 0;
/// There is one.
const FULL: u32 = 1;
/// There will be none any more.
const OVER: u32 = 2;

/// The word, what a mail carries, and who is to be woken for it.
#[derive(Default)]
struct Place {
    word: AtomicU32,
    first: AtomicU64,
    second: AtomicU64,
    owner: OnceLock<Thread>,
}

/// Who puts mails there.
pub(super) struct Sleeper {
    place: Arc<CachePadded<Place>>,
    wake: fn(&AtomicU32, &Thread),
}

impl Sleeper {
    /// Writes the word when it is free, and wakes the owner.
    fn write(&self, word: u32, mail: [u64; 2]) {
        let place = &**self.place;
        let owner = loop {
            match place.owner.get() {
                Some(owner) => break owner,
                None => thread::yield_now(),
            }
        };
        // Acquire: pairs with Release in `serve`; what the last mail carried has been read.
        while place.word.load(Ordering::Acquire) != EMPTY {
            spin_loop();
        }
        // Relaxed: the word comes after them.
        place.first.store(mail[0], Ordering::Relaxed);
        place.second.store(mail[1], Ordering::Relaxed);
        // Release: pairs with Acquire in `serve`; what the mail carries comes first.
        place.word.store(word, Ordering::Release);
        (self.wake)(&place.word, owner);
    }
}

impl Poster for Sleeper {
    fn post(&mut self, first: u64, second: u64) {
        self.write(FULL, [first, second]);
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.write(OVER, [0, 0]);
    }
}

impl Serving for Asleep {
    type Poster<O: Owned> = Sleeper;

    /// For one who posts.
    fn serve<O: Owned, R>(
        &self,
        seat: &Seat<'_>,
        mut owned: O,
        body: impl FnOnce(Vec<Sleeper>) -> Result<R, NoThread>,
    ) -> Result<R, NoThread> {
        let place = Arc::new(CachePadded::new(Place::default()));
        let sleeper = Sleeper {
            place: Arc::clone(&place),
            wake: self.wake,
        };
        let sleep = self.sleep;
        let owner = move || {
            let known = place.owner.set(thread::current());
            assert!(known.is_ok(), "there is one owner");
            loop {
                // Acquire: pairs with Release in `write`.
                match place.word.load(Ordering::Acquire) {
                    EMPTY => sleep(&place.word, EMPTY),
                    OVER => return,
                    _ => {
                        // Relaxed: the word came after them.
                        let first = place.first.load(Ordering::Relaxed);
                        owned.take(first, place.second.load(Ordering::Relaxed));
                        // Release: pairs with Acquire in `write`; both have been read.
                        place.word.store(EMPTY, Ordering::Release);
                    }
                }
            }
        };
        seat.beside(owner, vec![sleeper], body)
    }
}
