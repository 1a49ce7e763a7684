//! Which of several inputs is read next.
//!
//! M1. Inputs that are selected and have elements are read in turn, from the one after the last.
//! M2. An input whose data has ended counts as selected until it has ended: barriers and its end are
//!     still to be read.
//! M3. Before it is said that nothing is available, each input that could be read was looked at.
//! M4. In a task that takes part in checkpoints no input is left out that has not ended. A barrier of
//!     one would wait behind records that nobody takes, and the others for that barrier.
//! M5. The end of all data is told at the last input's, drained only if each of them was.

use super::selection::{InputSelection, TooManyInputs};
use crate::stream::element::StopMode;
use core::fmt;

/// Whatever an operator selected has ended, and there is other input: it would never go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NothingSelected {
    /// What was selected.
    pub selected: InputSelection,
}

impl fmt::Display for NothingSelected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the selected inputs ({:?}) have ended and others have not: none of these would ever be \
             read",
            self.selected
        )
    }
}

impl core::error::Error for NothingSelected {}

/// An operator of a job with checkpoints left out an input that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputLeftOut {
    /// What was selected.
    pub selected: InputSelection,
}

impl fmt::Display for InputLeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the selected inputs ({:?}) leave out others that have not ended: an operator of a job with \
             checkpoints selects all of them, since barriers come by each",
            self.selected
        )
    }
}

impl core::error::Error for InputLeftOut {}

/// See above.
#[derive(Clone, Debug)]
pub(crate) struct InputOrder {
    all: u64,
    /// Those that had elements when last looked at.
    available: u64,
    data_ended: u64,
    ended: u64,
    last: usize,
    mode: StopMode,
}

impl InputOrder {
    pub(crate) fn new(inputs: usize) -> Result<Self, TooManyInputs> {
        Ok(Self {
            all: InputSelection::first(inputs)?.bits(),
            available: 0,
            data_ended: 0,
            ended: 0,
            last: inputs.saturating_sub(1),
            mode: StopMode::Drain,
        })
    }

    /// Those that may be read (M2).
    fn readable(&self, selected: InputSelection) -> Result<u64, NothingSelected> {
        let open = self.all & !self.data_ended;
        let selected_open = selected.bits() & open;
        if open != 0 && selected_open == 0 {
            return Err(NothingSelected { selected });
        }
        Ok((selected_open | self.data_ended) & !self.ended)
    }

    /// Refuses to leave out an input that has not ended (M4).
    pub(crate) fn leave_none_out(&self, selected: InputSelection) -> Result<(), InputLeftOut> {
        let open = self.all & !self.data_ended;
        if open & !selected.bits() != 0 {
            return Err(InputLeftOut { selected });
        }
        Ok(())
    }

    /// The input to be read next, of those that are not in `empty`; `None`: nothing is available.
    pub(crate) fn next(
        &mut self,
        selected: InputSelection,
        empty: u64,
        has_elements: impl Fn(usize) -> bool,
    ) -> Result<Option<usize>, NothingSelected> {
        let readable = self.readable(selected)? & !empty;
        // M3, and so that none of them is forgotten while another is read on and on.
        for input in inputs_of(readable & !self.available) {
            if has_elements(input) {
                self.available |= 1 << input;
            }
        }
        let candidates = readable & self.available;
        let behind_last = candidates & !((2 << self.last) - 1);
        let next = inputs_of(behind_last).chain(inputs_of(candidates)).next();
        if let Some(next) = next {
            self.last = next;
        }
        Ok(next)
    }

    /// Those that may be read, each once.
    pub(crate) fn each_readable(
        &self,
        selected: InputSelection,
    ) -> Result<impl Iterator<Item = usize> + use<>, NothingSelected> {
        self.readable(selected).map(inputs_of)
    }

    /// Nothing was read from `input`.
    pub(crate) fn is_empty(&mut self, input: usize) {
        self.available &= !(1 << input);
    }

    /// The data of `input` has ended.
    pub(crate) fn data_ended(&mut self, input: usize, mode: StopMode) {
        debug_assert!(self.data_ended >> input & 1 == 0, "its data ends once");
        self.data_ended |= 1 << input;
        if mode == StopMode::NoDrain {
            self.mode = mode;
        }
    }

    /// Nothing comes from `input` any more.
    pub(crate) fn ended(&mut self, input: usize) {
        self.data_ended |= 1 << input;
        self.ended |= 1 << input;
    }

    /// How the data of all inputs has ended; `None`: it has not (M5).
    pub(crate) fn end_of_data(&self) -> Option<StopMode> {
        (self.data_ended == self.all).then_some(self.mode)
    }

    /// Whether nothing comes any more.
    pub(crate) fn is_over(&self) -> bool {
        self.ended == self.all
    }
}

/// The numbers of the bits that are set, in order.
fn inputs_of(mut mask: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let input = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(input)
    })
}
