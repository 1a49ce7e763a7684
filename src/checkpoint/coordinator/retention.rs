//! Which completed checkpoints outlive their job.

/// How a job came to be over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobEnd {
    /// All its tasks did all they had to do.
    Finished,
    /// Somebody cancelled it.
    Cancelled,
    /// A task failed, and it was not started again.
    Failed,
    /// It goes on elsewhere or later, from what is stored.
    Suspended,
}

/// Whether the checkpoints that a job retains are kept when it is over. A job that is suspended
/// keeps them in any case, and so does one whose process dies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RetentionPolicy {
    /// They are removed.
    Never,
    /// They are kept if the job failed.
    OnFailure,
    /// They are kept if the job was cancelled or failed.
    OnCancellation,
    /// They are kept: a job that is started again knows that it was over, also where its process died
    /// just after its end.
    #[default]
    Always,
}

impl RetentionPolicy {
    /// Whether checkpoints are kept after an end like this.
    #[must_use]
    pub const fn retains(self, end: JobEnd) -> bool {
        match end {
            JobEnd::Suspended => true,
            JobEnd::Failed => !matches!(self, Self::Never),
            JobEnd::Cancelled => matches!(self, Self::OnCancellation | Self::Always),
            JobEnd::Finished => matches!(self, Self::Always),
        }
    }
}

#[cfg(test)]
mod tests;
