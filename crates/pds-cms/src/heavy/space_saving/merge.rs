//! Merging two summaries.

use pds_core::same_hasher;

use super::SpaceSaving;
use crate::heavy::ranked::Ranked;
use crate::heavy::roster::Slot;
use crate::{Error, Fingerprint, Merge};

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
        let added = |slot: &Slot<K, u64>, count: u64, error: u64| Slot {
            key: slot.key.clone(),
            hash: slot.hash,
            count: slot.count.saturating_add(count),
            extra: slot.extra.saturating_add(error),
        };
        let listed_here = mine.slots().iter().map(|slot| {
            let (count, error) = theirs
                .get(slot.hash, &slot.key)
                .map_or((their_least, their_least), |their| (their.count, their.extra));
            added(slot, count, error)
        });
        let listed_there_alone = theirs
            .slots()
            .iter()
            .filter(|slot| mine.find(slot.hash, &slot.key).is_none())
            .map(|slot| added(slot, my_least, my_least));
        let slots = listed_here.chain(listed_there_alone).collect();
        self.ranked = Ranked::of(self.params.capacity(), slots);
        self.total.merge(other.total);
        Ok(())
    }
}
