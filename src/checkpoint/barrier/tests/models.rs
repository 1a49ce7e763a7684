//! What handlers are to do, said as plainly as can be: nothing is forgotten, all is searched.

use super::stand::{Effect, Input};
use crate::checkpoint::barrier::AbortReason;
use std::collections::{BTreeMap, BTreeSet};

/// What is to follow from each thing that comes.
pub(super) trait Model {
    fn tell(&mut self, input: Input) -> Vec<Effect>;

    fn pending(&self) -> Vec<u64>;

    /// Of the newest checkpoint, in ms.
    fn alignment_ms(&self) -> u64;
}

/// Of each checkpoint that was heard of: when its barriers came first and last, in ms.
#[derive(Default)]
struct Times {
    now_ms: u64,
    spans: BTreeMap<u64, (u64, Option<u64>)>,
}

impl Times {
    fn begin(&mut self, id: u64) {
        self.spans.entry(id).or_insert((self.now_ms, None));
    }

    fn end(&mut self, id: u64) {
        if let Some((_, end)) = self.spans.get_mut(&id) {
            *end = Some(self.now_ms);
        }
    }

    fn forget(&mut self, id: u64) {
        self.spans.insert(id, (0, Some(0)));
    }

    fn of(&self, id: u64) -> u64 {
        let span = self.spans.get(&id);
        span.map_or(0, |(begin, end)| end.unwrap_or(self.now_ms) - begin)
    }
}

/// What was heard of a checkpoint.
#[derive(Default)]
struct Heard {
    by: BTreeSet<usize>,
    doomed: Option<AbortReason>,
    verdict: Option<Effect>,
}

/// Exactly once.
pub(super) struct AlignedModel {
    open: BTreeSet<usize>,
    checkpoints_after_tasks_finish: bool,
    heard: BTreeMap<u64, Heard>,
    /// The channels that are blocked, and by the barrier of which checkpoint.
    blocked: BTreeMap<usize, u64>,
    times: Times,
}

impl AlignedModel {
    pub(super) fn new(channels: usize, checkpoints_after_tasks_finish: bool) -> Self {
        Self {
            open: (0..channels).collect(),
            checkpoints_after_tasks_finish,
            heard: BTreeMap::new(),
            blocked: BTreeMap::new(),
            times: Times::default(),
        }
    }

    fn newest(&self) -> u64 {
        self.heard.keys().next_back().copied().unwrap_or(0)
    }

    fn is_over(&self, id: u64) -> bool {
        let heard = self.heard.get(&id);
        id < self.newest() || heard.is_some_and(|heard| heard.verdict.is_some())
    }

    /// Looks at each checkpoint for what is to become of it.
    fn settle(&mut self) -> Vec<Effect> {
        let newest = self.newest();
        let mut effects = Vec::new();
        for (&id, heard) in &mut self.heard {
            if heard.verdict.is_some() {
                continue;
            }
            let verdict = if id < newest {
                Effect::Abort(id, AbortReason::Subsumed)
            } else if let Some(reason) = heard.doomed {
                Effect::Abort(id, reason)
            } else if self.open.is_subset(&heard.by) {
                Effect::Trigger(id)
            } else {
                continue;
            };
            heard.verdict = Some(verdict);
            effects.push(verdict);
            match verdict {
                Effect::Trigger(_) => self.times.end(id),
                _ => self.times.forget(id),
            }
            let blocked = self.blocked.iter().filter(|(_, by)| **by == id);
            let resumed: Vec<_> = blocked.map(|(channel, _)| *channel).collect();
            for channel in resumed {
                self.blocked.remove(&channel);
                effects.push(Effect::Resume(channel));
            }
        }
        effects
    }
}

impl Model for AlignedModel {
    fn tell(&mut self, input: Input) -> Vec<Effect> {
        match input {
            Input::Barrier(id, channel) if self.is_over(id) => {
                let is_blocked = self.blocked.contains_key(&channel);
                return Vec::from_iter((!is_blocked).then_some(Effect::Resume(channel)));
            }
            Input::Barrier(id, channel) => {
                self.times.begin(id);
                self.blocked.insert(channel, id);
                self.heard.entry(id).or_default().by.insert(channel);
            }
            Input::Cancel(id, _) if !self.is_over(id) => {
                let heard = self.heard.entry(id).or_default();
                heard.doomed = Some(AbortReason::CancellationBarrier);
            }
            Input::End(channel) => {
                self.open.remove(&channel);
                self.blocked.remove(&channel);
                if !self.checkpoints_after_tasks_finish {
                    for heard in self.heard.values_mut() {
                        heard.doomed = Some(AbortReason::InputEndOfStream);
                    }
                }
            }
            Input::Replay(id) if !self.is_over(id) => {
                self.times.begin(id);
                let open = self.open.clone();
                self.heard.entry(id).or_default().by.extend(open);
            }
            Input::Abort(id) => {
                if let Some(heard) = self.heard.get_mut(&id) {
                    heard.doomed = Some(AbortReason::Subsumed);
                }
            }
            Input::TriggerFailed(id) => {
                let ended = self.heard.iter_mut();
                let last = ended.rev().find(|(_, heard)| heard.verdict.is_some());
                if let Some((&last, heard)) = last
                    && last == id
                    && heard.verdict == Some(Effect::Trigger(id))
                {
                    let abort = Effect::Abort(id, AbortReason::TriggerFailed);
                    heard.verdict = Some(abort);
                    self.times.forget(id);
                    return vec![abort];
                }
            }
            Input::Pause(ms) => self.times.now_ms += ms,
            Input::Cancel(..) | Input::Replay(_) => {}
        }
        self.settle()
    }

