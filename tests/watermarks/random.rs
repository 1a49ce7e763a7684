//! The valve and the combination against plain models that work everything out anew each time.

use crate::{IDLE, MAX};
use mailring::stream::{
    CombinedWatermarkStatus, StatusWatermarkValve, StopMode, Watermark, WatermarkEffect,
    WatermarkEffects, WatermarkStatus,
};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

const CHANNELS_MAX: usize = 9;

#[derive(Clone, Copy, Debug)]
enum Input {
    Watermark(usize, i64),
    Status(usize, WatermarkStatus),
    End(usize, StopMode),
}

fn input() -> impl Strategy<Value = Input> {
    let channel = || 0..CHANNELS_MAX;
    // Close together, so that they meet.
    let watermark = prop_oneof![60 => 0..30_i64, 1 => Just(i64::MAX), 1 => Just(i64::MIN)];
    let status = prop_oneof![Just(WatermarkStatus::Idle), Just(WatermarkStatus::Active)];
    let mode = prop_oneof![9 => Just(StopMode::Drain), 1 => Just(StopMode::NoDrain)];
    prop_oneof![
        50 => (channel(), watermark).prop_map(|(channel, w)| Input::Watermark(channel, w)),
        30 => (channel(), status).prop_map(|(channel, status)| Input::Status(channel, status)),
        1 => (channel(), mode).prop_map(|(channel, mode)| Input::End(channel, mode)),
    ]
}

/// How many channels, what comes, and two orders to turn idle in.
type Life = (usize, Vec<Input>, [Vec<usize>; 2]);

fn life() -> impl Strategy<Value = Life> {
    let order = || Just((0..CHANNELS_MAX).collect::<Vec<_>>()).prop_shuffle();
    let inputs = prop::collection::vec(input(), 0..150);
    (1..=CHANNELS_MAX, inputs, [order(), order()])
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Aligned,
    Lags,
    Idle,
    Ended,
}

/// What a valve is, told plainly.
#[derive(Clone, Debug)]
struct Model {
    channels: Vec<(State, i64)>,
    output: i64,
    idle: bool,
    drained: bool,
    /// Whether a channel that was idle counts at once: so it does for the inputs of an operator.
    lags: bool,
}

impl Model {
    fn new(channels: usize, lags: bool) -> Self {
        Self {
            channels: vec![(State::Aligned, i64::MIN); channels],
            output: i64::MIN,
            idle: false,
            drained: true,
            lags,
        }
    }

    fn take(&mut self, input: Input) -> Vec<WatermarkEffect> {
        let output = self.output;
        let state_of = |watermark: i64, lags: bool| {
            if watermark >= output || !lags {
                State::Aligned
            } else {
                State::Lags
            }
        };
        match input {
            Input::Watermark(channel, i64::MAX) => {
                self.channels[channel].0 = State::Ended;
            }
            Input::Watermark(channel, watermark) => {
                let (state, last) = &mut self.channels[channel];
                if *state == State::Idle && !self.lags {
                    *state = State::Aligned;
                }
                if matches!(state, State::Aligned | State::Lags) && watermark > *last {
                    *last = watermark;
                    if *state == State::Lags {
                        *state = state_of(watermark, true);
                    }
                }
            }
            Input::Status(channel, status) => {
                let (state, last) = &mut self.channels[channel];
                *state = match (*state, status) {
                    (State::Aligned | State::Lags, WatermarkStatus::Idle) => State::Idle,
                    (State::Idle, WatermarkStatus::Active) => state_of(*last, self.lags),
                    (state, _) => state,
                };
            }
            Input::End(channel, StopMode::Drain) => self.channels[channel].0 = State::Ended,
            // It counts as before.
            Input::End(_, StopMode::NoDrain) => self.drained = false,
        }
        self.effects()
    }

