//! The options of `checkpoint`.

use super::Common;
use super::values::{self, Capacity, Records};
use crate::case::Part;
use clap::Args;
use std::time::Duration;

#[derive(Clone, Debug, Args)]
pub(crate) struct CheckpointArgs {
    /// Measure this alone [default: all].
    #[arg(
        long,
        value_name = "PART,...",
        value_delimiter = ',',
        value_parser = values::part(&Part::CHECKPOINT)
    )]
    pub(crate) only: Vec<Part>,
    /// Records of a round in every-1s, every-100ms and fewer-keys [default: as many as fit into
    /// --round-time].
    #[arg(long, value_name = "COUNT")]
    pub(crate) records: Option<Records>,
    /// Keys, in all but fewer-keys and empty: a power of two.
    #[arg(long, value_name = "COUNT", default_value = "1048576")]
    pub(crate) keys: Capacity,
    /// Keys, in fewer-keys: a power of two.
    #[arg(long, value_name = "COUNT", default_value = "131072")]
    pub(crate) fewer_keys: Capacity,
    /// Records that fit between two tasks: a power of two.
    #[arg(long, value_name = "COUNT", default_value = "1024")]
    pub(crate) capacity: Capacity,
    /// How long a round of one subject lasts, about, in every-1s, every-100ms and fewer-keys.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = values::time)]
    pub(crate) round_time: Duration,
    /// How long it lasts, beside what has to be prepared, in the other parts; a round of restart is one
    /// start.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = values::time)]
    pub(crate) duration: Duration,
    /// The longest time that is recorded as it is; what is longer is counted.
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = values::time)]
    pub(crate) highest: Duration,
    #[command(flatten)]
    pub(crate) common: Common,
}
