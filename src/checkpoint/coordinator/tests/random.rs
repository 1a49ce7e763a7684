//! Random inputs in any order against what must always hold.

use super::rig::{MS, ms, subtask};
use super::world::{Asked, World};
use crate::checkpoint::*;
use proptest::prelude::*;

const INTERVAL_MS: u64 = 100;

/// What happens next.
#[derive(Clone, Debug)]
enum Happens {
    /// Something that was asked is answered.
    Answer {
        at: u16,
        is_well: bool,
        badly: u8,
    },
    /// A subtask answers twice.
    AnswerTwice {
        at: u16,
    },
    Time {
        ms: u16,
    },
    Trigger {
        is_savepoint: bool,
    },
    Stray {
        kind: u8,
    },
    TriggerFailed {
        at: u16,
    },
    DataEnded {
        task: u8,
    },
    TaskFinished {
        task: u8,
    },
    TaskFailed {
        task: u8,
    },
    LeftRunning,
    Running,
    Restart,
    Fenced,
    Shutdown,
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        60 => (any::<u16>(), prop::bool::weighted(0.93), any::<u8>())
            .prop_map(|(at, is_well, badly)| Happens::Answer { at, is_well, badly }),
        3 => any::<u16>().prop_map(|at| Happens::AnswerTwice { at }),
        20 => (0u16..150).prop_map(|ms| Happens::Time { ms }),
        8 => prop::bool::weighted(0.2).prop_map(|is_savepoint| Happens::Trigger { is_savepoint }),
        3 => any::<u8>().prop_map(|kind| Happens::Stray { kind }),
        1 => any::<u16>().prop_map(|at| Happens::TriggerFailed { at }),
        2 => (0u8..4).prop_map(|task| Happens::DataEnded { task }),
        1 => (0u8..4).prop_map(|task| Happens::TaskFinished { task }),
        1 => (0u8..4).prop_map(|task| Happens::TaskFailed { task }),
        1 => Just(Happens::LeftRunning),
        2 => Just(Happens::Running),
        2 => Just(Happens::Restart),
    ]
}

/// How a run ends, if it is not healed.
fn end() -> impl Strategy<Value = Option<Happens>> {
    prop_oneof![
        4 => Just(None),
        1 => Just(Some(Happens::Fenced)),
        1 => Just(Some(Happens::Shutdown)),
    ]
}

fn settings() -> impl Strategy<Value = CheckpointSettings> {
    let pauses = prop::sample::select(vec![0u64, 50, 150]);
    let tolerable = prop::sample::select(vec![0u32, 2, u32::MAX]);
    (pauses, 1u32..4, tolerable, 1u32..3, any::<bool>()).prop_map(
        |(pause_ms, max_concurrent, tolerable, retained, goes_on)| {
            let settings = CheckpointSettings::new(ms(INTERVAL_MS))
                .min_pause(ms(pause_ms))
                .timeout(ms(300))
                .max_concurrent(max_concurrent)
                .tolerable_failures(tolerable)
                .retained(retained)
                .retention(RetentionPolicy::Never);
            if goes_on {
                settings
            } else {
                settings.without_finished_tasks()
            }
        },
    )
}

impl World {
    fn happen(&mut self, happens: Happens) {
        match happens {
            Happens::Answer { at, is_well, badly } => {
                if !self.asked.is_empty() {
                    self.answer(usize::from(at) % self.asked.len(), is_well, badly);
                }
            }
            Happens::AnswerTwice { at } => {
                if let Some((epoch, id, subtask)) = self.subtask_asked(at) {
                    self.acknowledge(epoch, id, subtask);
                }
            }
            Happens::Time { ms } => self.advance(Self::ms(ms)),
            Happens::Trigger { is_savepoint } => self.trigger(is_savepoint),
            Happens::Stray { kind } => self.stray(kind),
            Happens::TriggerFailed { at } => {
                if let Some((_, id, subtask)) = self.subtask_asked(at) {
                    self.input(|of, now_ns| of.trigger_failed(id, subtask, "", now_ns));
                }
            }
            Happens::DataEnded { task } => {
                let task = self.tasks[usize::from(task)];
                self.input(|of, now_ns| of.data_ended(task, now_ns));
            }
            Happens::TaskFinished { task } => {
                let task = self.tasks[usize::from(task)];
                self.finished.insert(task);
                self.input(|of, now_ns| of.task_finished(task, now_ns));
            }
            Happens::TaskFailed { task } => {
                let task = self.tasks[usize::from(task)];
                self.input(|of, now_ns| of.task_failed(task, "it panicked", now_ns));
            }
            Happens::LeftRunning => self.input(CheckpointCoordinator::job_left_running),
            Happens::Running => self.input(CheckpointCoordinator::job_running),
            Happens::Restart => self.restart(),
            Happens::Fenced => self.input(|of, now_ns| of.fenced("", now_ns)),
            Happens::Shutdown => {
                self.input(|of, now_ns| of.shutdown(JobEnd::Cancelled, now_ns));
            }
        }
    }

