//! Where the process dies: an operator, and a store, that kill it when their time has come.

use mailring::letter::BoxError;
use mailring::stream::{
    CheckpointId, CheckpointNotice, EncodeState, Operator, OperatorSnapshot, Output, Record,
    Setting,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A step of a checkpoint, or of the recovery from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The barrier is about to go out.
    BeforeBarrier,
    /// The barrier is out, and the state is being copied.
    StateCopy,
    /// The state becomes bytes, beside the task.
    Encoding,
    /// A subtask's state is about to be written.
    BeforeStateFile,
    /// It is written, and not acknowledged.
    AfterStateFile,
    /// All have acknowledged, and the record is about to be written.
    BeforeRecord,
    /// The record is written: the checkpoint is complete, and nobody knows.
    AfterRecord,
    /// A task is told that the checkpoint is complete, before it has committed what it held back.
    BeforeCommit,
    /// It has.
    AfterCommit,
    /// What is kept no more is about to be deleted.
    BeforeDelete,
    /// Some of it is.
    AfterDelete,
}

impl Step {
    pub(crate) const ALL: [Self; 11] = [
        Self::BeforeBarrier,
        Self::StateCopy,
        Self::Encoding,
        Self::BeforeStateFile,
        Self::AfterStateFile,
        Self::BeforeRecord,
        Self::AfterRecord,
        Self::BeforeCommit,
        Self::AfterCommit,
        Self::BeforeDelete,
        Self::AfterDelete,
    ];
}

/// When the process dies, or stands still until it is told to go on. Clones are of one process.
#[derive(Clone, Debug)]
pub(crate) struct Death(Option<Arc<At>>);

#[derive(Debug)]
struct At {
    step: Step,
    /// How often the step comes before.
    times: AtomicU32,
    signal: libc::c_int,
}

impl Death {
    /// As the parent has said: a step, how often it comes before, and the signal.
    pub(crate) fn told(text: Option<String>) -> Self {
        let told = text.map(|text| {
            let words: Vec<_> = text.split(' ').collect();
            let [step, time, signal] = words[..] else {
                panic!("a step, and two numbers: {text}");
            };
            let mut steps = Step::ALL.into_iter();
            let step = steps.find(|known| format!("{known:?}") == step);
            let step = step.expect("a step that there is");
            let times = AtomicU32::new(time.parse().expect("a number"));
            let signal = signal.parse().expect("a number");
            Arc::new(At {
                step,
                times,
                signal,
            })
        });
        Self(told)
    }

    /// The process has come to a step.
    pub(crate) fn comes(&self, step: Step) {
        if let Some(told) = &self.0
            && told.step == step
            && told.times.fetch_sub(1, Ordering::Relaxed) == 1
        {
            // SAFETY: a signal to oneself; it ends the process, or has it stand still, at once.
            unsafe { libc::kill(libc::getpid(), told.signal) };
        }
    }
}

/// Passes on what it is given; the process may die of its checkpoints. One before a sink and in its chain
/// is told after the sink, and one behind it cannot be: `step_at_notice` says which this is.
pub(crate) struct Mortal {
    pub(crate) death: Death,
    pub(crate) step_at_notice: Step,
}

impl<T: 'static> Operator<T> for Mortal {
    type Out = T;

    fn open(&mut self, _setting: &Setting) -> Result<(), BoxError> {
        Ok(())
    }

    fn process(&mut self, record: Record<T>, out: &mut impl Output<T>) -> Result<(), BoxError> {
        out.record(record)
    }

    fn prepare_snapshot_pre_barrier(
        &mut self,
        _id: CheckpointId,
        _out: &mut impl Output<T>,
    ) -> Result<(), BoxError> {
        self.death.comes(Step::BeforeBarrier);
        Ok(())
    }

    fn snapshot(&mut self, _id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        self.death.comes(Step::StateCopy);
        let state = Dying(self.death.clone());
        Ok(OperatorSnapshot::operator(state))
    }

    fn notify_checkpoint(&mut self, notice: CheckpointNotice) -> Result<(), BoxError> {
        if let CheckpointNotice::Complete(_) = notice {
            self.death.comes(self.step_at_notice);
        }
        Ok(())
    }
}

/// State that the process dies of.
struct Dying(Death);

impl EncodeState for Dying {
    fn encode(self: Box<Self>) -> Result<Vec<u8>, BoxError> {
        self.0.comes(Step::Encoding);
        // More than stands in a record: there is a file of it.
        Ok(vec![0; 64 * 1024])
    }
}
