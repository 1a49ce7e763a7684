//! A source that need not come to its end: what is waited for in the life of a job comes in it then, however
//! slow the machine is.

use mailring::letter::{BoxError, Outcome};
use mailring::stream::{
    CheckpointId, CheckpointNotice, OperatorSnapshot, Polled, Setting, Source, SourceFactory,
    StopMode, Stopping, Subtask,
};

/// What another source gives; behind its end nothing comes, or not even that.
#[derive(Clone)]
pub(crate) struct Lasting<S> {
    source: S,
    is_endless: bool,
    has_ended: bool,
}

impl<S> Lasting<S> {
    pub(crate) fn new(source: S, is_endless: bool) -> Self {
        Self {
            source,
            is_endless,
            has_ended: false,
        }
    }
}

impl<F: SourceFactory> SourceFactory for Lasting<F> {
    type Out = F::Out;
    type Source = Lasting<F::Source>;

    fn create(self, subtask: &Subtask) -> Result<Self::Source, BoxError> {
        Ok(Lasting::new(self.source.create(subtask)?, self.is_endless))
    }
}

impl<S: Source> Source for Lasting<S> {
    type Out = S::Out;

    fn open(&mut self, setting: &Setting) -> Outcome {
        self.source.open(setting)
    }

    fn poll(&mut self) -> Result<Polled<S::Out>, BoxError> {
        if self.has_ended {
            return Ok(Polled::Pending);
        }
        match self.source.poll()? {
            Polled::End if self.is_endless => {
                self.has_ended = true;
                Ok(Polled::Pending)
            }
            polled => Ok(polled),
        }
    }

    fn stop(&mut self, mode: StopMode) -> Stopping {
        self.source.stop(mode)
    }

    fn snapshot(&mut self, id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        self.source.snapshot(id)
    }

    fn notify_checkpoint(&mut self, notice: CheckpointNotice) -> Outcome {
        self.source.notify_checkpoint(notice)
    }

    fn close(&mut self) -> Outcome {
        self.source.close()
    }
}
