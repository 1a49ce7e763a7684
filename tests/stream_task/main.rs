//! Stream tasks one step at a time: when records, letters, timers and ends come, and what becomes of
//! failures.
//!
//! By the numbers of the scenarios: T15, T24, T29, T30, 83 to 85, 91 to 95, 114 to 117, 143 to 145, 150,
//! 154, 155; B39, B40, B42, B44, B46. What does not apply: 88, since no error of an operator cancels a
//! task; 96 and 156, since no timer has a thread of its own and no thread is interrupted; 142, since an
//! operator is opened on the task's thread and must not block. 90 and 146 to 149 are told by the tests
//! of keyed functions and of sources, B41 by those of the engine; the race of T24 by the model tests of
//! the rings.
#![cfg(feature = "stream")]

mod ends;
mod failures;
mod flow;
mod kit;
mod letters;
