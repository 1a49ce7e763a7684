//! The channel between two tasks of one process: a ring of elements.

use super::channel::{ChannelState, InputChannel, ResumeError};
use super::element::Element;
use crate::letter::BoxError;
use crate::ring::spsc::Consumer;
use core::task::{Context, Poll};

/// A channel that is a ring.
pub(crate) struct LocalChannel<T> {
    /// `None` when it was released.
    ring: Option<Consumer<Element<T>>>,
    is_blocked: bool,
}

impl<T> LocalChannel<T> {
    pub(crate) fn new(ring: Consumer<Element<T>>) -> Self {
        Self {
            ring: Some(ring),
            is_blocked: false,
        }
    }
}

impl<T> InputChannel<T> for LocalChannel<T> {
    #[inline]
    fn drain(
        &mut self,
        max: usize,
        mut handler: impl FnMut(Element<T>) -> bool,
    ) -> Result<usize, BoxError> {
        let Some(ring) = self.ring.as_mut().filter(|_| !self.is_blocked) else {
            return Ok(0);
        };
        let mut is_blocked = false;
        let taken = ring.drain_some(max, |element| {
            if let Element::Event(event) = &element {
                is_blocked = event.blocks_channel();
            }
            handler(element) && !is_blocked
        });
        self.is_blocked = is_blocked;
        Ok(taken)
    }

    #[inline]
    fn has_elements(&self) -> bool {
        let ring = self.ring.as_ref();
        !self.is_blocked && ring.is_some_and(Consumer::has_letters)
    }

    fn poll_state(&mut self, cx: &mut Context<'_>) -> Poll<ChannelState> {
        if self.is_blocked {
            return Poll::Ready(ChannelState::Blocked);
        }
        match &mut self.ring {
            None => Poll::Ready(ChannelState::Gone),
            Some(ring) => ring.poll_letters(cx).map(|letters| match letters {
                Ok(()) => ChannelState::Elements,
                Err(_) => ChannelState::Gone,
            }),
        }
    }

    fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    fn resume_consumption(&mut self) -> Result<(), ResumeError> {
        if self.ring.is_none() {
            return Err(ResumeError::Released);
        }
        if !core::mem::take(&mut self.is_blocked) {
            return Err(ResumeError::NotBlocked);
        }
        Ok(())
    }

    fn release(&mut self) {
        self.ring = None;
        self.is_blocked = false;
    }

    fn depth(&self) -> usize {
        self.ring.as_ref().map_or(0, Consumer::len)
    }

    fn credits(&self) -> usize {
        self.ring.as_ref().map_or(0, Consumer::capacity)
    }
}
