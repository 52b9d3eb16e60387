//! The set of retained hashes: open addressing with a bound on probing.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

/// Marks a free slot; hash 0 counts as 1, so no hash has this value.
const FREE: u64 = 0;

/// 2^64 over the golden ratio, odd: runs of hashes, and hashes that end in zeros, are spread over the slots.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// How many slots are looked at. Near uniform hashes hardly ever need as many at three quarters full; hashes that somebody chose to
/// meet go to a tree beyond it, so that no input makes insertion take more than logarithmic time.
const MAX_PROBES: usize = 128;

/// The least table.
const MIN_SLOTS: usize = 16;

/// A set of hashes other than 0, of a number of slots that only rebuilding changes.
#[derive(Clone)]
pub(crate) struct Table {
    slots: Box<[u64]>,
    shift: u32,
    spilled: BTreeSet<u64>,
    len: usize,
}

impl Table {
    /// Slots of the table of a sketch of `k` hashes that is no longer exact: it is trimmed when it holds 1.5 k.
    pub(crate) const fn max_slots(k: usize) -> usize {
        2 * k
    }

    /// An empty table with room for more than `len` hashes.
    pub(crate) fn for_len(len: usize) -> Self {
        Self::with_slots((len * 4 / 3 + 1).next_power_of_two().max(MIN_SLOTS))
    }

    fn with_slots(slots: usize) -> Self {
        Self {
            slots: vec![FREE; slots].into_boxed_slice(),
            shift: u64::BITS - slots.ilog2(),
            spilled: BTreeSet::new(),
            len: 0,
        }
    }

    /// True if the hash was not there. Not to be called when there is no room.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        let mask = self.slots.len() - 1;
        let start = (hash.wrapping_mul(MULTIPLIER) >> self.shift) as usize;
        for probe in 0..MAX_PROBES {
            let slot = &mut self.slots[(start + probe) & mask];
            if *slot == hash {
                return false;
            }
            if *slot == FREE {
                *slot = hash;
                self.len += 1;
                return true;
            }
        }
        let new = self.spilled.insert(hash);
        self.len += usize::from(new);
        new
    }

    /// Whether another hash may be inserted: three quarters of the slots are used at most, to keep probing short.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.len < self.slots.len() / 4 * 3
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn size_bytes(&self) -> usize {
        (self.slots.len() + self.spilled.len()) * size_of::<u64>()
    }

    /// A table with some times the slots, or `most`, and the same hashes.
    pub(crate) fn grow(&mut self, most: usize) {
        /// A doubling would hash most keys of a growing sketch once more.
        const FACTOR: usize = 4;
        let grown = Self::with_slots((self.slots.len() * FACTOR).min(most));
        let old = core::mem::replace(self, grown);
        for hash in old.iter() {
            self.insert(hash);
        }
    }

    /// Holds these hashes and no others, in as many slots as now.
    pub(crate) fn refill(&mut self, hashes: &[u64]) {
        self.slots.fill(FREE);
        self.spilled.clear();
        self.len = 0;
        for &hash in hashes {
            self.insert(hash);
        }
    }

    /// The hashes, in no order that means anything.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.slots.iter().chain(&self.spilled).copied().filter(|&hash| hash != FREE)
    }

    /// The hashes below a limit.
    pub(crate) fn below(&self, limit: u64) -> Vec<u64> {
        let mut hashes = vec![FREE; self.len + 1];
        let mut len = 0;
        for &hash in &self.slots {
            // A free slot is below any limit: less 1, it is above. One more place than hashes takes what is not kept.
            hashes[len] = hash;
            len += usize::from(hash.wrapping_sub(1) < limit.wrapping_sub(1));
        }
        hashes.truncate(len);
        hashes.extend(self.spilled.iter().filter(|&&hash| hash < limit));
        hashes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_chosen_to_meet_are_kept_and_found_and_do_not_pile_up() {
        /// Inverse of the multiplier modulo 2^64, by Newton's iteration.
        fn inverse() -> u64 {
            (0..6).fold(1u64, |x, _| x.wrapping_mul(2u64.wrapping_sub(MULTIPLIER.wrapping_mul(x))))
        }
        const COUNT: u64 = 200_000;
        let mut table = Table::for_len(COUNT as usize);
        // All of them start at slot 0.
        let colliding = (1..=COUNT).map(|i| i.wrapping_mul(inverse()));
        for hash in colliding.clone() {
            assert!(table.has_room() && table.insert(hash));
        }
        for hash in colliding.clone() {
            assert!(!table.insert(hash));
        }
        assert_eq!((table.len(), table.iter().count()), (COUNT as usize, COUNT as usize));
        let mut sorted: Vec<u64> = table.iter().collect();
        let mut expected: Vec<u64> = colliding.collect();
        sorted.sort_unstable();
        expected.sort_unstable();
        assert!(sorted == expected);
    }

    #[test]
    fn a_table_for_some_hashes_has_room_for_one_more() {
        for len in 0..2000 {
            let table = Table::for_len(len);
            assert!(len < table.slots() / 4 * 3 && (table.slots() == MIN_SLOTS || table.slots() <= 3 * len));
        }
        for lg_k in 5..=26 {
            assert_eq!(
                Table::for_len(1 << lg_k).slots,
                vec![0; Table::max_slots(1 << lg_k)].into_boxed_slice()
            );
        }
    }
}