    fn effects(&mut self) -> Vec<WatermarkEffect> {
        let of = |wanted: &[State]| {
            let channels = self.channels.iter();
            let wanted = channels.filter(|(state, _)| wanted.contains(state));
            wanted.map(|&(_, watermark)| watermark).collect::<Vec<_>>()
        };
        let active = of(&[State::Aligned, State::Lags]);
        let idle = of(&[State::Idle]);
        let ended = active.is_empty() && idle.is_empty();
        let (goal, turns) = if ended {
            (self.drained.then_some(i64::MAX), self.idle && self.drained)
        } else if active.is_empty() {
            (idle.into_iter().max(), !self.idle)
        } else {
            (of(&[State::Aligned]).into_iter().min(), self.idle)
        };
        let goal = goal.filter(|&goal| goal > self.output);
        self.output = goal.unwrap_or(self.output);
        self.idle ^= turns;
        let status = if self.idle {
            WatermarkStatus::Idle
        } else {
            WatermarkStatus::Active
        };
        let mut effects: Vec<_> = goal
            .map(|goal| WatermarkEffect::Watermark(Watermark(goal)))
            .into_iter()
            .chain(turns.then_some(WatermarkEffect::Status(status)))
            .collect();
        if !self.idle {
            effects.reverse();
        }
        effects
    }
}

/// The valve and the combination have the same face.
trait Face: Clone {
    fn take(&mut self, input: Input) -> WatermarkEffects;
    fn output(&self) -> (Watermark, WatermarkStatus);
}

macro_rules! face {
    ($name:ty) => {
        impl Face for $name {
            fn take(&mut self, input: Input) -> WatermarkEffects {
                match input {
                    Input::Watermark(place, watermark) => {
                        self.watermark(place, Watermark(watermark))
                    }
                    Input::Status(place, status) => self.status(place, status),
                    Input::End(place, mode) => self.end(place, mode),
                }
            }

            fn output(&self) -> (Watermark, WatermarkStatus) {
                (self.output_watermark(), self.output_status())
            }
        }
    };
}

face!(StatusWatermarkValve);
face!(CombinedWatermarkStatus);

/// How often something of interest has happened: a test that never sees it proves nothing of it.
#[derive(Debug, Default)]
struct Seen {
    watermarks: u32,
    idle: u32,
    ends: u32,
}

fn live(mut real: impl Face, mut model: Model, (channels, inputs, orders): Life, seen: &mut Seen) {
    let mut output = real.output();
    let mut ended = vec![false; channels];
    for (number, input) in inputs.into_iter().enumerate() {
        let input = match input {
            Input::Watermark(place, watermark) => {
                // Time goes on.
                let watermark = watermark.saturating_add(number as i64 / 2);
                Input::Watermark(place % channels, watermark)
            }
            Input::Status(place, status) => Input::Status(place % channels, status),
            Input::End(place, mode) => Input::End(place % channels, mode),
        };
        if let Input::End(place, _) | Input::Watermark(place, i64::MAX) = input {
            ended[place] = true;
        }
        let effects: Vec<_> = real.take(input).collect();
        assert_eq!(effects, model.take(input), "{input:?}");
        for effect in effects {
            match effect {
                WatermarkEffect::Watermark(watermark) => {
                    assert!(watermark > output.0, "it falls, or comes twice");
                    assert_eq!(output.1, WatermarkStatus::Active, "it is not heeded");
                    output.0 = watermark;
                    seen.watermarks += 1;
                }
                WatermarkEffect::Status(status) => {
                    assert_ne!(status, output.1, "it comes twice");
                    output.1 = status;
                    seen.idle += u32::from(effect == IDLE);
                }
            }
            if effect == MAX {
                assert!(ended.iter().all(|&ended| ended), "it comes out of nothing");
                seen.ends += 1;
            }
        }
        assert_eq!(real.output(), output);
    }
    let idled = orders.map(|order| {
        let mut real = real.clone();
        for place in order.into_iter().filter(|&place| place < channels) {
            let _ = real.take(Input::Status(place, WatermarkStatus::Idle));
        }
        real.output()
    });
    assert_eq!(idled[0], idled[1], "the order matters");
}

fn lives<F: Face>(seed: u8, lags: bool, new: impl Fn(usize) -> F) {
    let config = ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let seen = core::cell::RefCell::new(Seen::default());
    let outcome = TestRunner::new_with_rng(config, rng).run(&life(), |life| {
        let model = Model::new(life.0, lags);
        live(new(life.0), model, life, &mut seen.borrow_mut());
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    let seen = seen.into_inner();
    let often = seen.watermarks > 1_000 && seen.idle > 100 && seen.ends > 10;
    assert!(often, "too few of {seen:?}");
}

#[test]
fn a_valve_does_what_a_plain_model_of_it_does() {
    lives(6, true, |channels| {
        StatusWatermarkValve::new(channels as u32)
    });
}

#[test]
fn a_combination_does_what_a_plain_model_of_it_does() {
    lives(7, false, CombinedWatermarkStatus::new);
}
