//! The coordinator on a time that tests set: scenarios by number, and random inputs against what must
//! always hold.

