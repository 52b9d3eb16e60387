//! Where a key's slot is: an open-addressed table of hashes.

use alloc::vec;
use alloc::vec::Vec;

use crate::Error;

/// A table of places, each of which is empty or names a slot. It sees neither keys nor whole hashes: whoever asks, compares
/// them.
///
/// Home of a hash is the place that its top bits name; a taken home is passed on to the next place. A place keeps as many
/// of the low bits of the hash as the number of a slot leaves free, so that other keys are mostly told apart without a look
/// at them. At most one place in [`PLACES_PER_SLOT`] is taken, so that nearly every search ends at home: how long a run
/// is cannot be foreseen, and each time that it is guessed wrongly takes as long as the rest of a search.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// Low bits of the hash, then the number of the slot plus one; 0 where empty. None, or a power of two of them.
    places: Vec<u32>,
    /// Turns a hash into its home: 64 less the log2 of the places.
    shift: u32,
}

/// Slots that an index can name: so that a number, plus one, has fewer bits than a place.
pub(super) const MAX_SLOTS: u32 = 1 << 28;

/// Checks how many slots a structure is asked for: at least one, and no more than an index can name.
pub(super) fn slots_asked_for(name: &'static str, slots: u32) -> Result<u32, Error> {
    if (1..=MAX_SLOTS).contains(&slots) {
        Ok(slots)
    } else {
        Err(Error::Parameter { name, value: f64::from(slots), domain: "1 to 2^28" })
    }
}

/// Places for each slot, at least.
const PLACES_PER_SLOT: usize = 8;

impl Index {
    /// The slot of a hash for which `same` holds.
    #[inline]
    pub(super) fn find(&self, hash: u64, same: impl Fn(usize) -> bool) -> Option<usize> {
        let mask = self.places.len().checked_sub(1)?;
        let mut at = self.home(hash);
        loop {
            let place = self.places[at & mask];
            if place == 0 {
                return None;
            }
            // Alike but for the number of the slot.
            if (place ^ hash as u32) & !(mask as u32) == 0 {
                let slot = (place & mask as u32) as usize - 1;
                if same(slot) {
                    return Some(slot);
                }
            }
            at += 1;
        }
    }

    /// Names a slot that is not yet named. There must be room: see [`Index::has_room`].
    #[inline]
    pub(super) fn insert(&mut self, hash: u64, slot: usize) {
        let mask = self.places.len() - 1;
        let mut at = self.home(hash);
        while self.places[at & mask] != 0 {
            at += 1;
        }
        self.places[at & mask] = self.place_of(hash, slot);
    }

    /// Forgets a slot; the hashes of slots are given.
    #[inline]
    pub(super) fn remove(&mut self, slot: usize, hash_of: impl Fn(usize) -> u64) {
        let mask = self.places.len() - 1;
        let hash = hash_of(slot);
        let (mut hole, sought) = (self.home(hash), self.place_of(hash, slot));
        while self.places[hole & mask] != sought {
            debug_assert!(self.places[hole & mask] != 0, "only slots that are named are forgotten");
            hole += 1;
        }
        // What had to pass the hole on the way from its home moves into it: there are no tombstones.
        let mut at = hole;
        loop {
            at += 1;
            let place = self.places[at & mask];
            if place == 0 {
                break;
            }
            let home = self.home(hash_of((place & mask as u32) as usize - 1));
            if at.wrapping_sub(home) & mask >= at - hole {
                self.places[hole & mask] = place;
                hole = at;
            }
        }
        self.places[hole & mask] = 0;
    }

    /// Whether there is room for so many slots in all.
    #[inline]
    pub(super) fn has_room(&self, slots: usize) -> bool {
        slots * PLACES_PER_SLOT <= self.places.len()
    }

    /// Forgets all slots and names these, by their hashes, in a table with room for them.
    pub(super) fn rebuild(&mut self, hashes: impl ExactSizeIterator<Item = u64>) {
        if self.has_room(hashes.len()) {
            self.places.fill(0);
        } else {
            let places = (hashes.len() * PLACES_PER_SLOT).next_power_of_two();
            self.places = vec![0; places];
            self.shift = u64::BITS - places.trailing_zeros();
        }
        for (slot, hash) in hashes.enumerate() {
            self.insert(hash, slot);
        }
    }

    /// Bytes of a table with room for so many slots.
    pub(super) const fn bytes_for(slots: u32) -> u64 {
        if slots == 0 { 0 } else { (slots as u64 * PLACES_PER_SLOT as u64).next_power_of_two() * 4 }
    }

    /// Forgets all slots.
    pub(super) fn clear(&mut self) {
        self.places.fill(0);
    }

    /// Bytes of the table.
    pub(super) fn size_bytes(&self) -> usize {
        size_of_val(&*self.places)
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        (hash >> self.shift) as usize
    }

    #[inline]
    fn place_of(&self, hash: u64, slot: usize) -> u32 {
        let mask = self.places.len() as u32 - 1;
        hash as u32 & !mask | (slot as u32 + 1)
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// Against a list, with so few distinct homes that runs form, wrap around and are torn by removals.
    #[test]
    fn slots_are_found_until_they_are_forgotten() {
        let (mut index, mut hashes, mut named) = (Index::default(), Vec::<u64>::new(), Vec::<bool>::new());
        let mut state = 1u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % n
        };
        for step in 0..20_000 {
            let hash = [0, 1, 0x7fff_ffff, u64::from(u32::MAX)][random(4) as usize] << 32 | step;
            let slot = random(40) as usize;
            if slot < named.len() && named[slot] {
                index.remove(slot, |slot| hashes[slot]);
                named[slot] = false;
            } else if slot < named.len() {
                hashes[slot] = hash;
                index.insert(hash, slot);
                named[slot] = true;
            } else if named.iter().all(|&named| named) {
                hashes.push(hash);
                named.push(true);
                index.rebuild(hashes.iter().copied());
            }
            for (slot, &hash) in hashes.iter().enumerate() {
                assert_eq!(index.find(hash, |found| found == slot), named[slot].then_some(slot));
            }
        }
        assert!(named.len() > 9);
        index.clear();
        assert!(hashes.iter().all(|&hash| index.find(hash, |_| true).is_none()));
    }
}
