//! What is restored of an operator's managed state by key: parts that one subtask or several stored.

use super::description::Description;
use super::entries::Unreadable;
use super::error::StateError;
use super::layout::EncodedKeyed;
use crate::stream::key_group::KeyGroupRange;
use crate::stream::setting::Setting;

/// What was stored, until all states that are in it are declared.
#[derive(Debug)]
pub(crate) struct RestoredKeyed {
    key_groups: KeyGroupRange,
    /// Each with those of its states that were taken.
    stored: Vec<(EncodedKeyed, Box<[bool]>)>,
}

impl RestoredKeyed {
    /// What the operator of `setting` is restored from; nothing where the job begins anew.
    ///
    /// # Errors
    /// Where it is damaged, or of a job with another number of key groups.
    pub(crate) fn of(setting: &Setting) -> Result<Self, StateError> {
        let key_groups = setting.subtask().key_groups();
        let restored = setting.restored();
        let all = restored.map_or(&[][..], |restored| &restored.managed_keyed);
        let mut stored = Vec::with_capacity(all.len());
        for bytes in all {
            let encoded = EncodedKeyed::of(bytes.clone())?;
            if encoded.max_parallelism() != key_groups.max_parallelism() {
                return Err(StateError::OtherMaxParallelism {
                    stored: encoded.max_parallelism(),
                    declared: key_groups.max_parallelism(),
                });
            }
            let none_taken = vec![false; encoded.states().len()];
            stored.push((encoded, none_taken.into()));
        }
        Ok(Self { key_groups, stored })
    }

    /// Has `decode` take over what was stored of the declared state: for each of the subtask's key
    /// groups, its place in their range, itself, and its part.
    pub(crate) fn take(
        &mut self,
        declared: &Description,
        mut decode: impl FnMut(usize, u32, &[u8]) -> Result<(), Unreadable>,
    ) -> Result<(), StateError> {
        let mut is_filled = vec![false; self.key_groups.len()];
        for (encoded, taken) in &mut self.stored {
            let mut states = encoded.states().iter();
            let Some(place) = states.position(|state| state.is_same_state(declared)) else {
                continue;
            };
            let state = &encoded.states()[place];
            if !state.has_same_types(declared) {
                return Err(StateError::OtherType {
                    name: declared.name().into(),
                    stored: state.contents().into(),
                    declared: declared.contents().into(),
                });
            }
            taken[place] = true;
            for (key_group, part) in encoded.parts(place) {
                let Some(at) = self.key_groups.place(key_group) else {
                    continue;
                };
                let name = declared.name();
                if core::mem::replace(&mut is_filled[at], true) {
                    return Err(StateError::StoredTwice {
                        name: name.into(),
                        key_group,
                    });
                }
                decode(at, key_group, part).map_err(|reason| StateError::Damaged {
                    part: format!("key group {key_group} of the state \"{name}\"").into(),
                    reason: reason.to_string().into(),
                })?;
            }
        }
        Ok(())
    }

    /// All states are declared: what was stored is let go of.
    ///
    /// # Errors
    /// [`StateError::NotDeclared`], for a state that was stored and not taken.
    pub(crate) fn finish(&mut self) -> Result<(), StateError> {
        for (encoded, taken) in self.stored.drain(..) {
            let mut states = encoded.states().iter().zip(taken);
            if let Some((state, _)) = states.find(|(_, is_taken)| !is_taken) {
                return Err(StateError::NotDeclared {
                    name: state.name().into(),
                    stored: state.contents().into(),
                });
            }
        }
        Ok(())
    }
}
