//! Bins of both signs and zero, in the order of their values.

use super::bins::Bins;
use super::query::Place;

/// Which bin: of the negative numbers, of zero or of the positive ones. Ordered by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot(i64);

/// A slot, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Negative(u32),
    Zero,
    Positive(u32),
}

impl Slot {
    pub(super) const ZERO: Self = Self(0);

    pub(super) fn positive(key: u32) -> Self {
        Self(i64::from(key) + 1)
    }

    pub(super) fn negative(key: u32) -> Self {
        Self(-i64::from(key) - 1)
    }

    pub(super) fn side(self) -> Side {
        match self.0 {
            0 => Side::Zero,
            1.. => Side::Positive((self.0 - 1) as u32),
            _ => Side::Negative((-1 - self.0) as u32),
        }
    }
}

/// The bins of a sketch.
#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    pub(super) positive: Bins,
    pub(super) negative: Bins,
    pub(super) zero: u64,
}

impl Store {
    /// Adds to a bin if it is occupied; whether it is.
    pub(super) fn add_to_occupied(&mut self, slot: Slot, n: u64) -> bool {
        let count = match slot.side() {
            Side::Negative(key) => self.negative.get_mut(key),
            Side::Zero => Some(&mut self.zero).filter(|zero| **zero > 0),
            Side::Positive(key) => self.positive.get_mut(key),
        };
        count.map(|count| *count += n).is_some()
    }

    /// Adds to a bin, occupied or not; `n` is not 0.
    pub(super) fn add(&mut self, slot: Slot, n: u64) {
        match slot.side() {
            Side::Negative(key) => self.negative.add(key, n),
            Side::Zero => self.zero += n,
            Side::Positive(key) => self.positive.add(key, n),
        }
    }

    /// Empties a bin; what it held.
    pub(super) fn take(&mut self, slot: Slot) -> u64 {
        match slot.side() {
            Side::Negative(key) => self.negative.take(key),
            Side::Zero => core::mem::take(&mut self.zero),
            Side::Positive(key) => self.positive.take(key),
        }
    }

    /// The occupied bins with their counts, in the order of their values.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (Slot, u64)> + '_ {
        let zero = Some((Slot::ZERO, self.zero)).filter(|&(_, count)| count > 0);
        let negative = self.negative.iter().rev().map(|(key, count)| (Slot::negative(key), count));
        negative.chain(zero).chain(self.positive.iter().map(|(key, count)| (Slot::positive(key), count)))
    }

    /// The place of an order statistic: as [`super::query::find`], without a stop at every bin.
    pub(super) fn find(&self, index: u64) -> Option<Place> {
        let mut below = 0;
        if let Some((key, count)) = self.negative.find(index, &mut below, true) {
            return Some(Place { slot: Slot::negative(key), below, count });
        }
        if index - below < self.zero {
            return Some(Place { slot: Slot::ZERO, below, count: self.zero });
        }
        below += self.zero;
        let (key, count) = self.positive.find(index, &mut below, false)?;
        Some(Place { slot: Slot::positive(key), below, count })
    }

    /// The lowest occupied bin.
    pub(super) fn lowest(&self) -> Option<Slot> {
        self.iter().next().map(|(slot, _)| slot)
    }

    /// The highest occupied bin.
    pub(super) fn highest(&self) -> Option<Slot> {
        self.iter().next_back().map(|(slot, _)| slot)
    }

    /// The next occupied bin above one.
    pub(super) fn above(&self, slot: Slot) -> Option<Slot> {
        let positive = || self.positive.ends().map(|(first, _)| Slot::positive(first));
        let zero = || Some(Slot::ZERO).filter(|_| self.zero > 0);
        match slot.side() {
            Side::Negative(key) => {
                self.negative.below(key).map(Slot::negative).or_else(zero).or_else(positive)
            }
            Side::Zero => positive(),
            Side::Positive(key) => self.positive.above(key).map(Slot::positive),
        }
    }

    /// The next occupied bin below one.
    pub(super) fn below(&self, slot: Slot) -> Option<Slot> {
        let negative = || self.negative.ends().map(|(first, _)| Slot::negative(first));
        let zero = || Some(Slot::ZERO).filter(|_| self.zero > 0);
        match slot.side() {
            Side::Positive(key) => {
                self.positive.below(key).map(Slot::positive).or_else(zero).or_else(negative)
            }
            Side::Zero => negative(),
            Side::Negative(key) => self.negative.above(key).map(Slot::negative),
        }
    }

    /// How many bins are occupied, by counting them.
    pub(super) fn occupied(&self) -> usize {
        self.negative.occupied() + self.positive.occupied() + usize::from(self.zero > 0)
    }

    /// Adds the bins of another, joined in pairs `shift` times.
    pub(super) fn merge(&mut self, other: &Self, shift: u32) {
        self.negative.merge(&other.negative, shift);
        self.positive.merge(&other.positive, shift);
        self.zero += other.zero;
    }

    /// Joins bins in pairs, `shift` times.
    pub(super) fn join(&mut self, shift: u32) {
        self.negative.join(shift);
        self.positive.join(shift);
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.negative.size_bytes() + self.positive.size_bytes()
    }
}
