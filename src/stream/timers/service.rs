//! An operator's timers in both kinds of time, and how they fire and give way.

use super::super::element::Watermark;
use super::super::key_group::Key;
use super::super::output::{Output, Progress, Readiness};
use super::super::setting::Setting;
use super::super::state::{
    CurrentKey, Description, KeyedSnapshot, RestoredKeyed, StateError, StateKind, StateValue,
};
use super::{DueTimer, TimerQueue};
use crate::letter::{BoxError, Outcome};
use core::any::type_name;
use core::hash::Hash;

/// Which kind of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeDomain {
    /// The time at which events happened, as watermarks tell it.
    EventTime,
    /// The time of the job's clock.
    ProcessingTime,
}

/// What a function is told of its timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FiredTimer {
    /// The time it was registered for, in milliseconds since 1970-01-01 00:00.
    pub at_ms: i64,
    /// In which kind of time.
    pub domain: TimeDomain,
}

/// An operator's timers.
#[derive(Debug)]
pub(crate) struct TimerService<K, N> {
    setting: Setting,
    event: TimerQueue<K, N>,
    processing: TimerQueue<K, N>,
    /// The largest watermark that has come.
    watermark: Watermark,
    /// The last one that went out: timers up to `watermark` are to fire while it is smaller.
    passed: Watermark,
    /// The processing time up to which timers are to fire.
    due_ms: Option<i64>,
    /// What `wake_at` was last asked for.
    wake_ms: Option<i64>,
    emission: Emission,
}

/// Whether watermarks go out while timers give way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Emission {
    /// They do not.
    AtTheEnd,
    /// One goes out each time, as far as timers have fired.
    Intermediate,
}

impl<K: Key, N: StateValue + Hash + Eq> TimerService<K, N> {
    /// What is restored of an operator's timers. The watermark is no part of it: it is told anew.
    pub(crate) fn restored(
        setting: &Setting,
        emission: Emission,
        restored: &mut RestoredKeyed,
    ) -> Result<Self, StateError> {
        let key_groups = setting.subtask().key_groups();
        let event = description::<K, N>(StateKind::EventTimeTimers);
        let processing = description::<K, N>(StateKind::ProcessingTimeTimers);
        let mut service = Self {
            setting: setting.clone(),
            event: TimerQueue::restored(&event, restored, key_groups)?,
            processing: TimerQueue::restored(&processing, restored, key_groups)?,
            watermark: Watermark::MIN,
            passed: Watermark::MIN,
            due_ms: None,
            wake_ms: None,
            emission,
        };
        service.wake_in_time();
        Ok(service)
    }

    pub(crate) fn setting(&self) -> &Setting {
        &self.setting
    }

    /// The largest watermark that has come.
    #[inline]
    pub(crate) fn watermark(&self) -> Watermark {
        self.watermark
    }

    pub(crate) fn register(
        &mut self,
        domain: TimeDomain,
        key: &CurrentKey<K>,
        namespace: N,
        at_ms: i64,
    ) -> bool {
        let is_new = self.queue(domain).register(key, namespace, at_ms);
        self.wake_in_time();
        is_new
    }

    pub(crate) fn delete(
        &mut self,
        domain: TimeDomain,
        key: &CurrentKey<K>,
        namespace: N,
        at_ms: i64,
    ) -> bool {
        let was_there = self.queue(domain).delete(key, namespace, at_ms);
        self.wake_in_time();
        was_there
    }

    /// Whether timers are left to be fired, before which no record may come.
    #[inline]
    fn is_firing(&self) -> bool {
        self.passed < self.watermark || self.due_ms.is_some()
    }

    #[inline]
    pub(crate) fn readiness(&self) -> Readiness {
        if self.is_firing() {
            Readiness::Unfinished
        } else {
            Readiness::Ready
        }
    }

    /// Event time has come to `watermark`: timers up to it are to [`fire`](Self::fire). Gives
    /// whether timers are left to be fired already, which are gone on with elsewhere (TM2).
    #[must_use]
    pub(crate) fn raise_watermark(&mut self, watermark: Watermark) -> bool {
        let is_firing = self.is_firing();
        self.watermark = self.watermark.max(watermark);
        is_firing
    }

    /// As [`raise_watermark`](Self::raise_watermark): processing time has come to `now_ms`.
    #[must_use]
    pub(crate) fn raise_processing_time(&mut self, now_ms: i64) -> bool {
        let is_firing = self.is_firing();
        self.wake_ms = None;
        self.due_ms = self.due_ms.max(Some(now_ms));
        is_firing
    }

