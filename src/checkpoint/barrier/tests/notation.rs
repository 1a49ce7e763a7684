//! Scripts: on each line what comes, an arrow, and all that is to follow.
//!
//! What comes: `B1@0` a barrier of checkpoint 1 by channel 0, `X1@0` that it will not come, `E0` the
//! end of channel 0, `D0` a record by channel 0 (which must not be blocked), `R1` a replayed trigger,
//! `A1` an abort by the task, `F1` a trigger that failed, `~5` a pause of 5 ms.
//! What follows: `T1` a trigger, `-1subsumed` an abort with its reason, `+0` that channel 0 is
//! resumed, in order; then `{0 1}` the channels that are blocked, and `[1 2]` the checkpoints that
//! are pending, if there are any.

use super::stand::{Effect, Input, Reach, Stand};
use crate::checkpoint::barrier::{CheckpointBarrierTracker, SingleCheckpointBarrierHandler};
use core::fmt::{Display, Write as _};

/// One thing that comes, as a script says it.
enum Step {
    Input(Input),
    Record(usize),
}

fn step(word: &str) -> Step {
    let number = |text: &str| -> u64 {
        text.parse()
            .unwrap_or_else(|_| panic!("`{word}` has no number where one belongs"))
    };
    let (kind, rest) = word.split_at(1);
    let (first, second) = rest.split_once('@').unwrap_or((rest, "none"));
    Step::Input(match kind {
        "B" => Input::Barrier(number(first), number(second) as usize),
        "X" => Input::Cancel(number(first), number(second) as usize),
        "E" => Input::End(number(rest) as usize),
        "D" => return Step::Record(number(rest) as usize),
        "R" => Input::Replay(number(rest)),
        "A" => Input::Abort(number(rest)),
        "F" => Input::TriggerFailed(number(rest)),
        "~" => Input::Pause(number(rest)),
        _ => panic!("`{word}` means nothing"),
    })
}

fn joined(items: impl IntoIterator<Item = impl Display>) -> String {
    let items: Vec<_> = items.into_iter().map(|item| item.to_string()).collect();
    items.join(" ")
}

impl Stand {
    /// Lets all of a line come, whatever follows.
    pub(super) fn play_any(&mut self, line: &str) -> Vec<Effect> {
        let mut effects = Vec::new();
        for word in line.split_whitespace() {
            match step(word) {
                Step::Input(input) => effects.extend(self.tell(input)),
                Step::Record(channel) => assert_eq!(self.channels[channel], Reach::Open),
            }
        }
        effects
    }

    /// Plays a script.
    #[track_caller]
    pub(super) fn play(&mut self, script: &str) -> &mut Self {
        let lines = script.lines().map(str::trim);
        for line in lines.filter(|line| !line.is_empty()) {
            let (inputs, expected) = line.split_once("->").expect("an arrow on each line");
            let mut found = joined(self.play_any(inputs));
            let (blocked, pending) = (joined(self.blocked()), joined(self.handler.pending()));
            if !blocked.is_empty() {
                write!(found, " {{{blocked}}}").expect("a string takes all");
            }
            if !pending.is_empty() {
                write!(found, " [{pending}]").expect("a string takes all");
            }
            assert_eq!(found.trim(), expected.trim(), "after {inputs}");
        }
        self
    }
}

/// A kind of handler, and how many channels it has.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    channels: u32,
    is_tracker: bool,
    checkpoints_after_tasks_finish: bool,
}

/// The handler that aligns.
pub(super) const fn aligned(channels: u32) -> Kind {
    Kind {
        channels,
        is_tracker: false,
        checkpoints_after_tasks_finish: true,
    }
}

/// The tracker.
pub(super) const fn tracker(channels: u32) -> Kind {
    Kind {
        is_tracker: true,
        ..aligned(channels)
    }
}

impl Kind {
    /// Checkpoints are not taken after tasks finish.
    pub(super) const fn aborting(self) -> Self {
        Self {
            checkpoints_after_tasks_finish: false,
            ..self
        }
    }

    pub(super) fn over(self, gates: &[u32]) -> Stand {
        let enabled = self.checkpoints_after_tasks_finish;
        if self.is_tracker {
            let tracker = CheckpointBarrierTracker::new(gates);
            Stand::new(tracker.checkpoints_after_tasks_finish(enabled), gates)
        } else {
            let handler = SingleCheckpointBarrierHandler::new(gates);
            Stand::new(handler.checkpoints_after_tasks_finish(enabled), gates)
        }
    }

    pub(super) fn stand(self) -> Stand {
        self.over(&[self.channels])
    }

    /// Plays a script on one gate, and with the channels spread over two, and over three of which
    /// one has none: nothing depends on that.
    #[track_caller]
    pub(super) fn play(self, script: &str) {
        let channels = self.channels;
        self.over(&[1, channels - 1]).play(script);
        self.over(&[channels - 1, 0, 1]).play(script);
        self.stand().play(script);
    }
}
