//! Markers: letters that always fit, and are pending at most once each.

use super::bell::Bell;
use super::envelope::{Envelope, MarkerId};
use super::error::TooManyMarkers;
use super::shared::URGENT;
use crate::letter::{IntoOutcome, Mail, Outcome, Priority};
use crate::ring::mpsc::{Consumer, Reservation, ReservedPost};
use crate::sync::{Arc, Tally};

/// Posts one of a mailbox's markers, from any thread.
///
/// A post writes no payload, allocates nothing, never waits, and always fits. While the marker is
/// pending further posts cost one locked instruction each and are run for by the run to come, which
/// sees what every poster wrote before.
///
/// A pending marker keeps its place in line: letters that were posted between its first post and a
/// later one are run after it. What a run is to find done, write to memory; what it is to come
/// behind, post as a letter.
///
/// The handle does not keep the mailbox open.
pub struct Marker<O, L = Mail<O>> {
    reservation: Reservation<Envelope<O, L>>,
    /// Where it is urgent: to end the owner's sleep.
    bell: Option<Bell<O, L>>,
    id: MarkerId,
}

/// What became of a marker's post.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "a closed mailbox runs no markers"]
pub enum MarkerPost {
    /// It is pending.
    Posted,
    /// It was pending already; that run stands for this post too.
    AlreadyPending,
    /// The mailbox takes no more letters.
    Closed,
}

impl<O, L> Marker<O, L> {
    /// Makes the marker pending.
    #[inline]
    pub fn post(&self) -> MarkerPost {
        match self.reservation.post(Envelope::Marker(self.id)) {
            Ok(ReservedPost::Posted) => {
                if let Some(bell) = &self.bell {
                    bell.ring(URGENT);
                }
                MarkerPost::Posted
            }
            Ok(ReservedPost::AlreadyPending(_)) => MarkerPost::AlreadyPending,
            Err(_) => MarkerPost::Closed,
        }
    }

    /// Which marker it is.
    #[must_use]
    pub fn id(&self) -> MarkerId {
        self.id
    }
}

impl<O, L> Clone for Marker<O, L> {
    fn clone(&self) -> Self {
        Self {
            reservation: self.reservation.clone(),
            bell: self.bell.clone(),
            id: self.id,
        }
    }
}

impl<O, L> core::fmt::Debug for Marker<O, L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Marker")
            .field("id", &self.id.0)
            .field("urgent", &self.bell.is_some())
            .finish_non_exhaustive()
    }
}

/// How a marker is registered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkerOptions {
    urgent: bool,
    priority: Priority,
}

impl MarkerOptions {
    /// An ordinary marker of the lowest priority.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// It goes through the urgent lane: it overtakes ordinary letters.
    #[must_use]
    pub fn urgent(mut self) -> Self {
        self.urgent = true;
        self
    }

    /// What priority it has for yields; [`Priority::MIN`] without this.
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }
}

/// Posts and runs of one marker since it was registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MarkerCounters {
    /// What it was registered as.
    pub name: &'static str,
    /// How often it was taken, to be run.
    pub runs: u64,
    /// How many posts found it pending, and were run for by another post's run.
    pub coalesced: u64,
}

/// Counted by the owner, read by anybody.
#[derive(Debug, Default)]
pub(super) struct Runs {
    runs: Tally,
    coalesced: Tally,
}

/// What a marker does.
pub(crate) type Callback<O> = Box<dyn FnMut(&mut O) -> Outcome + Send>;

struct Entry<O> {
    name: &'static str,
    options: MarkerOptions,
    reservation: usize,
    /// Out while it runs.
    callback: Option<Callback<O>>,
    runs: Arc<Runs>,
}

/// The markers of one mailbox, on the owner's side.
pub(super) struct Markers<O> {
    entries: Vec<Entry<O>>,
    /// How many can be registered in the ordinary and in the urgent lane.
    max: [usize; 2],
    /// Whether the end was met (M6).
    has_ended: bool,
}

impl<O> Markers<O> {
    pub(super) fn new(max: [usize; 2]) -> Self {
        Self {
            entries: Vec::new(),
            max,
            has_ended: false,
        }
    }

    pub(super) fn register<L, R: IntoOutcome>(
        &mut self,
        name: &'static str,
        options: MarkerOptions,
        lanes: [&Consumer<Envelope<O, L>>; 2],
        bell: &Bell<O, L>,
        mut callback: impl FnMut(&mut O) -> R + Send + 'static,
    ) -> Result<Marker<O, L>, TooManyMarkers> {
        let lane = usize::from(options.urgent);
        let too_many = TooManyMarkers {
            max: self.max[lane],
        };
        let index = self
            .entries
            .iter()
            .filter(|entry| entry.options.urgent == options.urgent)
            .count();
        let reservation = lanes[lane].reservation(index).ok_or(too_many)?;
        let id = MarkerId(u32::try_from(self.entries.len()).map_err(|_| too_many)?);
        self.entries.push(Entry {
            name,
            options,
            reservation: index,
            callback: Some(Box::new(move |owner| callback(owner).into_outcome())),
            runs: Arc::new(Runs::default()),
        });
        Ok(Marker {
            reservation,
            bell: options.urgent.then(|| bell.clone()),
            id,
        })
    }

    /// Whether it is urgent, and its reservation.
    pub(super) fn place(&self, id: MarkerId) -> (bool, usize) {
        let entry = &self.entries[id.index()];
        (entry.options.urgent, entry.reservation)
    }

    /// How many urgent ones can be registered.
    pub(super) fn urgent_max(&self) -> usize {
        self.max[1]
    }

    pub(super) fn priority(&self, id: MarkerId) -> Priority {
        self.entries[id.index()].options.priority
    }

    pub(super) fn name(&self, id: MarkerId) -> Option<&'static str> {
        self.entries.get(id.index()).map(|entry| entry.name)
    }

    /// It is about to be run for `posts` posts.
    pub(super) fn count(&self, id: MarkerId, posts: u64) {
        let runs = &self.entries[id.index()].runs;
        runs.runs.add(1);
        runs.coalesced.add(posts.saturating_sub(1));
    }

    /// At the end of both lanes, once (M6): the markers whose letter did not come although a post
    /// may have been told that it would, but for those that are `left`, which has theirs.
    #[cold]
    pub(super) fn owed_at_end<L>(
        &mut self,
        lanes: [&Consumer<Envelope<O, L>>; 2],
        left: &[MarkerId],
    ) -> Vec<MarkerId> {
        if core::mem::replace(&mut self.has_ended, true) {
            return Vec::new();
        }
        let ids = (0..).map(MarkerId).zip(&self.entries);
        let owed = ids.filter(|(id, entry)| {
            let lane = lanes[usize::from(entry.options.urgent)];
            lane.unsettled(entry.reservation) > 1 && !left.contains(id)
        });
        owed.map(|(id, _)| id).collect()
    }

    /// Takes what the marker does out, to be run; `None` while it is out.
    pub(super) fn take_callback(&mut self, id: MarkerId) -> Option<Callback<O>> {
        self.entries.get_mut(id.index())?.callback.take()
    }

    pub(super) fn put_back(&mut self, id: MarkerId, callback: Callback<O>) {
        self.entries[id.index()].callback = Some(callback);
    }

    pub(super) fn counters(&self) -> impl Iterator<Item = MarkerCounters> {
        self.entries.iter().map(|entry| MarkerCounters {
            name: entry.name,
            runs: entry.runs.runs.get(),
            coalesced: entry.runs.coalesced.get(),
        })
    }
}
