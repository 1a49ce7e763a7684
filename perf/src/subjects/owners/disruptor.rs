//! The disruptor for many producers, with an enum as its event: an event handler on a thread of its
//! own, or, for an owner that has something else to do, an event poller.

use super::{Owner, count};
use crate::case::{Case, Part};
use crate::measure::turns::{self, timed};
use crate::measure::{Effort, NoThread, Reading, Site, mail};
use crate::owner::{Event, Owned, Poster, Seat, Serving};
use crate::registry::RoundError;
use disruptor::{
    BusySpinWithSpinLoopHint, MultiProducer, Polling, Producer, SingleConsumerBarrier,
    build_multi_producer,
};
use std::cell::Cell;

pub(super) struct DisruptorEnum;

/// Slots that it has at least.
const SLOTS_MIN: usize = 64;

impl Poster for MultiProducer<Event, SingleConsumerBarrier> {
    #[inline]
    fn post(&mut self, first: u64, second: u64) {
        self.publish(|event| *event = Event::Take(first, second));
    }
}

impl Serving for DisruptorEnum {
    type Poster<O: Owned> = MultiProducer<Event, SingleConsumerBarrier>;

    fn serve<O: Owned, R>(
        &self,
        seat: &Seat<'_>,
        mut owned: O,
        body: impl FnOnce(Vec<Self::Poster<O>>) -> Result<R, NoThread>,
    ) -> Result<R, NoThread> {
        let slots = seat.case.capacity.max(SLOTS_MIN);
        let builder = build_multi_producer(slots, Event::default, BusySpinWithSpinLoopHint);
        let Some(work) = seat.work else {
            let cpus = seat.site.cpus.clone();
            let threads = seat.case.threads();
            let start = move || {
                cpus.pin(0, threads);
                owned
            };
            let handle = |owned: &mut O, event: &Event, _, _| event.run(owned);
            let producer = builder.handle_events_and_state_with(handle, start).build();
            let posters = vec![producer; seat.case.producers];
            // When the last of them is dropped, it waits for the end of the thread.
            return body(posters);
        };
        let (mut poller, builder) = builder.new_event_poller();
        let posters = vec![builder.build(); seat.case.producers];
        let owner = move || {
            loop {
                match poller.poll() {
                    Ok(mut events) => (&mut events).for_each(|event| event.run(&mut owned)),
                    Err(Polling::NoEvents) => work.work(),
                    Err(Polling::Shutdown) => return,
                }
            }
        };
        seat.beside(owner, posters, body)
    }
}

impl Owner for DisruptorEnum {
    const NAME: &'static str = "disruptor-enum";
    const ABOUT: &'static str = "disruptor for many producers, enum events";
    const PACKAGE: &'static str = "disruptor";
    const BLOCKS: bool = false;
    const PARTS: &'static [Part] = &[Part::AcrossCores, Part::Busy, Part::Turn, Part::Yield];
    const REFERENCE: &'static str = "mailring-enum";

    fn round(
        site: &Site,
        case: &Case,
        part: Part,
        effort: Effort,
    ) -> Result<Vec<Reading>, RoundError> {
        match part {
            Part::Turn | Part::Yield => turns::each(site, count(effort), |turns| {
                let slots = case.capacity.max(SLOTS_MIN);
                let (mut poller, builder) =
                    build_multi_producer(slots, Event::default, BusySpinWithSpinLoopHint)
                        .new_event_poller();
                let _producer = builder.build();
                let found = Cell::new(0);
                timed(site, || {
                    for _ in 0..turns {
                        if let Ok(mut events) = poller.poll() {
                            found.set(found.get() + (&mut events).count());
                        }
                    }
                })
            }),
            _ => mail::served(&Self, site, case, effort),
        }
    }
}
