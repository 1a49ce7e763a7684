//! Windows of event time, driven by hand: which records are in which, when they fire, what is late.
#![cfg(feature = "stream")]

mod assigning;
mod firing;
mod late;
mod model;
