//! The coordinator on a time that tests set: scenarios by number, and random inputs against what must
//! always hold.

mod attempts;
mod edges;
mod ends;
mod failures;
mod random;
mod requests;
mod restored;
mod rig;
mod stages;
mod telling;
mod world;
