//! Tests of what only the inside can show.
