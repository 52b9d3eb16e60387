//! Slots by their counts, where counts only grow: which is the least?

use alloc::vec;
use alloc::vec::Vec;

/// A radix heap, lazy about growth.
///
/// The rung of a slot is the position of the highest bit in which its count differs from the least count; rung 0 holds
/// those at the least count. A slot whose count grows stays where it is until its rung is looked at: until then it is
/// too low, never too high. As the least count grows, a slot comes down rung by rung, at most as often as a count has
/// bits; mostly it does so twice.
///
/// No slot joins those at the least count later, since whoever takes over a least count adds to it. The order in which they
/// are taken depends on the stream; sorting them would take longer than all the rest.
#[derive(Clone, Debug)]
pub(super) struct Ladder {
    /// The least count; slots are on rungs by their difference from it.
    least: u64,
    /// Slots at the least count. Some may have grown since.
    level: Vec<u32>,
    /// First slot of each rung above.
    first: [u32; RUNGS],
    /// The next slot on the same rung, by slot.
    next: Vec<u32>,
}

/// One for each bit of a count.
const RUNGS: usize = u64::BITS as usize;

/// No slot.
const NONE: u32 = u32::MAX;

impl Default for Ladder {
    fn default() -> Self {
        Self { least: 0, level: Vec::new(), first: [NONE; RUNGS], next: Vec::new() }
    }
}

impl Ladder {
    /// Of slots with these counts, which must be positive.
    pub(super) fn of(counts: impl ExactSizeIterator<Item = u64>) -> Self {
        let slots = counts.len();
        let mut ladder =
            Self { next: vec![NONE; slots], level: Vec::with_capacity(slots), ..Self::default() };
        for (slot, count) in counts.enumerate() {
            ladder.put(slot as u32, count);
        }
        ladder
    }

    /// A slot at the least count; the counts of slots are given. There must be a slot.
    #[inline]
    pub(super) fn least(&mut self, count_of: impl Fn(u32) -> u64) -> u32 {
        loop {
            while let Some(&slot) = self.level.last() {
                let count = count_of(slot);
                if count == self.least {
                    return slot;
                }
                self.level.pop();
                self.put(slot, count);
            }
            self.climb(&count_of);
        }
    }

    /// Forgets all slots.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Bytes of a ladder of so many slots.
    pub(super) const fn bytes_for(slots: u32) -> u64 {
        slots as u64 * 2 * size_of::<u32>() as u64
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.level.capacity() * size_of::<u32>() + self.next.capacity() * size_of::<u32>()
    }

    /// Puts a slot onto the rung of its count, which is above the least.
    #[inline]
    fn put(&mut self, slot: u32, count: u64) {
        debug_assert!(count > self.least, "counts only grow");
        let rung = (count ^ self.least).ilog2() as usize;
        self.next[slot as usize] = self.first[rung];
        self.first[rung] = slot;
    }

    /// Empties the lowest rung that has slots: those that have grown beyond it go up; of the others the least count
    /// becomes the least of all, and they come down.
    #[inline(never)]
    fn climb(&mut self, count_of: impl Fn(u32) -> u64) {
        let Some(rung) = self.first.iter().position(|&first| first != NONE) else { return };
        let mut slot = core::mem::replace(&mut self.first[rung], NONE);
        let (mut stay, mut least) = (NONE, u64::MAX);
        while slot != NONE {
            let next = self.next[slot as usize];
            let count = count_of(slot);
            if (count ^ self.least).ilog2() as usize > rung {
                self.put(slot, count);
            } else {
                self.next[slot as usize] = stay;
                stay = slot;
                least = least.min(count);
            }
            slot = next;
        }
        if stay == NONE {
            return;
        }
        self.least = least;
        while stay != NONE {
            let next = self.next[stay as usize];
            let count = count_of(stay);
            if count == least {
                self.level.push(stay);
            } else {
                self.put(stay, count);
            }
            stay = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// Against a search of all counts, with growth by 1 and by leaps, up to the greatest count.
    #[test]
    fn the_least_is_the_least_whatever_grows() {
        let mut state = 7u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % n
        };
        for slots in [1, 2, 3, 17, 64] {
            let mut counts: Vec<u64> = (0..slots).map(|_| 1 + random(5)).collect();
            let mut ladder = Ladder::of(counts.iter().copied());
            for step in 0..3000u64 {
                let least = ladder.least(|slot| counts[slot as usize]);
                assert_eq!(Some(&counts[least as usize]), counts.iter().min());
                let leap = [1, 2, 1 << (step / 50).min(63), u64::MAX / 3][random(4) as usize];
                let by = if step < 1500 { 1 + random(3) } else { leap };
                // Mostly the least grows, as on an eviction; else any, as on a hit.
                let grows = if random(3) > 0 { u64::from(least) } else { random(slots) } as usize;
                counts[grows] = counts[grows].saturating_add(by);
            }
        }
    }
}
