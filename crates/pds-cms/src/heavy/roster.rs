//! Keys with their counts, found by hash.

use alloc::vec::Vec;
use core::borrow::Borrow;

use super::answer::rank;
use super::index::Index;
use crate::Error;

/// A key and what is counted of it; `X` is what a structure keeps besides.
#[derive(Clone, Debug)]
pub(super) struct Slot<K, X = ()> {
    pub(super) key: K,
    pub(super) hash: u64,
    pub(super) count: u64,
    pub(super) extra: X,
}

/// Slots of distinct keys. Memory grows with them: an empty roster holds none.
#[derive(Clone, Debug)]
pub(super) struct Roster<K, X = ()> {
    slots: Vec<Slot<K, X>>,
    index: Index,
}

/// Slots that are allocated for the first.
const LEAST_SLOTS: usize = 4;

impl<K, X> Default for Roster<K, X> {
    fn default() -> Self {
        Self { slots: Vec::new(), index: Index::default() }
    }
}

impl<K, X> Roster<K, X> {
    /// A roster of these slots; their keys must be distinct.
    pub(super) fn of(mut slots: Vec<Slot<K, X>>) -> Self {
        slots.shrink_to_fit();
        let mut roster = Self { slots, index: Index::default() };
        roster.rebuild();
        roster
    }

    /// The number of a key's slot.
    #[inline]
    pub(super) fn find<Q: Eq + ?Sized>(&self, hash: u64, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        self.index.find(hash, |at| self.slots[at].key.borrow() == key)
    }

    /// A key's slot.
    #[inline]
    pub(super) fn get<Q: Eq + ?Sized>(&self, hash: u64, key: &Q) -> Option<&Slot<K, X>>
    where
        K: Borrow<Q>,
    {
        self.find(hash, key).map(|at| &self.slots[at])
    }

    /// Bytes of slots and index, of so many slots.
    pub(super) const fn bytes_for(slots: u32) -> u64 {
        slots as u64 * size_of::<Slot<K, X>>() as u64 + Index::bytes_for(slots)
    }

    /// Adds a slot, whose key must be new, to a roster that will have at most `most` of them.
    pub(super) fn push(&mut self, slot: Slot<K, X>, most: u32) {
        let (at, hash) = (self.slots.len(), slot.hash);
        if at == self.slots.capacity() {
            // Doubled, but to no more than will be used.
            let more = at.max(LEAST_SLOTS).min((most as usize).saturating_sub(at)).max(1);
            self.slots.reserve_exact(more);
        }
        self.slots.push(slot);
        if self.index.has_room(at + 1) {
            self.index.insert(hash, at);
        } else {
            self.rebuild();
        }
    }

    /// Puts a slot, whose key must be new, in the place of another, which it gives back.
    #[inline]
    pub(super) fn replace(&mut self, at: usize, slot: Slot<K, X>) -> Slot<K, X> {
        self.index.remove(at, |at| self.slots[at].hash);
        self.index.insert(slot.hash, at);
        core::mem::replace(&mut self.slots[at], slot)
    }

    /// Keeps the slots for which `keep` holds, which may change their counts.
    pub(super) fn retain(&mut self, keep: impl FnMut(&mut Slot<K, X>) -> bool) {
        self.slots.retain_mut(keep);
        self.rebuild();
    }

    /// The slots, by number.
    pub(super) fn slots(&self) -> &[Slot<K, X>] {
        &self.slots
    }

    /// The slot of a number, to count in it.
    #[inline]
    pub(super) fn slot_mut(&mut self, at: usize) -> &mut Slot<K, X> {
        &mut self.slots[at]
    }

    /// The slots by their counts, the greatest first, as lists and byte forms have them.
    pub(super) fn ranking(&self) -> Vec<&Slot<K, X>> {
        let mut slots: Vec<_> = self.slots.iter().collect();
        rank(&mut slots, |slot| (slot.count, slot.hash));
        slots
    }

    /// Checks that no key has two slots, which only slots made from bytes may have.
    pub(super) fn check_distinct(&self) -> Result<(), Error>
    where
        K: Eq,
    {
        // A search ends at the first slot of its key.
        let mut slots = self.slots.iter().enumerate();
        let distinct = slots.all(|(at, slot)| self.find(slot.hash, &slot.key) == Some(at));
        if distinct { Ok(()) } else { Err(Error::Malformed { field: "keys" }) }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.index.clear();
    }

    /// Bytes of slots and index; what keys own elsewhere is not counted.
    pub(super) fn size_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot<K, X>>() + self.index.size_bytes()
    }

    fn rebuild(&mut self) {
        self.index.rebuild(self.slots.iter().map(|slot| slot.hash));
    }
}

/// The same keys with the same counts, whatever the numbers of their slots.
impl<K: Eq, X: PartialEq> PartialEq for Roster<K, X> {
    fn eq(&self, other: &Self) -> bool {
        let same = |slot: &Slot<K, X>| {
            let theirs = other.get(slot.hash, &slot.key);
            theirs.is_some_and(|theirs| theirs.count == slot.count && theirs.extra == slot.extra)
        };
        self.len() == other.len() && self.slots.iter().all(same)
    }
}
