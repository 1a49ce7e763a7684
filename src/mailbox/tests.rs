//! What yields cost.

use super::bounded;
use crate::letter::{Letter, Outcome, Priority};
use core::cell::Cell;

thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

/// Counts how often it is asked for its priority.
struct Asked(i32);

impl Letter<()> for Asked {
    fn run(self, (): &mut ()) -> Outcome {
        Ok(())
    }

    fn priority(&self) -> Priority {
        ASKED.with(|asked| asked.set(asked.get() + 1));
        Priority::new(self.0)
    }
}

#[test]
fn hidden_letters_are_asked_once_however_often_a_yield_passes_over_them() {
    const HIDDEN: usize = 1000;
    let (sender, mut mailbox) = bounded::<(), Asked>(4096).unwrap();
    for _ in 0..HIDDEN {
        sender.post(Asked(0)).unwrap();
    }
    for round in 0..HIDDEN {
        assert!(mailbox.try_take_from(Priority::new(7)).is_err());
        // A stricter yield sees no more.
        assert!(mailbox.try_take_from(Priority::new(9)).is_err());
        sender.post(Asked(7)).unwrap();
        sender.post(Asked(0)).unwrap();
        assert!(mailbox.try_take_from(Priority::new(7)).is_ok());
        if round % 100 == 0 {
            mailbox.begin_batch();
            assert!(mailbox.try_take_from_batch().is_some());
        }
    }
    let asked = ASKED.with(Cell::get);
    assert!(asked <= HIDDEN + 10 * HIDDEN, "{asked}");
    // All the others are there, in order, and none was lost or doubled.
    let mut left = 0;
    while let Ok(taken) = mailbox.try_take() {
        mailbox.run(taken, &mut ()).unwrap();
        left += 1;
    }
    assert_eq!(left, HIDDEN + HIDDEN - 10);
}
