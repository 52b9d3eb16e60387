//! A roster of limited length that knows its least count.

use alloc::vec::Vec;
use core::borrow::Borrow;

use super::answer::{place, rank};
use super::ladder::Ladder;
use super::roster::{Roster, Slot};

/// At most so many slots, whose counts only grow; once there are as many, one with the least count gives way.
#[derive(Clone, Debug)]
pub(super) struct Ranked<K, X = ()> {
    roster: Roster<K, X>,
    capacity: u32,
    /// Made when the last slot is taken: its least count does not go down, and whoever takes a free slot may have any.
    ladder: Ladder,
    /// The number of a slot with the least count; no slot's while some are free.
    least: u32,
}

/// No slot.
const NONE: u32 = u32::MAX;

impl<K, X> Ranked<K, X> {
    /// No slots.
    pub(super) fn new(capacity: u32) -> Self {
        Self { roster: Roster::default(), capacity, ladder: Ladder::default(), least: NONE }
    }

    /// The greatest of these slots; their keys must be distinct, their counts positive.
    pub(super) fn of(capacity: u32, mut slots: Vec<Slot<K, X>>) -> Self {
        cut(&mut slots, capacity);
        rank(&mut slots, |slot| (slot.count, slot.hash));
        let mut ranked = Self { roster: Roster::of(slots), ..Self::new(capacity) };
        ranked.start_if_full();
        ranked
    }

    /// Bytes of slots, index and ladder once full.
    pub(super) const fn bytes_for(capacity: u32) -> u64 {
        Roster::<K, X>::bytes_for(capacity) + Ladder::bytes_for(capacity)
    }

    pub(super) fn roster(&self) -> &Roster<K, X> {
        &self.roster
    }

    /// The number of a key's slot.
    #[inline]
    pub(super) fn find<Q: Eq + ?Sized>(&self, hash: u64, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        self.roster.find(hash, key)
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.least != NONE
    }

    /// The least count; 0 while a slot is free.
    #[inline]
    pub(super) fn least_count(&self) -> u64 {
        self.roster.slots().get(self.least as usize).map_or(0, |slot| slot.count)
    }

    /// Raises a slot's count to at least `count`; true if it grew.
    #[inline]
    pub(super) fn raise(&mut self, at: usize, count: u64) -> bool {
        let slot = self.roster.slot_mut(at);
        if count <= slot.count {
            return false;
        }
        slot.count = count;
        if self.least as usize == at {
            self.settle();
        }
        true
    }

    /// Adds to a slot's count, which saturates; true if it grew.
    #[inline]
    pub(super) fn add(&mut self, at: usize, n: u64) -> bool {
        let count = self.roster.slots()[at].count.saturating_add(n);
        self.raise(at, count)
    }

    /// Takes in a slot, whose key must be new. If there are as many as there may be, its count must not be below the least
    /// one, whose slot gives way and is returned.
    #[inline]
    pub(super) fn admit(&mut self, slot: Slot<K, X>) -> Option<Slot<K, X>> {
        if self.is_full() {
            let old = self.roster.replace(self.least as usize, slot);
            self.settle();
            Some(old)
        } else {
            self.roster.push(slot, self.capacity);
            self.start_if_full();
            None
        }
    }

    pub(super) fn clear(&mut self) {
        self.roster.clear();
        self.ladder.clear();
        self.least = NONE;
    }

    /// Bytes of slots, index and ladder.
    pub(super) fn size_bytes(&self) -> usize {
        self.roster.size_bytes() + self.ladder.size_bytes()
    }

    #[inline]
    fn start_if_full(&mut self) {
        if self.roster.len() >= self.capacity as usize {
            self.ladder = Ladder::of(self.roster.slots().iter().map(|slot| slot.count));
            self.settle();
        }
    }

    #[inline]
    fn settle(&mut self) {
        let slots = self.roster.slots();
        self.least = self.ladder.least(|slot| slots[slot as usize].count);
    }
}

/// Leaves as many of the greatest slots, in any order.
pub(super) fn cut<K, X>(slots: &mut Vec<Slot<K, X>>, capacity: u32) {
    let capacity = capacity as usize;
    if capacity < slots.len() {
        slots.select_nth_unstable_by_key(capacity, |slot| place(slot.count, slot.hash));
        slots.truncate(capacity);
    }
}

impl<K: Eq, X: PartialEq> PartialEq for Ranked<K, X> {
    fn eq(&self, other: &Self) -> bool {
        self.capacity == other.capacity && self.roster == other.roster
    }
}
