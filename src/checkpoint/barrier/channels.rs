//! The channels of a task, those of all gates in one row, and sets of them.

use crate::stream::ChannelId;

/// Some of a task's channels, by their places in the row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChannelSet {
    words: Box<[u64]>,
}

impl ChannelSet {
    /// None of `channels` channels.
    fn empty(channels: usize) -> Self {
        Self {
            words: vec![0; channels.div_ceil(64)].into(),
        }
    }

    pub(super) fn insert(&mut self, channel: usize) {
        self.words[channel / 64] |= 1 << (channel % 64);
    }

    pub(super) fn remove(&mut self, channel: usize) {
        self.words[channel / 64] &= !(1 << (channel % 64));
    }

    pub(super) fn contains(&self, channel: usize) -> bool {
        self.words[channel / 64] & (1 << (channel % 64)) != 0
    }

    pub(super) fn len(&self) -> usize {
        let words = self.words.iter();
        words.map(|word| word.count_ones() as usize).sum()
    }

    /// Whether each of these is one of `others`.
    pub(super) fn is_subset(&self, others: &Self) -> bool {
        let mut words = self.words.iter().zip(&others.words);
        words.all(|(own, others)| own & !others == 0)
    }
}

/// All channels of a task, and which of them have ended.
#[derive(Clone, Debug)]
pub(super) struct Channels {
    /// In the order of their gates.
    ids: Box<[ChannelId]>,
    /// Where each gate's channels begin in the row.
    firsts: Box<[usize]>,
    ended: ChannelSet,
}

impl Channels {
    /// As many of each gate as `per_gate` says.
    ///
    /// # Panics
    /// With more than 65,536 gates.
    pub(super) fn new(per_gate: &[u32]) -> Self {
        let mut ids = Vec::new();
        let mut firsts = Vec::with_capacity(per_gate.len());
        for (gate, &channels) in per_gate.iter().enumerate() {
            let gate = u16::try_from(gate).expect("a gate's number is below 65,536");
            firsts.push(ids.len());
            ids.extend((0..channels).map(|channel| ChannelId { gate, channel }));
        }
        Self {
            ended: ChannelSet::empty(ids.len()),
            ids: ids.into(),
            firsts: firsts.into(),
        }
    }

    /// The place of a channel in the row.
    ///
    /// # Panics
    /// Where there is no such channel.
    fn place(&self, id: ChannelId) -> usize {
        let first = self.firsts.get(usize::from(id.gate));
        let place = first.and_then(|first| first.checked_add(id.channel as usize));
        match place {
            Some(place) if self.ids.get(place) == Some(&id) => place,
            _ => panic!("gate {} has no channel {}", id.gate, id.channel),
        }
    }

    /// The place of a channel by which something came.
    ///
    /// # Panics
    /// Where there is no such channel, or it has ended: it would count for what it is not waited for.
    pub(super) fn place_of_open(&self, id: ChannelId) -> usize {
        let place = self.place(id);
        let ChannelId { gate, channel } = id;
        assert!(
            !self.ended.contains(place),
            "channel {channel} of gate {gate} has ended"
        );
        place
    }

    /// The channels of a set, in order.
    pub(super) fn of<'a>(&'a self, set: &'a ChannelSet) -> impl Iterator<Item = ChannelId> + 'a {
        let ids = self.ids.iter().enumerate();
        ids.filter(|(place, _)| set.contains(*place))
            .map(|(_, id)| *id)
    }

    /// The places of those that have not ended.
    pub(super) fn each_open(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.ids.len()).filter(|place| !self.ended.contains(*place))
    }

    /// How many have not ended.
    pub(super) fn open(&self) -> usize {
        self.ids.len() - self.ended.len()
    }

    pub(super) fn end(&mut self, place: usize) {
        self.ended.insert(place);
    }

    /// None of them.
    pub(super) fn none(&self) -> ChannelSet {
        ChannelSet::empty(self.ids.len())
    }
}

#[test]
fn the_channels_of_all_gates_stand_in_one_row() {
    let id = |gate, channel| ChannelId { gate, channel };
    let mut channels = Channels::new(&[2, 0, 70]);
    let places = [id(0, 0), id(0, 1), id(2, 0), id(2, 69)].map(|id| channels.place(id));
    assert_eq!(places, [0, 1, 2, 71]);

    let mut set = channels.none();
    for channel in [71, 1, 71] {
        set.insert(channel);
    }
    assert_eq!((set.len(), set.contains(2)), (2, false));
    let ids: Vec<_> = channels.of(&set).collect();
    assert_eq!(ids, [id(0, 1), id(2, 69)]);

    channels.end(71);
    assert_eq!(channels.open(), 71);
    assert!(channels.each_open().eq(0..71));
    assert!(!set.is_subset(&channels.ended));
    set.remove(1);
    set.remove(1);
    assert!(set.is_subset(&channels.ended));
}

#[test]
#[should_panic(expected = "gate 0 has no channel 1")]
fn a_channel_of_the_next_gate_is_not_of_this_one() {
    let channels = Channels::new(&[1, 2]);
    let _ = channels.place(ChannelId {
        gate: 0,
        channel: 1,
    });
}
