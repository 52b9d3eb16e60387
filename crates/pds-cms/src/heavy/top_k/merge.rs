//! Merging two lists.

use alloc::vec::Vec;

use super::TopK;
use crate::heavy::answer::rank;
use crate::heavy::ranked::Ranked;
use crate::heavy::roster::Slot;
use crate::{Error, Fingerprint, Merge};

/// The sketches are merged, the keys of both lists estimated by the merged one, and the `k` greatest kept.
///
/// # Errors
///
/// [`Error::Incompatible`] in `k`; as the sketches' merge.
impl<K: Eq + Clone, H: Fingerprint> Merge for TopK<K, H> {
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        pds_core::same_hasher(self.hasher().fingerprint(), other.hasher().fingerprint())?;
        if self.params.k() != other.params.k() {
            return Err(Error::Incompatible { field: "k" });
        }
        self.sketch.merge(&other.sketch)?;
        let (mine, theirs) = (self.ranked.roster(), other.ranked.roster());
        let listed_there_alone =
            theirs.slots().iter().filter(|slot| mine.find(slot.hash, &slot.key).is_none());
        let mut slots: Vec<Slot<K>> = mine.slots().iter().chain(listed_there_alone).cloned().collect();
        for slot in &mut slots {
            slot.count = self.sketch.estimate_hash(slot.hash);
        }
        rank(&mut slots, |slot| (slot.count, slot.hash));
        let cut = slots.get(self.params.k() as usize).map_or(0, |slot| slot.count);
        self.unlisted = self.unlisted.saturating_add(other.unlisted).max(cut);
        self.ranked = Ranked::of(self.params.k(), slots);
        Ok(())
    }
}