    fn pending(&self) -> Vec<u64> {
        let pending = self.heard.iter();
        let pending = pending.filter(|(_, heard)| heard.verdict.is_none());
        pending.map(|(id, _)| *id).collect()
    }

    fn alignment_ms(&self) -> u64 {
        self.times.of(self.newest())
    }
}

/// A checkpoint whose barriers are counted, which goes on after it was aborted.
struct Count {
    id: u64,
    by: BTreeSet<usize>,
    target: usize,
    is_aborted: bool,
}

/// At least once, with counts of aborted checkpoints that swallow what comes late.
pub(super) struct TrackerModel {
    open: BTreeSet<usize>,
    checkpoints_after_tasks_finish: bool,
    latest: u64,
    counts: Vec<Count>,
    last: Option<Effect>,
    times: Times,
}

impl TrackerModel {
    pub(super) fn new(channels: usize, checkpoints_after_tasks_finish: bool) -> Self {
        Self {
            open: (0..channels).collect(),
            checkpoints_after_tasks_finish,
            latest: 0,
            counts: Vec::new(),
            last: None,
            times: Times::default(),
        }
    }

    fn count(&mut self, id: u64, by: &[usize], is_aborted: bool, effects: &mut Vec<Effect>) {
        if id > self.latest {
            self.latest = id;
            self.counts.push(Count {
                id,
                by: BTreeSet::new(),
                target: self.open.len(),
                is_aborted,
            });
            if self.counts.len() == 51 {
                self.counts.remove(0);
            }
        }
        if let Some(count) = self.counts.iter_mut().find(|count| count.id == id) {
            count.by.extend(by);
            self.complete(effects);
        }
    }

    fn complete(&mut self, effects: &mut Vec<Effect>) {
        let mut done = None;
        for (place, count) in self.counts.iter().enumerate() {
            if count.by.len() == count.target {
                done = Some(place);
            }
        }
        if let Some(place) = done {
            if !self.counts[place].is_aborted {
                let id = self.counts[place].id;
                self.times.end(id);
                effects.push(Effect::Trigger(id));
            }
            self.counts.drain(..=place);
        }
    }

    fn abort(&mut self, id: u64, reason: AbortReason, effects: &mut Vec<Effect>) {
        for count in &mut self.counts {
            if count.id <= id && !count.is_aborted {
                count.is_aborted = true;
                self.times.forget(count.id);
                effects.push(match count.id == id {
                    true => Effect::Abort(id, reason),
                    false => Effect::Abort(count.id, AbortReason::Subsumed),
                });
            }
        }
        self.counts.retain(|count| count.id >= id);
    }
}

impl Model for TrackerModel {
    fn tell(&mut self, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Barrier(id, channel) => {
                self.times.begin(id);
                effects.push(Effect::Resume(channel));
                self.count(id, &[channel], false, &mut effects);
            }
            Input::Cancel(id, channel) => {
                let cancelled = AbortReason::CancellationBarrier;
                self.abort(id, cancelled, &mut effects);
                if id > self.latest {
                    self.times.forget(id);
                    effects.push(Effect::Abort(id, cancelled));
                }
                self.count(id, &[channel], true, &mut effects);
            }
            Input::End(channel) => {
                self.open.remove(&channel);
                if self.checkpoints_after_tasks_finish {
                    for count in &mut self.counts {
                        count.by.insert(channel);
                    }
                    self.complete(&mut effects);
                } else {
                    for count in self.counts.drain(..).filter(|count| !count.is_aborted) {
                        self.times.forget(count.id);
                        effects.push(Effect::Abort(count.id, AbortReason::InputEndOfStream));
                    }
                }
            }
            Input::Replay(id) => {
                self.times.begin(id);
                let open: Vec<_> = self.open.iter().copied().collect();
                self.count(id, &open, false, &mut effects);
            }
            Input::Abort(id) => {
                if self.pending().contains(&id) {
                    self.abort(id, AbortReason::Subsumed, &mut effects);
                }
            }
            Input::TriggerFailed(id) => {
                if self.last == Some(Effect::Trigger(id)) {
                    self.times.forget(id);
                    effects.push(Effect::Abort(id, AbortReason::TriggerFailed));
                }
            }
            Input::Pause(ms) => self.times.now_ms += ms,
        }
        let mut latest = effects.iter().rev();
        let verdict = latest.find(|effect| !matches!(effect, Effect::Resume(_)));
        self.last = verdict.copied().or(self.last);
        effects
    }

    fn pending(&self) -> Vec<u64> {
        let live = self.counts.iter().filter(|count| !count.is_aborted);
        live.map(|count| count.id).collect()
    }

    fn alignment_ms(&self) -> u64 {
        self.times.of(self.latest)
    }
}
