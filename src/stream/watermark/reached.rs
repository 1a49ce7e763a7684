//! How far event time has come where watermarks are assigned: what a checkpoint keeps of it.

use crate::stream::checkpointing::OperatorSnapshot;
use crate::stream::element::Watermark;
use crate::stream::setting::Setting;
use crate::stream::state::StateError;

/// How far event time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reached {
    /// The last watermark that went out.
    pub(super) output: Watermark,
    /// What the generator says, which goes out later.
    pub(super) generated: Watermark,
    /// How many records there are to the next time that the generator is asked.
    pub(super) records_left: u32,
}

impl Reached {
    /// What is restored. Of several subtasks, the one that is behind counts; of none, nothing.
    pub(super) fn restored(setting: &Setting) -> Result<Option<Self>, StateError> {
        let mut all: Option<Self> = None;
        let restored = setting.restored();
        for bytes in restored.map_or(&[][..], |restored| &restored.managed_operator) {
            let reached = Self::decode(bytes)?;
            all = Some(match all {
                None => reached,
                Some(other) => Self {
                    output: other.output.min(reached.output),
                    generated: other.generated.min(reached.generated),
                    records_left: other.records_left.min(reached.records_left),
                },
            });
        }
        Ok(all)
    }

    fn decode(bytes: &[u8]) -> Result<Self, StateError> {
        let reason: Box<str> = match postcard::take_from_bytes(bytes) {
            Ok(((output, generated, records_left), [])) => {
                return Ok(Self {
                    output: Watermark(output),
                    generated: Watermark(generated),
                    records_left,
                });
            }
            Ok(_) => "something is left behind it".into(),
            Err(error) => error.to_string().into(),
        };
        Err(StateError::Damaged {
            part: "how far event time has come".into(),
            reason,
        })
    }
}

impl From<Reached> for OperatorSnapshot {
    fn from(reached: Reached) -> Self {
        Self::operator(move || {
            let parts = (reached.output.0, reached.generated.0, reached.records_left);
            Ok(postcard::to_extend(&parts, Vec::new())?)
        })
    }
}
