//! The set of retained hashes: open addressing with a bound on probing.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

/// Marks a free slot; hash 0 counts as 1, so no hash has this value.
const FREE: u64 = 0;

/// 2^64 over the golden ratio, odd: runs of hashes, and hashes that end in zeros, are spread over the slots.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// How many slots are looked at, whole windows. Near uniform hashes hardly ever need as many at three quarters full; hashes that
/// somebody chose to meet go to a tree beyond it, so that no input makes insertion take more than logarithmic time.
const MAX_PROBES: usize = 128;

/// Slots that are looked at together in a crowded table, where each for itself would be a branch that nobody can foresee.
const WINDOW: usize = 4;

/// Bytes of a hash in the tree, about: its nodes have room for 11 each, and some are half full.
const SPILLED_BYTES: usize = 20;

/// Slots that are emptied at a time when a table grows.
const CHUNK: usize = 64;

/// The least table.
const MIN_SLOTS: usize = 16;

/// The logarithm of the growth of a table: by less, most keys of a growing sketch would be moved once more.
const LG_GROWTH: u32 = 3;

#[cfg(test)]
std::thread_local! {
    /// How often a table was refilled by this thread.
    pub(crate) static REFILLS: core::cell::Cell<usize> = const { core::cell::Cell::new(0) };
}

/// A set of hashes other than 0, of a number of slots that only rebuilding changes.
#[derive(Clone)]
pub(crate) struct Table {
    slots: Box<[u64]>,
    shift: u32,
    /// Whether it has as many slots as it may have, and may therefore become more than half full.
    crowded: bool,
    /// At so many hashes there has to be a greater table, or a trim.
    room: usize,
    spilled: BTreeSet<u64>,
    len: usize,
}

impl Table {
    /// Slots of the table of a sketch of `k` hashes that is no longer exact: it is trimmed when it holds 1.5 k.
    pub(crate) const fn max_slots(k: usize) -> usize {
        2 * k
    }

    /// The table of an empty sketch of `k` hashes: such that growth ends at the greatest table.
    pub(crate) fn for_growth(k: usize) -> Self {
        let growths = (Self::max_slots(k) / MIN_SLOTS).ilog2() / LG_GROWTH;
        Self::with_slots(Self::max_slots(k) >> (growths * LG_GROWTH), k)
    }

    /// The least table for `len` of a sketch's `k` hashes and one more: three quarters of the slots are used at most.
    pub(crate) fn for_len(len: usize, k: usize) -> Self {
        Self::with_slots((len * 4 / 3 + 1).next_power_of_two().max(MIN_SLOTS), k)
    }

    fn with_slots(slots: usize, k: usize) -> Self {
        let mut table = Self {
            slots: vec![FREE; slots].into_boxed_slice(),
            shift: u64::BITS - slots.ilog2(),
            crowded: false,
            room: 0,
            spilled: BTreeSet::new(),
            len: 0,
        };
        table.fit(k);
        table
    }

    /// How full the table may become, which follows from its slots and from `k` alone. To be called when either changes.
    fn fit(&mut self, k: usize) {
        let slots = self.slots.len();
        self.crowded = slots >= Self::max_slots(k);
        self.room = if self.crowded { slots / 4 * 3 } else { slots / 2 };
        // A trim leaves k: without room for many more, every hash would call for the next.
        debug_assert!(!self.crowded || self.room > k);
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        (hash.wrapping_mul(MULTIPLIER) >> self.shift) as usize
    }

    /// True if the hash was not there. There has to be a free slot, as there is in a table that has room and in a new one.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        let home = self.home(hash);
        let new =
            if self.crowded { self.insert_crowded(home, hash) } else { self.insert_from(home, 0, hash) };
        self.len += usize::from(new);
        new
    }

    /// Looks at the slots one by one, from a number of them on: most often the first is free.
    #[inline]
    fn insert_from(&mut self, home: usize, first: usize, hash: u64) -> bool {
        let mask = self.slots.len() - 1;
        for probe in first..MAX_PROBES {
            let slot = &mut self.slots[(home + probe) & mask];
            if *slot == FREE {
                *slot = hash;
                return true;
            }
            if *slot == hash {
                return false;
            }
        }
        self.spill(hash)
    }

    /// The same, some slots at a time as long as they do not begin anew at the first slot.
    #[inline]
    fn insert_crowded(&mut self, home: usize, hash: u64) -> bool {
        let mut probe = 0;
        while probe < MAX_PROBES {
            let window = self.slots.get_mut(home + probe..).and_then(|rest| rest.first_chunk_mut::<WINDOW>());
            let Some(window) = window else { break };
            // No hash lies behind a free slot: to look there too costs no branch.
            if window.contains(&hash) {
                return false;
            }
            let free = (0..WINDOW).fold(0, |free, at| free | u32::from(window[at] == FREE) << at);
            if free != 0 {
                window[free.trailing_zeros() as usize % WINDOW] = hash;
                return true;
            }
            probe += WINDOW;
        }
        self.insert_from(home, probe, hash)
    }

    /// Apart, so that insertion saves no registers for it.
    #[cold]
    #[inline(never)]
    fn spill(&mut self, hash: u64) -> bool {
        self.spilled.insert(hash)
    }

    /// Inserts hashes that are not there and all differ, as they come out of a table or of bytes. Not more than there is room
    /// for.
    pub(crate) fn insert_all(&mut self, hashes: &[u64]) {
        let mask = self.slots.len() - 1;
        for &hash in hashes {
            let home = self.home(hash);
            let free = (0..MAX_PROBES).find(|probe| self.slots[(home + probe) & mask] == FREE);
            match free {
                Some(probe) => self.slots[(home + probe) & mask] = hash,
                None => _ = self.spill(hash),
            }
        }
        self.len += hashes.len();
    }

    /// Whether another hash may be inserted: to keep probing short, there are no more than half as many as slots while the table
    /// may still grow, and three quarters when it may not.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.len < self.room
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn size_bytes(&self) -> usize {
        self.slots.len() * size_of::<u64>() + self.spilled.len() * SPILLED_BYTES
    }

    /// A table with some times the slots, or the most for `k`, and the same hashes.
    pub(crate) fn grow(&mut self, k: usize) {
        let slots = (self.slots.len() << LG_GROWTH).min(Self::max_slots(k));
        let old = core::mem::replace(self, Self::with_slots(slots, k));
        let mut buffer = [FREE; CHUNK];
        for chunk in old.slots.chunks(CHUNK) {
            let hashes = occupied(chunk, u64::MAX, &mut buffer);
            self.insert_all(&buffer[..hashes]);
        }
        for &hash in &old.spilled {
            self.insert(hash);
        }
    }

    /// Holds these hashes, which differ and are up to `k`, and no others, in as many slots as now, or as few as `k` allows.
    pub(crate) fn refill(&mut self, hashes: &[u64], k: usize) {
        #[cfg(test)]
        REFILLS.set(REFILLS.get() + 1);
        if self.slots.len() > Self::max_slots(k) {
            *self = Self::for_len(hashes.len(), k);
        } else {
            self.slots.fill(FREE);
            self.spilled.clear();
            self.len = 0;
            self.fit(k);
        }
        self.insert_all(hashes);
    }

    /// Whether it has as many slots as it may have.
    pub(crate) fn is_greatest(&self) -> bool {
        self.crowded
    }

    /// The hashes, in no order that means anything.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.slots.iter().chain(&self.spilled).copied().filter(|&hash| hash != FREE)
    }

    /// The hashes below a limit.
    pub(crate) fn below(&self, limit: u64) -> Vec<u64> {
        let mut hashes = vec![FREE; self.len + 1];
        let len = occupied(&self.slots, limit, &mut hashes);
        hashes.truncate(len);
        hashes.extend(self.spilled.iter().filter(|&&hash| hash < limit));
        hashes
    }
}

