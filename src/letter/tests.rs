//! What letters are made of; what becomes of a mail's captures has files of its own.

mod fates;
mod random;

use super::*;
use core::error::Error;
use core::fmt;
use core::mem::{align_of, size_of};

/// What a mailbox may put into its ring; it costs no more than a mail.
enum Envelope {
    _Letter(Mail<String>),
    _Marker(u32),
    _Boxed(Box<Mail<String>>),
    _Token(u32, i32),
}

const _: () = {
    assert!(size_of::<Mail<String>>() == 56);
    assert!(align_of::<Mail<String>>() == 8);
    assert!(size_of::<Option<Mail<String>>>() == 56);
    assert!(size_of::<Envelope>() == 56);
    assert!(Mail::<String>::INLINE_BYTES == 40);
};

/// An owner that is neither `Send` nor `Sync`, and borrows.
struct Owner<'a> {
    sum: *mut u64,
    text: &'a str,
}

fn assert_send_and_sync<T: Send + Sync>() {}

#[test]
fn a_mail_travels_whatever_its_owner_is() {
    assert_send_and_sync::<Mail<Owner<'static>>>();
    assert_send_and_sync::<Mail<u8>>();
}

#[test]
fn an_owner_may_borrow_and_go_before_its_mails() {
    // Declared first, so dropped last.
    let mut mails = Vec::new();
    let text = String::from("lent");
    let mut sum = 0;
    let mut owner = Owner {
        sum: &raw mut sum,
        text: &text,
    };
    for add in [1, 2] {
        mails.push(Mail::new(move |owner: &mut Owner<'_>| {
            // SAFETY: the sum is a local of this test and is not touched otherwise.
            unsafe { *owner.sum += add + owner.text.len() as u64 };
        }));
    }
    mails.pop().unwrap().run(&mut owner).unwrap();
    assert_eq!(sum, 6);
}

#[test]
fn captures_are_stored_in_place_up_to_forty_bytes_aligned_to_eight() {
    #[derive(Clone, Copy)]
    #[repr(align(16))]
    struct Aligned<T>(T);

    fn is_inline<C: Copy + Send + 'static>(captures: C) -> bool {
        let mail = Mail::new(move |seen: &mut Option<C>| *seen = Some(captures));
        let is_inline = mail.is_inline();
        let mut seen = None;
        mail.run(&mut seen).unwrap();
        assert!(seen.is_some());
        is_inline
    }

    assert!(is_inline(()));
    assert!(is_inline(1_u8));
    assert!(is_inline([1_u8; 39]));
    assert!(is_inline([1_u8; 40]));
    assert!(!is_inline([1_u8; 41]));
    assert!(is_inline([1_u64; 5]));
    assert!(!is_inline([1_u64; 6]));
    assert!(!is_inline(Aligned(())));
    assert!(!is_inline(Aligned(1_u8)));
    assert!(!is_inline([Aligned([1_u8; 4096]); 3]));
    assert!(Mail::inline(|_: &mut ()| {}).is_inline());
}

#[test]
fn captures_arrive_as_they_were_sent() {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(align(64))]
    struct Line([u64; 8]);

    fn arrives<C: Copy + PartialEq + Send + fmt::Debug + 'static>(sent: C) {
        let mut mails = vec![Mail::new(move |arrived: &mut Vec<C>| arrived.push(sent))];
        mails.reserve(100);
        let mut mails = std::collections::VecDeque::from(mails);
        let mail = mails.pop_front().unwrap();
        let mut arrived = Vec::new();
        Box::new(mail).run(&mut arrived).unwrap();
        assert_eq!(arrived, [sent]);
    }

    arrives(());
    arrives(u64::MAX);
    arrives((1_u8, 2_u64, 3_u16, "static"));
    arrives([1_u64, 2, 3, 4, 5]);
    arrives([1_u64, 2, 3, 4, 5, 6]);
    arrives(u128::MAX - 1);
    arrives(Line([1, 2, 3, 4, 5, 6, 7, 8]));
}

#[test]
fn functions_are_actions_too() {
    fn double(number: &mut u64) {
        *number *= 2;
    }
    let pointer: fn(&mut u64) = double;
    let mut number = 3;
    Mail::inline(double).run(&mut number).unwrap();
    Mail::inline(pointer).run(&mut number).unwrap();
    let boxed: Box<dyn FnOnce(&mut u64) + Send> = Box::new(double);
    Mail::inline(boxed).run(&mut number).unwrap();
    assert_eq!(number, 24);
}

