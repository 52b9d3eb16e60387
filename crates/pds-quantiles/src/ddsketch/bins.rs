//! Counted bins of one sign: a window of counters while that is no waste, else a map of the occupied bins.
//!
//! Which of the two is a matter of memory and speed alone: neither answers nor bytes depend on it.

use alloc::collections::BTreeMap;
use alloc::{vec, vec::Vec};
use core::ops::RangeInclusive;

/// A window of so many counters is made whatever it holds: 32 KiB.
const SMALL_SPAN: u64 = 4096;

/// A wider window has at most so many counters for an occupied bin.
const SPARSITY: u64 = 2;

/// The bytes of an entry of a map in nodes that are half full, with their share of inner nodes.
const MAP_ENTRY_BYTES: usize = 32;

/// Counters of the first window.
const FIRST_SPAN: u64 = 64;

#[derive(Clone, Debug, Default)]
pub(super) struct Bins {
    /// Counters of the keys from `first` on; empty while `map` is in use.
    window: Vec<u64>,
    first: u32,
    /// Empty while `window` is in use. No count is 0.
    map: BTreeMap<u32, u64>,
}

/// Whether so many occupied bins over a span of keys are kept in a window.
fn is_dense(span: u64, occupied: u64) -> bool {
    span <= SMALL_SPAN || span <= SPARSITY * occupied
}

/// Bytes of all bins at most, if at most `occupied` are. Two signs, each with a window grown by half.
pub(super) fn max_size_bytes(occupied: usize) -> usize {
    let window = 2 * SMALL_SPAN as usize + SPARSITY as usize * occupied;
    (8 * (window + window / 2)).max(MAP_ENTRY_BYTES * occupied)
}

impl Bins {
    /// Room for bins over a span of keys, so many of them occupied: filled by [`Bins::put`].
    pub(super) fn with_span(first: u32, span: u32, occupied: u32) -> Self {
        if is_dense(span.into(), occupied.into()) {
            Self { window: vec![0; span as usize], first, map: BTreeMap::new() }
        } else {
            Self::default()
        }
    }

    /// Adds to a bin of the span that [`Bins::with_span`] was given.
    pub(super) fn put(&mut self, key: u32, n: u64) {
        match self.window.get_mut(key.wrapping_sub(self.first) as usize) {
            Some(count) => *count += n,
            None => *self.map.entry(key).or_default() += n,
        }
    }

    /// The counter of an occupied bin in the window: all that most insertions need.
    #[inline]
    pub(super) fn hit(&mut self, key: u32) -> Option<&mut u64> {
        let count = self.window.get_mut(key.wrapping_sub(self.first) as usize)?;
        if *count == 0 { None } else { Some(count) }
    }

    /// The counter of an occupied bin.
    pub(super) fn get_mut(&mut self, key: u32) -> Option<&mut u64> {
        if self.map.is_empty() { self.hit(key) } else { self.map.get_mut(&key) }
    }

    /// Adds to a bin, occupied or not; `n` is not 0, and the sum in range.
    pub(super) fn add(&mut self, key: u32, n: u64) {
        if let Some(count) = self.window.get_mut(key.wrapping_sub(self.first) as usize) {
            *count += n;
        } else if self.map.is_empty() && self.widen(key..=key, self.occupied() as u64 + 1) {
            self.window[(key - self.first) as usize] += n;
        } else {
            *self.map.entry(key).or_default() += n;
            self.unmap_if_dense();
        }
    }

    /// Empties a bin; what it held.
    pub(super) fn take(&mut self, key: u32) -> u64 {
        match self.window.get_mut(key.wrapping_sub(self.first) as usize) {
            Some(count) => core::mem::take(count),
            None => self.map.remove(&key).unwrap_or(0),
        }
    }

