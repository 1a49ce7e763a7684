//! Tests of the processor from inside.