    fn subtask_asked(&self, at: u16) -> Option<(Epoch, crate::stream::CheckpointId, SubtaskId)> {
        let subtasks = self.asked.iter().filter_map(|asked| match asked {
            Asked::Subtask(epoch, id, subtask) => Some((*epoch, *id, *subtask)),
            _ => None,
        });
        let subtasks: Vec<_> = subtasks.collect();
        subtasks
            .get(usize::from(at) % subtasks.len().max(1))
            .copied()
    }

    fn restart(&mut self) {
        self.input(CheckpointCoordinator::job_left_running);
        let restart = Restart {
            epoch: Epoch(self.coordinator.epoch().0 + 1),
            recovered: Vec::new(),
            restored: None,
        };
        let is_committing = self.coordinator.is_committing();
        match self.coordinator.restarted(restart, self.now_ns) {
            Ok(effects) => {
                self.finished.clear();
                self.is_failing = false;
                self.input(|_, _| effects);
                self.input(CheckpointCoordinator::job_running);
            }
            Err(RestartError::Committing) => assert!(is_committing),
            Err(error) => assert!(self.coordinator.is_shut_down(), "{error}"),
        }
    }

    /// Everything that was asked is answered well, the last first.
    fn answer_all(&mut self) {
        while !self.asked.is_empty() {
            self.answer(self.asked.len() - 1, true, 0);
        }
    }

    /// From here on all goes well: a checkpoint begins within two intervals, and again.
    fn heal(&mut self, interval_ns: u64) {
        self.answer_all();
        self.restart();
        for _ in 0..3 {
            let before = self.begun_count;
            let until_ns = self.now_ns + 2 * interval_ns;
            while self.now_ns < until_ns && self.begun_count == before {
                self.answer_all();
                self.advance(MS);
            }
            assert!(self.begun_count > before, "none begins in two intervals");
            assert!(!self.is_failing, "none failed");
        }
        self.answer_all();
        self.check_final();
    }

    /// When the sources end, a last checkpoint is completed unless tasks are not to wait for one.
    fn check_final(&mut self) {
        let completed = |world: &Self| {
            let counts = world.coordinator.statistics(world.now_ns).counts;
            counts.completed
        };
        let before = completed(self);
        for index in 0..2 {
            self.input(|of, now_ns| of.data_ended(subtask(0, index), now_ns));
        }
        self.answer_all();
        let expected = before + u64::from(self.goes_on());
        assert_eq!(completed(self), expected, "one is the final one");
    }
}

proptest! {
    #[test]
    fn random_inputs_break_nothing(
        settings in settings(),
        happening in prop::collection::vec(happens(), 0..200),
        end in end(),
    ) {
        let interval_ns = settings.interval_ns().expect("there is one");
        let mut world = World::new(settings);
        world.input(CheckpointCoordinator::job_running);
        for happens in happening {
            world.happen(happens);
            if world.is_failing {
                world.happen(Happens::Restart);
            }
        }
        match end {
            Some(end) => world.happen(end),
            None if !world.coordinator.is_fenced() => world.heal(interval_ns),
            None => {}
        }
        world.happen(Happens::Shutdown);
        world.answer_all();
        world.check_end();
    }
}