    /// The occupied bins, ascending: key and count.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, u64)> + '_ {
        let first = self.first;
        let window = self.window.iter().enumerate().filter(|&(_, &count)| count > 0);
        let window = window.map(move |(i, &count)| (first + i as u32, count));
        window.chain(self.map.iter().map(|(&key, &count)| (key, count)))
    }

    /// The bin of the number `index` of the counted values, from the least key or from the greatest; `below`, values before
    /// these bins, grows by those before that bin.
    pub(super) fn find(&self, index: u64, below: &mut u64, descending: bool) -> Option<(u32, u64)> {
        let mut is_here = |count: u64| {
            let here = index - *below < count;
            *below += if here { 0 } else { count };
            here
        };
        let here = |i: usize| (self.first + i as u32, self.window[i]);
        let mapped = |(&key, &count): (&u32, &u64)| (key, count);
        if descending {
            if let Some(i) = self.window.iter().rposition(|&count| is_here(count)) {
                return Some(here(i));
            }
            self.map.iter().rev().find(|&(_, &count)| is_here(count)).map(mapped)
        } else {
            if let Some(i) = self.window.iter().position(|&count| is_here(count)) {
                return Some(here(i));
            }
            self.map.iter().find(|&(_, &count)| is_here(count)).map(mapped)
        }
    }

    /// The next occupied bin above a key.
    pub(super) fn above(&self, key: u32) -> Option<u32> {
        let start = (u64::from(key) + 1).saturating_sub(self.first.into()) as usize;
        let found = self.window.iter().skip(start).position(|&count| count > 0);
        let mapped = || self.map.range(key..).map(|(&other, _)| other).find(|&other| other > key);
        found.map(|i| self.first + (start + i) as u32).or_else(mapped)
    }

    /// The next occupied bin below a key.
    pub(super) fn below(&self, key: u32) -> Option<u32> {
        let end = (key.saturating_sub(self.first) as usize).min(self.window.len());
        let found = self.window[..end].iter().rposition(|&count| count > 0);
        found
            .map(|i| self.first + i as u32)
            .or_else(|| self.map.range(..key).next_back().map(|(&other, _)| other))
    }

    /// The first and the last occupied bin.
    pub(super) fn ends(&self) -> Option<(u32, u32)> {
        let mut keys = self.iter().map(|(key, _)| key);
        let first = keys.next()?;
        Some((first, keys.next_back().unwrap_or(first)))
    }

    /// How many bins are occupied, by counting them.
    pub(super) fn occupied(&self) -> usize {
        self.window.iter().filter(|&&count| count > 0).count() + self.map.len()
    }

    /// Adds the bins of another, joined in pairs `shift` times.
    pub(super) fn merge(&mut self, other: &Self, shift: u32) {
        if shift == 0 && !other.window.is_empty() && self.merge_window(other) {
            return;
        }
        for (key, count) in other.iter() {
            self.add(key >> shift, count);
        }
    }

    /// Joins bins in pairs, `shift` times.
    pub(super) fn join(&mut self, shift: u32) {
        let mut joined = Self::default();
        joined.merge(self, shift);
        *self = joined;
    }

    pub(super) fn size_bytes(&self) -> usize {
        size_of::<u64>() * self.window.capacity() + MAP_ENTRY_BYTES * self.map.len()
    }

    /// Adds counter by counter, if there is or can be a window that takes them all.
    fn merge_window(&mut self, other: &Self) -> bool {
        if let Some(mine) = self.window_over(other.first, other.window.len()) {
            add_all(mine, &other.window);
            return true;
        }
        let Some((low, high)) = other.ends() else { return true };
        let (from, len) = ((low - other.first) as usize, (high - low) as usize + 1);
        let theirs = &other.window[from..from + len];
        if self.window_over(low, len).is_none() {
            let occupied = self.occupied().max(other.occupied()) as u64;
            if !self.map.is_empty() || !self.widen(low..=high, occupied) {
                return false;
            }
        }
        let Some(mine) = self.window_over(low, len) else { return false };
        add_all(mine, theirs);
        true
    }

    fn window_over(&mut self, first: u32, len: usize) -> Option<&mut [u64]> {
        let start = first.checked_sub(self.first)? as usize;
        self.window.get_mut(start..start.checked_add(len)?)
    }

    /// Makes the window hold these keys, where so many bins or more are about to be occupied; false if they go into a
    /// map, into which what there is has gone then.
    fn widen(&mut self, keys: RangeInclusive<u32>, occupied: u64) -> bool {
        let (mut low, mut high) = (u64::from(*keys.start()), u64::from(*keys.end()));
        let ends = self.ends();
        let (grows_down, grows_up) = match ends {
            None => (true, true),
            Some((first, last)) => (low < first.into(), high > last.into()),
        };
        if let Some((first, last)) = ends {
            (low, high) = (low.min(first.into()), high.max(last.into()));
        }
        let span = high - low + 1;
        if !is_dense(span, occupied) {
            let window = core::mem::take(&mut self.window);
            let counted = (self.first..).zip(window).filter(|&(_, count)| count > 0);
            self.map.extend(counted);
            return false;
        }
        // Half as much again, on the side it grows to: the next bins are likely there.
        let slack = (span / 2).max(FIRST_SPAN / 2);
        let (down, up) = match (grows_down, grows_up) {
            (true, true) => (slack / 2, slack / 2),
            (true, false) => (slack, 0),
            _ => (0, slack),
        };
        let (low, high) = (low.saturating_sub(down), (high + up).min(u32::MAX.into()));
        let mut window = vec![0; (high - low + 1) as usize];
        if let Some((first, last)) = ends {
            let (from, to) = ((first - self.first) as usize, (last - self.first) as usize);
            let at = (u64::from(first) - low) as usize;
            window[at..=at + to - from].copy_from_slice(&self.window[from..=to]);
        }
        (self.window, self.first) = (window, low as u32);
        true
    }

    /// Back to a window, once the gaps have filled.
    fn unmap_if_dense(&mut self) {
        let (Some((&low, _)), Some((&high, _))) = (self.map.first_key_value(), self.map.last_key_value())
        else {
            return;
        };
        let span = high - low + 1;
        // Later than it would be a map again, lest it changes with every insertion.
        if is_dense(span.into(), self.map.len() as u64 * 3 / 4) {
            let mut window = vec![0; span as usize];
            for (key, count) in core::mem::take(&mut self.map) {
                window[(key - low) as usize] = count;
            }
            (self.window, self.first) = (window, low);
        }
    }
}

