//! A thread of the pool: runs jobs until the pool is closed and none is left.

use super::super::pin::unpin;
use super::job;
use super::shared::Shared;
use crate::letter::Letter;
use crate::mailbox::{Envelope, Sender};
use crate::sync::WakingParker;
use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

/// What a thread has to itself.
pub(super) struct Worker<'a> {
    shared: &'a Shared,
    parker: &'a WakingParker,
    waker: Waker,
}

/// Runs jobs as thread number `index`.
pub(super) fn work(shared: &Shared, index: usize, parker: &WakingParker) {
    let worker = Worker {
        shared,
        parker,
        waker: parker.waker(),
    };
    unpin();
    shared.begin(index);
    let mut ran = None;
    while let Some(job) = shared.next(index, parker, ran) {
        ran = Some(job::run(job, Some(&worker)));
    }
}

impl Worker<'_> {
    /// Posts a result, waiting for room; whether it was posted. It waits in line with all others who
    /// post there, until the pool gives up (J5).
    pub(super) fn post<O, L: Letter<O>>(
        &self,
        sender: &Sender<O, L>,
        envelope: Envelope<O, L>,
    ) -> bool {
        let mut post = pin!(sender.post_envelope_async(envelope));
        let mut context = Context::from_waker(&self.waker);
        loop {
            if let Poll::Ready(posted) = post.as_mut().poll(&mut context) {
                return posted.is_ok();
            }
            // A job may have driven the very processor that it has a result for.
            let is_own = sender.shared().is_owned_by_this_thread();
            if is_own || self.shared.gives_up(sender.shared().owner()) {
                return false;
            }
            self.parker.park(None);
        }
    }
}
