//! Captures are dropped once, whatever becomes of the mail.

use crate::letter::{Letter, Mail, Priority};
use crate::sync::Arc;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Counts its clones: those that a mail dropped twice would be missing here.
struct Witness {
    own: Arc<()>,
    /// So that a drop too many is seen as a number, not as a use of freed memory.
    _spare: Arc<()>,
}

impl Witness {
    fn new() -> Self {
        let own = Arc::new(());
        let _spare = Arc::clone(&own);
        Self { own, _spare }
    }

    fn capture(&self) -> Arc<()> {
        Arc::clone(&self.own)
    }

    /// How many captures there are; negative if one was dropped twice.
    fn captured(&self) -> isize {
        Arc::strong_count(&self.own).cast_signed() - 2
    }
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("in a capture's drop");
    }
}

fn panics(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("a panic");
    (*payload.downcast_ref::<&str>().expect("a text")).to_owned()
}

/// Mails that capture the witness once, in place and boxed; each runs `action`.
fn both(witness: &Witness, action: fn(&mut u64) -> Result<(), &'static str>) -> [Mail<u64>; 2] {
    let (small, large) = (witness.capture(), (witness.capture(), [7_u8; 100]));
    let mails = [
        Mail::new(move |number: &mut u64| {
            let _captured = small;
            action(number)
        }),
        Mail::new(move |number: &mut u64| {
            let _captured = large;
            action(number)
        }),
    ];
    assert_eq!([true, false], [mails[0].is_inline(), mails[1].is_inline()]);
    assert_eq!(witness.captured(), 2);
    mails
}

#[test]
fn what_was_run_has_dropped_its_captures() {
    let witness = Witness::new();
    let mut number = 0;
    for mail in both(&witness, |number| {
        *number += 1;
        Ok(())
    }) {
        mail.run(&mut number).unwrap();
    }
    assert_eq!((number, witness.captured()), (2, 0));
    for mail in both(&witness, |_| Err("no")) {
        mail.run(&mut number).unwrap_err();
    }
    assert_eq!(witness.captured(), 0);
}

#[test]
fn what_was_never_run_drops_its_captures() {
    let witness = Witness::new();
    drop(both(&witness, |_| panic!("run")));
    assert_eq!(witness.captured(), 0);
    let [inline, boxed] = both(&witness, |_| panic!("run"));
    drop(Box::new(inline.deferrable()));
    assert_eq!(witness.captured(), 1);
    drop(Some(boxed.with_priority(Priority::MAX)));
    assert_eq!(witness.captured(), 0);
}

#[test]
fn an_action_that_panics_drops_its_captures() {
    let witness = Witness::new();
    let mut number = 0;
    for mail in both(&witness, |number| {
        *number += 1;
        panic!("in the action")
    }) {
        let text = panics(|| drop(mail.run(&mut number)));
        assert_eq!(text, "in the action");
    }
    assert_eq!((number, witness.captured()), (2, 0));
}

#[test]
fn an_action_that_only_panics_is_an_action() {
    let mail = Mail::new(|_: &mut u64| panic!("and nothing else"));
    assert_eq!(panics(|| drop(mail.run(&mut 0))), "and nothing else");
}

/// Mails that capture a bomb between two captures of the witness, in place and boxed.
fn bombs(witness: &Witness) -> [Mail<u64>; 2] {
    let small = (witness.capture(), Bomb, witness.capture());
    let large = (witness.capture(), Bomb, witness.capture(), [7_u8; 100]);
    [
        Mail::new(move |number: &mut u64| {
            let _captured = small;
            *number += 1;
        }),
        Mail::new(move |number: &mut u64| {
            let _captured = large;
            *number += 1;
        }),
    ]
}

#[test]
fn a_capture_that_panics_when_dropped_keeps_no_other_alive() {
    let witness = Witness::new();
    for mail in bombs(&witness) {
        assert_eq!(panics(|| drop(mail)), "in a capture's drop");
    }
    assert_eq!(witness.captured(), 0);
    let mut number = 0;
    for mail in bombs(&witness) {
        let text = panics(|| drop(mail.run(&mut number)));
        assert_eq!(text, "in a capture's drop");
    }
    assert_eq!((number, witness.captured()), (2, 0));
}

#[test]
fn captures_moved_out_by_the_action_live_on() {
    let witness = Witness::new();
    let captured = witness.capture();
    let mail = Mail::new(|kept: &mut Vec<Arc<()>>| kept.push(captured));
    let mut kept = Vec::new();
    mail.run(&mut kept).unwrap();
    assert_eq!(witness.captured(), 1);
    drop(kept);
    assert_eq!(witness.captured(), 0);
}

#[test]
fn captures_without_size_are_dropped_once() {
    let mail = Mail::new({
        let bomb = Bomb;
        move |_: &mut u64| {
            let _captured = bomb;
        }
    });
    assert!(mail.is_inline());
    assert_eq!(panics(|| drop(mail)), "in a capture's drop");
}

#[test]
fn captures_are_dropped_on_the_thread_that_runs_the_mail() {
    let witness = Witness::new();
    let mails = both(&witness, |number| {
        *number += 1;
        Ok(())
    });
    let running = crate::sync::thread::spawn(move || {
        let mut number = 0;
        for mail in mails {
            mail.run(&mut number).unwrap();
        }
        number
    });
    assert_eq!(running.join().unwrap(), 2);
    assert_eq!(witness.captured(), 0);
}
