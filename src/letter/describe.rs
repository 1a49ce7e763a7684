//! A description that is worked out only when somebody reads it.

/// What a letter is, for when it is gone: running one must not cost the asking for its name.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Describe {
    /// Known already.
    Known(&'static str),
    /// To be asked for.
    Ask(fn() -> &'static str),
}

impl Describe {
    /// The description.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Known(text) => text,
            Self::Ask(ask) => ask(),
        }
    }
}
