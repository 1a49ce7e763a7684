//! Which of many key groups has the first timer.

/// A tournament of the groups' first times: the root knows the winner, and a change is played up
/// from its leaf.
#[derive(Debug)]
pub(super) struct GroupOrder {
    /// Each group's first time.
    times: Vec<Option<i64>>,
    /// The winner below each node: the root is at 1, a node's children at twice its place and the
    /// one after. A leaf stands for a group; the leaves beyond the last group are never entered.
    winners: Vec<usize>,
}

impl GroupOrder {
    /// `groups` groups without timers.
    pub(super) fn new(groups: usize) -> Self {
        let leaves = groups.next_power_of_two();
        let mut order = Self {
            times: vec![None; groups],
            winners: vec![0; 2 * leaves],
        };
        for leaf in 0..leaves {
            order.winners[leaves + leaf] = leaf;
        }
        for node in (1..leaves).rev() {
            order.winners[node] = order.winner_of(node);
        }
        order
    }

    /// The group with the first timer, and its time.
    pub(super) fn first(&self) -> Option<(usize, i64)> {
        let group = self.winners[1];
        let time = *self.times.get(group)?;
        time.map(|at_ms| (group, at_ms))
    }

    /// The first timer of `group` is at `at_ms` now.
    pub(super) fn set(&mut self, group: usize, at_ms: Option<i64>) {
        if self.times[group] == at_ms {
            return;
        }
        self.times[group] = at_ms;
        let mut node = (self.winners.len() / 2 + group) / 2;
        while node > 0 {
            self.winners[node] = self.winner_of(node);
            node /= 2;
        }
    }

    fn winner_of(&self, node: usize) -> usize {
        let (one, other) = (self.winners[2 * node], self.winners[2 * node + 1]);
        let time = |group: usize| self.times.get(group).copied().flatten();
        match (time(one), time(other)) {
            (None, Some(_)) => other,
            (Some(first), Some(second)) if second < first => other,
            _ => one,
        }
    }
}
