//! Windows of event time: which a record falls into, what is kept of each, and when they fire.
//!
//! WN1. A window fires once the watermark is at its last moment, and again for each record that is
//!      late for it but allowed. It is kept until the watermark is beyond its last moment by the
//!      allowed lateness.
//! WN2. Each record is in the windows it falls into, or given out as late, or there is no window
//!      for it: then it is in a gap between windows.

mod assigner;
mod operator;
mod panes;
mod sliding;
mod time_window;
mod tumbling;

pub use assigner::{WindowAssigner, WindowError};
pub use operator::{NoTimestamp, WindowOperator, WindowOutput, Windowed};
pub use sliding::{Sliding, SlidingWindows};
pub use time_window::TimeWindow;
pub use tumbling::Tumbling;
