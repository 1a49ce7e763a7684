//! The protocol explored.
