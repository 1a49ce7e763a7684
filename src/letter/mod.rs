//! What a mailbox carries.
