//! One owner, its letters, and its default action.

mod wheel;
