//! Merging two summaries.

use alloc::vec::Vec;

use pds_core::same_hasher;

use super::MisraGries;
use crate::heavy::roster::{Roster, Slot};
use crate::{Error, Fingerprint, Merge};

impl<K, H: Fingerprint> MisraGries<K, H> {
    pub(super) fn compatible(&self, other: &Self) -> Result<(), Error> {
        same_hasher(self.hasher.fingerprint(), other.hasher.fingerprint())?;
        if self.params == other.params { Ok(()) } else { Err(Error::Incompatible { field: "capacity" }) }
    }
}

/// The counts of a key are added up, and so are the errors. If there are more keys than counters, the greatest count
/// without a counter is taken from each.
///
/// The bounds hold as before. So does that of the error, since this cut is taken from one counter more than there are.
///
/// # Errors
///
/// [`Error::Hasher`]; [`Error::Incompatible`] in `capacity`.
impl<K: Eq + Clone, H: Fingerprint> Merge for MisraGries<K, H> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.compatible(other)?;
        let mut slots: Vec<Slot<K>> = self.roster.slots().to_vec();
        for slot in other.roster.slots() {
            match self.roster.find(slot.hash, &slot.key) {
                Some(at) => slots[at].count = slots[at].count.saturating_add(slot.count),
                None => slots.push(slot.clone()),
            }
        }
        let capacity = self.params.capacity() as usize;
        let mut cut = 0;
        if slots.len() > capacity {
            let mut counts: Vec<u64> = slots.iter().map(|slot| slot.count).collect();
            let place = counts.len() - 1 - capacity;
            cut = *counts.select_nth_unstable(place).1;
        }
        slots.retain_mut(|slot| {
            slot.count = slot.count.saturating_sub(cut);
            slot.count > 0
        });
        self.roster = Roster::of(slots);
        self.offset = self.offset.saturating_add(other.offset).saturating_add(cut);
        self.total.merge(other.total);
        Ok(())
    }
}
