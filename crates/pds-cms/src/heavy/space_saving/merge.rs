//! Merging two summaries.

use alloc::vec;
use alloc::vec::Vec;

use pds_core::same_hasher;

use super::SpaceSaving;
use crate::heavy::ranked::{Ranked, cut};
use crate::heavy::roster::Slot;
use crate::{Error, Fingerprint, Merge};

/// The number of a slot, of one side.
enum Place {
    Here(usize),
    There(usize),
}

impl<K, H: Fingerprint> SpaceSaving<K, H> {
    pub(super) fn compatible(&self, other: &Self) -> Result<(), Error> {
        same_hasher(self.hasher.fingerprint(), other.hasher.fingerprint())?;
        if self.params == other.params { Ok(()) } else { Err(Error::Incompatible { field: "capacity" }) }
    }
}

/// The counts of a key are added up. A key that one side does not list may have occurred there as often as its least
/// count: this is added to both its count and its error. Of all, as many as there are counters are kept, those with the
/// greatest counts.
///
/// The bounds hold as before. So does that of the error: with m the least counts of the two sides, each count of either
/// side is m and something more, the somethings of both sides sum up to at most N - capacity (m_1 + m_2), and the one at
/// the cut is at most a capacity'th of this.
///
/// # Errors
///
/// [`Error::Hasher`]; [`Error::Incompatible`] in `capacity`.
impl<K: Eq + Clone, H: Fingerprint> Merge for SpaceSaving<K, H> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.compatible(other)?;
        let (mine, theirs) = (self.ranked.roster(), other.ranked.roster());
        let (my_least, their_least) = (self.max_error(), other.max_error());
        // Where a key is found, since only keys that stay are copied.
        let added = |key: Place, slot: &Slot<K, u64>, count: u64, error: u64| Slot {
            key,
            hash: slot.hash,
            count: slot.count.saturating_add(count),
            extra: slot.extra.saturating_add(error),
        };
        let mut alone = vec![true; theirs.len()];
        let mut slots = Vec::with_capacity(mine.len() + theirs.len());
        for (at, slot) in mine.slots().iter().enumerate() {
            let (count, error) = match theirs.find(slot.hash, &slot.key) {
                Some(there) => {
                    alone[there] = false;
                    (theirs.slots()[there].count, theirs.slots()[there].extra)
                }
                None => (their_least, their_least),
            };
            slots.push(added(Place::Here(at), slot, count, error));
        }
        for (at, slot) in theirs.slots().iter().enumerate().filter(|(at, _)| alone[*at]) {
            slots.push(added(Place::There(at), slot, my_least, my_least));
        }
        cut(&mut slots, self.params.capacity());
        let key = |place| match place {
            Place::Here(at) => mine.slots()[at].key.clone(),
            Place::There(at) => theirs.slots()[at].key.clone(),
        };
        let slots = slots.into_iter().map(|slot| Slot {
            key: key(slot.key),
            hash: slot.hash,
            count: slot.count,
            extra: slot.extra,
        });
        self.ranked = Ranked::of(self.params.capacity(), slots.collect());
        self.total.merge(other.total);
        Ok(())
    }
}
