//! Mails of every shape, and what becomes of their captures.

use super::*;
use core::mem::size_of;

/// What a mailbox may put into its ring; it costs no more than a mail.
enum Envelope {
    _Letter(Mail<String>),
    _Marker(u32),
    _Boxed(Box<Mail<String>>),
    _Token(u32, i32),
}

#[test]
fn a_mail_is_seven_words_with_room_for_other_variants() {
    assert_eq!(size_of::<Mail<String>>(), 56);
    assert_eq!(align_of::<Mail<String>>(), 8);
    assert_eq!(size_of::<Option<Mail<String>>>(), 56);
    assert_eq!(size_of::<Envelope>(), 56);
}
