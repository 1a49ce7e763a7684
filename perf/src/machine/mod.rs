//! The machine sheet: all that decides what a figure is worth.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where and with what was measured. What a system does not tell is null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The CPU's name.
    pub cpu: Option<String>,
    /// The crates measured, and their versions.
    pub versions: BTreeMap<String, String>,
}

impl Machine {
    /// Looks at this machine.
    #[must_use]
    pub fn look() -> Self {
        Self::default()
    }
}
