//! Operators without state: one record in, none, one or many out.

mod co_map;
mod filter;
mod flat_map;
mod map;

pub use co_map::CoMap;
pub use filter::Filter;
pub use flat_map::FlatMap;
pub use map::{Map, TryMap};