/// Hashes as [`Table::below`] gives them, some at a time, from places all over. In the order of their slots they would crowd the
/// first slots of another table until the last are there too.
pub(crate) fn scattered(hashes: &[u64]) -> impl Iterator<Item = &[u64]> {
    const LEN: usize = 16;
    /// Odd, so that all have their turn; near the golden ratio of 2^27, of which there are never more.
    const STRIDE: usize = 82_951_893;
    let places = hashes.len().div_ceil(LEN).next_power_of_two();
    (0..places).filter_map(move |at| {
        let start = at.wrapping_mul(STRIDE) % places * LEN;
        let rest = hashes.get(start..)?;
        Some(&rest[..rest.len().min(LEN)])
    })
}

/// Collects the hashes of slots that are below a limit without a branch for each. One more place than such hashes takes what is
/// not kept, unless there is a place for every slot.
#[inline]
fn occupied(slots: &[u64], limit: u64, out: &mut [u64]) -> usize {
    let mut len = 0;
    for &slot in slots {
        out[len] = slot;
        // A free slot is below any limit: less 1, it is above.
        len += usize::from(slot.wrapping_sub(1) < limit.wrapping_sub(1));
    }
    len
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
        const K: usize = 1 << 18;
        let mut table = Table::for_len(COUNT as usize, K);
        // All of them start at slot 0.
        let colliding = (1..=COUNT).map(|i| i.wrapping_mul(inverse()));
        for hash in colliding.clone() {
            assert!(table.insert(hash));
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
    fn every_hash_has_its_turn_when_tables_are_merged() {
        for len in (0..200).chain([1000, 6000, 8192]) {
            let hashes: Vec<u64> = (1..=len).collect();
            let mut all: Vec<u64> = scattered(&hashes).flatten().copied().collect();
            all.sort_unstable();
            assert_eq!(all, hashes);
        }
    }

    #[test]
    fn merging_into_an_empty_table_needs_no_tree() {
        const LEN: usize = 6000;
        let mut table = Table::for_len(LEN, 4096);
        for key in 1..=LEN as u64 {
            table.insert(key.wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(31).wrapping_mul(MULTIPLIER));
        }
        let mut other = Table::for_growth(4096);
        for &hash in scattered(&table.below(u64::MAX)).flatten() {
            other.insert(hash);
            if !other.has_room() {
                other.grow(4096);
            }
        }
        assert_eq!((other.len(), other.spilled.len()), (LEN, 0));
    }

    #[test]
    fn growth_ends_at_the_greatest_table_and_a_trim_makes_room() {
        for lg_k in 5..=14 {
            let (k, mut steps) = (1 << lg_k, 0);
            let mut table = Table::for_growth(k);
            while !table.is_greatest() {
                assert!((MIN_SLOTS..Table::max_slots(k)).contains(&table.slots.len()));
                table.grow(k);
                steps += 1;
            }
            assert_eq!(table.slots.len(), Table::max_slots(k));
            assert!(table.room > k && steps <= 4);
        }
    }

    #[test]
    fn a_table_for_some_hashes_has_room_for_one_more() {
        for len in 0..2000 {
            let slots = Table::for_len(len, 2048).slots.len();
            assert!(len < slots / 4 * 3 && (slots == MIN_SLOTS || slots <= 3 * len));
        }
        for lg_k in 5..=20 {
            let table = Table::for_len(1 << lg_k, 1 << lg_k);
            assert!(table.is_greatest() && table.slots.len() == Table::max_slots(1 << lg_k));
        }
    }
}
