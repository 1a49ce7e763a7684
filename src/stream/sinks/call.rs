//! A closure as a sink.

use crate::letter::{BoxError, IntoOutcome, Outcome};
use crate::stream::element::Record;
use crate::stream::setting::Subtask;
use crate::stream::sink::{Sink, SinkFactory};
use core::marker::PhantomData;

/// Calls a closure with each value; that is called by the subtask's thread, and each subtask has a
/// clone of it.
pub struct Call<F, R> {
    f: F,
    returned: PhantomData<fn() -> R>,
}

impl<T, F, R> Sink<T> for Call<F, R>
where
    F: FnMut(T) -> R,
    R: IntoOutcome,
{
    #[inline(always)]
    fn record(&mut self, record: Record<T>) -> Outcome {
        (self.f)(record.value).into_outcome()
    }
}

impl<T, F, R> SinkFactory<T> for F
where
    F: FnMut(T) -> R + Clone + Send + 'static,
    R: IntoOutcome + 'static,
{
    type Sink = Call<F, R>;

    fn create(self, _subtask: &Subtask) -> Result<Self::Sink, BoxError> {
        Ok(Call {
            f: self,
            returned: PhantomData,
        })
    }
}

impl<F, R> core::fmt::Debug for Call<F, R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Call").finish_non_exhaustive()
    }
}