#[test]
fn a_mail_may_carry_a_mail() {
    let inner = Mail::new(|number: &mut u64| *number += 1);
    let outer = Mail::new(|number: &mut u64| inner.run(number));
    assert!(!outer.is_inline());
    let mut number = 1;
    outer.run(&mut number).unwrap();
    assert_eq!(number, 2);
}

#[test]
fn outcomes_are_what_the_action_returned() {
    #[derive(Debug)]
    struct Failed;

    impl fmt::Display for Failed {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("failed")
        }
    }

    impl Error for Failed {}

    let run = |mail: Mail<()>| mail.run(&mut ());
    assert!(run(Mail::new(|()| {})).is_ok());
    assert!(run(Mail::new(|()| Ok::<(), Failed>(()))).is_ok());
    let error = run(Mail::new(|()| Err(Failed))).unwrap_err();
    assert!(error.is::<Failed>());
    let error = run(Mail::new(|()| Err("a text"))).unwrap_err();
    assert_eq!(error.to_string(), "a text");
    let error = run(Mail::new(|()| Err::<(), BoxError>(Failed.into()))).unwrap_err();
    assert!(error.is::<Failed>(), "not boxed twice");
    let never: fn(&mut ()) -> core::convert::Infallible = |()| panic!("a panic");
    assert!(Mail::new(never).is_inline());
}

#[test]
fn descriptions_name_what_a_mail_does() {
    fn reset(number: &mut u64) {
        *number = 0;
    }
    let named = Mail::new(reset);
    assert!(named.description().ends_with("::reset"), "{named:?}");
    let large = [0_u64; 20];
    let closures = [
        Mail::new(|_: &mut u64| {}),
        Mail::new(move |number: &mut u64| *number = large[7]),
    ];
    for mail in &closures {
        let place = "descriptions_name_what_a_mail_does::{{closure}}";
        assert!(mail.description().ends_with(place), "{mail:?}");
    }
    let printed = format!("{:?}", Mail::new(reset).with_priority(Priority::new(3)));
    assert!(printed.contains("::reset"), "{printed}");
    assert!(printed.contains("Priority(3)"), "{printed}");
    assert!(printed.contains("Prompt"), "{printed}");
}

#[test]
fn a_deferrable_mail_keeps_its_priority() {
    let mail = || Mail::new(|_: &mut u64| {});
    assert_eq!(mail().priority(), Priority::MIN);
    assert!(!mail().is_deferrable());
    assert_eq!(mail().kind(), Kind::OTHER);
    let both = [
        mail().with_priority(Priority::new(2)).deferrable(),
        mail().deferrable().with_priority(Priority::new(2)),
    ];
    for mail in both {
        assert_eq!(mail.priority(), Priority::new(2));
        assert!(mail.is_deferrable());
        let mail = Mail::from_mail(mail).unwrap();
        assert!(mail.is_deferrable());
    }
}

#[test]
fn priorities_start_at_the_task_itself() {
    assert_eq!(Priority::default(), Priority::MIN);
    assert_eq!(Priority::MIN.get(), -1);
    assert_eq!(Priority::MAX.get(), i32::MAX);
    assert_eq!(Priority::new(i32::MIN), Priority::MIN);
    assert_eq!(Priority::new(-1), Priority::MIN);
    assert_eq!(Priority::new(0).get(), 0);
    assert!(Priority::MIN < Priority::new(0) && Priority::new(0) < Priority::new(1));
    assert_eq!(Priority::new(i32::MAX), Priority::MAX);
}

#[test]
fn kinds_index_an_array_of_counters() {
    let mut counters = [0; Kind::COUNT];
    counters[Kind::OTHER.index()] += 1;
    counters[const { Kind::new(15) }.index()] += 1;
    assert_eq!((counters[0], counters[15]), (1, 1));
    assert_eq!(Kind::default(), Kind::OTHER);
}

#[test]
#[should_panic(expected = "no such kind")]
fn a_kind_beyond_the_count_is_refused() {
    let _ = Kind::new(16);
}

/// A letter with nothing but an action.
#[derive(Debug)]
struct Plain;

impl Letter<u64> for Plain {
    fn run(self, number: &mut u64) -> Outcome {
        *number += 1;
        Ok(())
    }
}

#[test]
fn a_plain_letter_answers_for_itself_and_hands_mails_back() {
    assert!(Plain.description().ends_with("::Plain"));
    assert_eq!(Plain.kind(), Kind::OTHER);
    assert_eq!(Plain.priority(), Priority::MIN);
    assert!(!Plain.is_deferrable());
    let mail = Plain::from_mail(Mail::new(|number: &mut u64| *number += 10)).unwrap_err();
    let mut number = 0;
    mail.run(&mut number).unwrap();
    Plain.run(&mut number).unwrap();
    assert_eq!(number, 11);
}
