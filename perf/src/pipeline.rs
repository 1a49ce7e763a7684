//! What flows through pipelines, and what must come out of them.

pub(crate) mod flights;
pub(crate) mod numbers;
