//! A mailbox with a life cycle.
