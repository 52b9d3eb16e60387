//! Keeping to the limit of occupied bins, by a function of the values alone.
//!
//! Of the lowest (highest) bins, just so many are joined that the limit is met: what is left are the `max_bins` highest
//! (lowest) bins that any value has had, the last of which holds everything beyond it. Joining pairs happens as often as it
//! takes for the number of bins that any value has had. More values can but add bins, so neither depends on the order in
//! which they come, nor on how they were spread over sketches that were merged.

use super::params::Collapse;
use super::store::{Slot, Store};

/// How many bins are occupied, and which of them takes what lies beyond it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    max_bins: usize,
    collapse: Collapse,
    /// Occupied bins: that many or fewer.
    at_most: usize,
    /// Whether `at_most` is exact.
    exact: bool,
    /// The last bin on the side that collapses, while that is known.
    last: Option<Slot>,
}

impl Limit {
    pub(super) fn new(max_bins: u32, collapse: Collapse) -> Self {
        Self { max_bins: max_bins as usize, collapse, at_most: 0, exact: true, last: None }
    }

    /// Adds to a bin that is not occupied; gives how often all bins were joined in pairs.
    pub(super) fn add_new(&mut self, store: &mut Store, slot: Slot, n: u64) -> u32 {
        if self.at_most >= self.max_bins && !self.exact {
            self.recount(store);
        }
        if self.at_most < self.max_bins {
            store.add(slot, n);
            self.at_most += 1;
            self.last = None;
            return 0;
        }
        if self.collapse == Collapse::Uniform {
            store.add(slot, n);
            self.at_most += 1;
            return self.enforce(store);
        }
        // There are bins: as many as the limit.
        let last = self.last.or_else(|| self.find_last(store)).unwrap_or(slot);
        let beyond = if self.collapse == Collapse::Highest { slot > last } else { slot < last };
        if beyond {
            store.add(last, n);
            self.last = Some(last);
        } else {
            store.add(slot, n);
            self.last = Some(self.join_last(store, last));
        }
        0
    }

    /// Takes note of a merge with so many bins or fewer, and keeps to the limit; gives how often all bins were joined in
    /// pairs.
    pub(super) fn merged(&mut self, store: &mut Store, other: &Self) -> u32 {
        self.at_most += other.at_most;
        self.exact = false;
        self.last = None;
        if self.at_most > self.max_bins {
            self.recount(store);
        }
        let above = self.at_most > self.max_bins;
        let shift = self.enforce(store);
        if above {
            // The windows had room for more bins than there are now.
            store.join(0);
        }
        shift
    }

    /// Keeps to the limit of bins that may be above it; gives how often all bins were joined in pairs.
    fn enforce(&mut self, store: &mut Store) -> u32 {
        let mut shift = 0;
        let mut last = self.find_last(store);
        while self.at_most > self.max_bins {
            if self.collapse == Collapse::Uniform {
                store.join(1);
                shift += 1;
                self.recount(store);
            } else if let Some(joined) = last {
                last = Some(self.join_last(store, joined));
                self.at_most -= 1;
            }
        }
        shift
    }

    /// Counts the bins; after they were changed by other hands, too.
    pub(super) fn recount(&mut self, store: &Store) {
        self.at_most = store.occupied();
        self.exact = true;
        self.last = None;
    }

    /// The last bin on the side that collapses.
    fn find_last(&self, store: &Store) -> Option<Slot> {
        if self.collapse == Collapse::Highest { store.highest() } else { store.lowest() }
    }

    /// Joins the last bin with the one before it, which it gives.
    fn join_last(&self, store: &mut Store, last: Slot) -> Slot {
        let next = if self.collapse == Collapse::Highest { store.below(last) } else { store.above(last) };
        let count = store.take(last);
        let next = next.unwrap_or(last);
        store.add(next, count);
        next
    }
}