/// Sums in range: they are parts of a count that is.
fn add_all(mine: &mut [u64], theirs: &[u64]) {
    for (mine, &theirs) in mine.iter_mut().zip(theirs) {
        *mine = mine.wrapping_add(theirs);
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    fn keys() -> impl Strategy<Value = Vec<u32>> {
        let some = prop_oneof![0..100u32, 0..20_000u32, 0..=u32::MAX / 2, 1_000_000..1_004_000u32];
        prop_oneof![prop::collection::vec(some, 0..50), prop::collection::vec(0..9000u32, 0..6000)]
    }

    fn made(keys: &[u32]) -> (Bins, BTreeMap<u32, u64>) {
        let (mut bins, mut model) = (Bins::default(), BTreeMap::new());
        for &key in keys {
            bins.add(key, 3);
            *model.entry(key).or_default() += 3;
        }
        (bins, model)
    }

    fn check(bins: &Bins, model: &BTreeMap<u32, u64>) {
        assert!(bins.iter().eq(model.iter().map(|(&key, &count)| (key, count))));
        assert!(bins.iter().rev().eq(model.iter().rev().map(|(&key, &count)| (key, count))));
        assert_eq!(bins.occupied(), model.len());
        assert!(
            bins.size_bytes() <= max_size_bytes(model.len()),
            "{} bytes of {}",
            bins.size_bytes(),
            model.len()
        );
        assert!(bins.window.is_empty() || bins.map.is_empty());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn bins_are_a_map_of_counts(keys in keys(), others in keys(), taken in keys(), shift in 0..5u32) {
            let (mut bins, mut model) = made(&keys);
            check(&bins, &model);
            for &key in keys.iter().chain(&taken) {
                prop_assert_eq!(bins.get_mut(key).copied(), model.get(&key).copied());
                prop_assert_eq!(bins.below(key), model.range(..key).next_back().map(|(&key, _)| key));
                prop_assert_eq!(bins.above(key), model.range(key + 1..).next().map(|(&key, _)| key));
            }
            let (other, other_model) = made(&others);
            bins.merge(&other, shift);
            for (key, count) in other_model {
                *model.entry(key >> shift).or_default() += count;
            }
            check(&bins, &model);
            for key in taken {
                prop_assert_eq!(bins.take(key), model.remove(&key).unwrap_or(0));
            }
            prop_assert!(bins.iter().eq(model.iter().map(|(&key, &count)| (key, count))));
            bins.join(shift);
            let mut joined = BTreeMap::new();
            for (key, count) in model {
                *joined.entry(key >> shift).or_default() += count;
            }
            check(&bins, &joined);
        }
    }
}
