//! Operators without state: one record in, none, one or many out.

mod filter;
mod flat_map;
mod map;

pub use filter::Filter;
pub use flat_map::FlatMap;
pub use map::{Map, TryMap};
