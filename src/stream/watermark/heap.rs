//! The least watermark of those channels that count: a heap that knows where each channel is in it.
//!
//! H1. `places[channel]` is where `channel` is among `entries`, or `NONE`: no channel is in twice.
//! H2. No entry is less than its parent, the one at `(place - 1) / 2`.

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry {
    watermark: i64,
    channel: u32,
}

#[derive(Clone, Debug)]
pub(super) struct WatermarkHeap {
    entries: Vec<Entry>,
    places: Vec<u32>,
}

impl WatermarkHeap {
    /// All of `channels` are in it, at `watermark`. Nothing is allocated later.
    pub(super) fn full(channels: u32, watermark: i64) -> Self {
        let entry = |channel| Entry { watermark, channel };
        Self {
            entries: (0..channels).map(entry).collect(),
            places: (0..channels).collect(),
        }
    }

    #[inline]
    pub(super) fn least(&self) -> Option<i64> {
        self.entries.first().map(|entry| entry.watermark)
    }

    #[inline]
    pub(super) fn contains(&self, channel: usize) -> bool {
        self.places[channel] != NONE
    }

    /// Puts in a channel that is not in.
    pub(super) fn insert(&mut self, channel: usize, watermark: i64) {
        debug_assert!(!self.contains(channel), "by H1 no channel is in twice");
        let place = self.entries.len();
        self.entries.push(Entry {
            watermark,
            channel: channel as u32,
        });
        self.rise(place);
    }

    /// Takes out a channel, if it is in.
    pub(super) fn remove(&mut self, channel: usize) {
        let place = core::mem::replace(&mut self.places[channel], NONE);
        if place == NONE {
            return;
        }
        let place = place as usize;
        self.entries.swap_remove(place);
        if place < self.entries.len() {
            // What was last comes from another branch: it may belong further up, or further down.
            let place = self.rise(place);
            self.sink(place);
        }
    }

    /// Raises the watermark of a channel that is in.
    #[inline]
    pub(super) fn raise(&mut self, channel: usize, watermark: i64) {
        let place = self.places[channel] as usize;
        debug_assert!(self.entries[place].watermark <= watermark);
        self.entries[place].watermark = watermark;
        if self.entries.len() > 1 {
            self.sink(place);
        }
    }

    /// Moves the entry at `place` up to where H2 holds, and gives that place.
    fn rise(&mut self, mut place: usize) -> usize {
        let entry = self.entries[place];
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.entries[parent].watermark <= entry.watermark {
                break;
            }
            self.put(place, self.entries[parent]);
            place = parent;
        }
        self.put(place, entry);
        place
    }

    /// Moves the entry at `place` down to where H2 holds.
    fn sink(&mut self, mut place: usize) {
        let entry = self.entries[place];
        loop {
            let mut child = 2 * place + 1;
            if child >= self.entries.len() {
                break;
            }
            let other = child + 1;
            if other < self.entries.len()
                && self.entries[other].watermark < self.entries[child].watermark
            {
                child = other;
            }
            if entry.watermark <= self.entries[child].watermark {
                break;
            }
            self.put(place, self.entries[child]);
            place = child;
        }
        self.put(place, entry);
    }

    #[inline]
    fn put(&mut self, place: usize, entry: Entry) {
        self.entries[place] = entry;
        self.places[entry.channel as usize] = place as u32;
    }
}
