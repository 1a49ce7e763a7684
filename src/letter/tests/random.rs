//! Random mails in a random order, each with a fate of its own.

use crate::letter::{Letter, Mail, Priority};
use crate::sync::Arc;
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[derive(Clone, Copy, Debug)]
enum Fate {
    Run,
    Fail,
    Panic,
    Drop,
}

/// What runs mails: how many of each fate it has seen.
#[derive(Debug, Default, PartialEq, Eq)]
struct Owner {
    run: u32,
    failed: u32,
    panicked: u32,
}

/// A mail of `BYTES` random bytes, with a witness of its drop if it has one.
fn mail_of<const BYTES: usize>(fate: Fate, seed: u8, witness: Option<Arc<()>>) -> Mail<Owner> {
    let bytes: [u8; BYTES] = core::array::from_fn(|at| seed.wrapping_add(at as u8));
    let act = move |bytes: [u8; BYTES], owner: &mut Owner| {
        for (at, byte) in bytes.into_iter().enumerate() {
            assert_eq!(byte, seed.wrapping_add(at as u8), "a byte of the captures");
        }
        match fate {
            Fate::Run => owner.run += 1,
            Fate::Fail => {
                owner.failed += 1;
                return Err("by fate");
            }
            Fate::Panic => {
                owner.panicked += 1;
                // Without the hook's print.
                std::panic::resume_unwind(Box::new("by fate"));
            }
            Fate::Drop => unreachable!("never run"),
        }
        Ok(())
    };
    // Two types of closure, so that sizes which a witness would round up occur as well.
    match witness {
        Some(witness) => Mail::new(move |owner: &mut Owner| {
            let _captured = witness;
            act(bytes, owner)
        }),
        None => Mail::new(move |owner: &mut Owner| act(bytes, owner)),
    }
}

/// How many bytes there are for a mail of [`mail_of`], by number.
const SIZES: [usize; 12] = [0, 1, 7, 8, 29, 30, 31, 37, 38, 39, 64, 5000];

fn mail(size: usize, fate: Fate, seed: u8, witness: Option<Arc<()>>) -> Mail<Owner> {
    match SIZES[size] {
        0 => mail_of::<0>(fate, seed, witness),
        1 => mail_of::<1>(fate, seed, witness),
        7 => mail_of::<7>(fate, seed, witness),
        8 => mail_of::<8>(fate, seed, witness),
        29 => mail_of::<29>(fate, seed, witness),
        30 => mail_of::<30>(fate, seed, witness),
        31 => mail_of::<31>(fate, seed, witness),
        37 => mail_of::<37>(fate, seed, witness),
        38 => mail_of::<38>(fate, seed, witness),
        39 => mail_of::<39>(fate, seed, witness),
        64 => mail_of::<64>(fate, seed, witness),
        _ => mail_of::<5000>(fate, seed, witness),
    }
}

fn fates() -> impl Strategy<Value = Fate> {
    prop_oneof![
        Just(Fate::Run),
        Just(Fate::Fail),
        Just(Fate::Panic),
        Just(Fate::Drop),
    ]
}

proptest! {
    #[test]
    fn each_mail_meets_its_fate_once(
        mails in proptest::collection::vec(
            (0..SIZES.len(), fates(), any::<u8>(), any::<bool>(), any::<i32>(), any::<bool>()),
            1..40,
        ),
        order in any::<u64>(),
    ) {
        let witness = Arc::new(());
        let (mut under_way, mut expected) = (Vec::new(), Owner::default());
        let mut witnesses = 1;
        for (size, fate, seed, witnessed, priority, defers) in mails {
            match fate {
                Fate::Run => expected.run += 1,
                Fate::Fail => expected.failed += 1,
                Fate::Panic => expected.panicked += 1,
                Fate::Drop => {}
            }
            witnesses += usize::from(witnessed);
            let captured = witnessed.then(|| Arc::clone(&witness));
            let mut mail = mail(size, fate, seed, captured).with_priority(Priority::new(priority));
            if defers {
                mail = mail.deferrable();
            }
            prop_assert_eq!(mail.priority().get(), priority.max(-1));
            prop_assert_eq!(mail.is_deferrable(), defers);
            under_way.push((mail, fate, witnessed));
        }
        prop_assert_eq!(Arc::strong_count(&witness), witnesses);

        let mut owner = Owner::default();
        let mut order = order;
        while !under_way.is_empty() {
            order = order.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = (order >> 33) as usize % under_way.len();
            let (mail, fate, witnessed) = under_way.swap_remove(at);
            let ran = AssertUnwindSafe(|| mail.run(&mut owner));
            match fate {
                Fate::Run => prop_assert!(catch_unwind(ran).expect("no panic").is_ok()),
                Fate::Fail => prop_assert!(catch_unwind(ran).expect("no panic").is_err()),
                Fate::Panic => {
                    let payload = catch_unwind(ran).expect_err("a panic");
                    prop_assert_eq!(payload.downcast_ref::<&str>(), Some(&"by fate"));
                }
                Fate::Drop => drop(ran),
            }
            witnesses -= usize::from(witnessed);
            prop_assert_eq!(Arc::strong_count(&witness), witnesses);
        }
        prop_assert_eq!(owner, expected);
    }
}
