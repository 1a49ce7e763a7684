//! Tests of the mailbox.
