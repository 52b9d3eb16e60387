//! Doubling and halving a table: every slot keeps the bits that the next bucket number needs.

use crate::Error;
use crate::geometry::{Entry, Planned};
use crate::table::Table;

impl Table<Planned> {
    /// A table of twice as many buckets with the same entries; none at the plan's end.
    ///
    /// A bucket is split by one bit of its entries' indices, so that nothing has to be moved elsewhere.
    pub(crate) fn doubled(&self) -> Option<Self> {
        let mut table = self.empty(self.geometry().growth().spare.checked_sub(1)?);
        for entry in self.entries() {
            table.keep(entry);
        }
        Some(table)
    }

    /// The smallest table with the same entries that they fit into; none if it would not be smaller.
    pub(crate) fn shrunk(&self) -> Option<Self> {
        let Planned { doublings, spare } = self.geometry().growth();
        (spare + 1..=doublings).rev().find_map(|spare| self.refilled(spare))
    }

    /// A smaller table with the same entries, moved to where there is room; none if there is none.
    fn refilled(&self, spare: u32) -> Option<Self> {
        let slots = self.slots() >> (spare - self.geometry().growth().spare);
        if self.len() > most_entries(slots) {
            return None;
        }
        let mut table = self.empty(spare);
        self.entries().try_for_each(|entry| table.insert(entry)).ok()?;
        Some(table)
    }

    /// Stores an entry, in a larger table where this one is full, or would be above the highest load.
    ///
    /// # Errors
    ///
    /// As [`Table::insert`] of the largest table that the plan has; nothing has changed then.
    #[inline]
    pub(crate) fn insert_growing(&mut self, entry: Entry) -> Result<(), Error> {
        if self.len() < most_entries(self.slots()) {
            let result = self.insert(entry);
            if result != Err(Error::Full) {
                return result;
            }
        }
        self.insert_doubling(entry)
    }

    #[inline(never)]
    fn insert_doubling(&mut self, entry: Entry) -> Result<(), Error> {
        // No table of the plan has more than two buckets for one entry.
        if self.is_at_limit(entry) {
            return Err(Error::DuplicateLimit);
        }
        if !self.is_worth_doubling() {
            return self.insert(entry);
        }
        let Some(mut larger) = self.doubled() else {
            // The plan's end: up to the last slot.
            return self.insert(entry);
        };
        loop {
            let result = larger.insert(entry);
            if result.is_ok() {
                *self = larger;
                return result;
            }
            if !larger.is_worth_doubling() {
                return Err(Error::Full);
            }
            larger = larger.doubled().ok_or(Error::Full)?;
        }
    }

    /// Whether a larger table may have room where this one has none. Below a quarter of the slots only keys that crowd each
    /// other are refused: copies, and keys that were chosen to. No larger table would part them, and making all of them to
    /// find out would take the memory of the plan's end.
    fn is_worth_doubling(&self) -> bool {
        self.slots() <= SMALL_SLOTS || self.len() >= self.slots() / 4
    }

    fn empty(&self, spare: u32) -> Self {
        Self::new(self.geometry().with_growth(Planned { spare, ..self.geometry().growth() }))
    }
}

/// Tables up to this size are full at any load now and then, and cost nothing to double.
const SMALL_SLOTS: u64 = 1 << 12;

/// How many entries a table holds before it doubles: 95% of its slots, [`MAX_LOAD`](crate::law::MAX_LOAD).
fn most_entries(slots: u64) -> u64 {
    slots / 20 * 19 + slots % 20 * 19 / 20
}