    /// Fires what is due, and then passes the watermark on; or gives way and leaves the rest.
    pub(crate) fn fire<Out, O: Output<Out>>(
        &mut self,
        out: &mut O,
        mut on_timer: impl FnMut(&mut Self, TimeDomain, DueTimer<K, N>, &mut O) -> Outcome,
    ) -> Result<Progress, BoxError> {
        let mut fired = false;
        while let Some((domain, until_ms)) = self.due_domain() {
            if !out.readiness().is_ready() || (fired && self.setting.should_give_way()) {
                self.pass_progress(domain, out)?;
                return Ok(Progress::Unfinished);
            }
            if let Some(timer) = self.queue(domain).pop_due(until_ms) {
                on_timer(self, domain, timer, out)?;
            }
            fired = true;
            self.settle(out)?;
        }
        self.settle(out)?;
        Ok(Progress::Done)
    }

    /// Fires all that a watermark has made due, without giving way, and drops all other timers:
    /// the stream is at its end.
    pub(crate) fn finish<Out, O: Output<Out>>(
        &mut self,
        out: &mut O,
        mut on_timer: impl FnMut(&mut Self, TimeDomain, DueTimer<K, N>, &mut O) -> Outcome,
    ) -> Outcome {
        self.due_ms = None;
        while let Some((domain, until_ms)) = self.due_domain() {
            if let Some(timer) = self.queue(domain).pop_due(until_ms) {
                on_timer(self, domain, timer, out)?;
            }
        }
        self.settle(out)?;
        self.event.clear();
        self.processing.clear();
        self.wake_in_time();
        Ok(())
    }

    /// The kind of time in which a timer is due, and the time it is due by: event time comes first.
    fn due_domain(&self) -> Option<(TimeDomain, i64)> {
        if self.passed < self.watermark && self.event.is_due(self.watermark.0) {
            return Some((TimeDomain::EventTime, self.watermark.0));
        }
        let due_ms = self
            .due_ms
            .filter(|&due_ms| self.processing.is_due(due_ms))?;
        Some((TimeDomain::ProcessingTime, due_ms))
    }

    /// Ends the firing in each kind of time that has no timer left due.
    fn settle<Out>(&mut self, out: &mut impl Output<Out>) -> Outcome {
        if self.passed < self.watermark && !self.event.is_due(self.watermark.0) {
            self.passed = self.watermark;
            out.watermark(self.watermark)?;
        }
        if self
            .due_ms
            .is_some_and(|due_ms| !self.processing.is_due(due_ms))
        {
            self.due_ms = None;
            self.wake_in_time();
        }
        Ok(())
    }

    /// Where watermarks go out meanwhile: one that no timer left over is late for.
    fn pass_progress<Out>(&mut self, domain: TimeDomain, out: &mut impl Output<Out>) -> Outcome {
        if domain == TimeDomain::ProcessingTime || self.emission == Emission::AtTheEnd {
            return Ok(());
        }
        let reached = self.event.next_ms().and_then(|at_ms| at_ms.checked_sub(1));
        match reached.map(Watermark) {
            Some(reached) if reached > self.passed => {
                self.passed = reached;
                out.watermark(reached)
            }
            _ => Ok(()),
        }
    }

    /// Has the operator woken for its first timer in processing time.
    fn wake_in_time(&mut self) {
        if self.due_ms.is_some() {
            return;
        }
        let next_ms = self.processing.next_ms();
        if next_ms != self.wake_ms {
            self.wake_ms = next_ms;
            match next_ms {
                Some(at_ms) => self.setting.wake_at(at_ms),
                None => self.setting.wake_never(),
            }
        }
    }

    fn queue(&mut self, domain: TimeDomain) -> &mut TimerQueue<K, N> {
        match domain {
            TimeDomain::EventTime => &mut self.event,
            TimeDomain::ProcessingTime => &mut self.processing,
        }
    }

    /// The timers as they are now, shared until they change.
    pub(crate) fn snapshot_into(&mut self, snapshot: &mut KeyedSnapshot) {
        let event = description::<K, N>(StateKind::EventTimeTimers);
        snapshot.push(event, self.event.snapshot());
        let processing = description::<K, N>(StateKind::ProcessingTimeTimers);
        snapshot.push(processing, self.processing.snapshot());
    }
}

fn description<K, N>(kind: StateKind) -> Description {
    Description::of::<K>("timers", kind, &[type_name::<N>()])
}
