//! One record for each, of two streams.

use crate::letter::Outcome;
use crate::stream::element::Record;
use crate::stream::inputs::TwoInputOperator;
use crate::stream::output::Output;

/// Makes of each value of two streams another one, by a function for each stream; timestamps stay.
#[derive(Clone, Copy, Debug)]
pub struct CoMap<F, G> {
    left: F,
    right: G,
}

impl<F, G> CoMap<F, G> {
    /// By `left` and `right`.
    pub const fn new(left: F, right: G) -> Self {
        Self { left, right }
    }
}

impl<A, B, U, F: FnMut(A) -> U, G: FnMut(B) -> U> TwoInputOperator<A, B> for CoMap<F, G> {
    type Out = U;

    #[inline(always)]
    fn process_left(&mut self, record: Record<A>, out: &mut impl Output<U>) -> Outcome {
        out.record(record.map(&mut self.left))
    }

    #[inline(always)]
    fn process_right(&mut self, record: Record<B>, out: &mut impl Output<U>) -> Outcome {
        out.record(record.map(&mut self.right))
    }
}
