//! Filters that do not merge: taken in entry by entry, or built again from hashes.

use alloc::vec::Vec;
#[cfg(feature = "cuckoo")]
use core::borrow::Borrow;

#[cfg(feature = "cuckoo")]
use pds_cuckoo::{CuckooFilter, GrowableCuckooFilter};

#[cfg(feature = "cuckoo")]
use crate::{Fingerprint, MergeError, fold::each};

/// Stores the entries of all of the others in `target`, in their order, up to the first that does not fit.
///
/// * Needs: the same shape (buckets and bits of a fingerprint) and hasher in all, and room for all entries: a filter that
///   is to hold the keys of many is sized for the keys of all of them, and so are they. Where that is not known beforehand
///   take growable filters: [`absorb_all_growable`].
/// * A key that several hold is stored several times, and takes room for each; beyond the copies that two buckets hold it is
///   refused.
/// * Costs a copy of the table for each of the others ([`CuckooFilter::absorb`]).
///
/// # Errors
///
/// The first refusal: `Hasher` or `Incompatible` if hasher or shape differ, `Full` or `DuplicateLimit` if an entry finds no
/// room. `target` then holds all those before it and nothing of the refused one.
#[cfg(feature = "cuckoo")]
pub fn absorb_all<H: Fingerprint, T: Borrow<CuckooFilter<H>>>(
    target: &mut CuckooFilter<H>,
    others: impl IntoIterator<Item = T>,
) -> Result<(), MergeError> {
    each(others, |other| target.absorb(other.borrow()))
}

/// As [`absorb_all`], of filters that grow: they need the same plan (the parameters) and hasher, their sizes may differ, and
/// `Full` comes at the end of the plan only.
///
/// # Errors
///
/// As [`absorb_all`].
#[cfg(feature = "cuckoo")]
pub fn absorb_all_growable<H: Fingerprint, T: Borrow<GrowableCuckooFilter<H>>>(
    target: &mut GrowableCuckooFilter<H>,
    others: impl IntoIterator<Item = T>,
) -> Result<(), MergeError> {
    each(others, |other| target.absorb(other.borrow()))
}

/// The hashes of all lists, each once, ascending: what the static filter of all their keys is built from.
///
/// For who keeps the hashes of a file's keys beside its filter, to build the filter of several files together without
/// reading their keys. The lists come from one hasher, which goes into the new filter; nothing can check that. Sorted lists
/// are merged, which is faster; others are sorted. Takes at most 16 bytes for each hash given.
///
/// A build takes any list, with repetitions too. But a binary fuse or xor filter learns of them by failing once; and parameters
/// are priced by distinct keys, which are as many as this returns.
///
/// ```
/// use pds_merge::union_hashes;
/// use pds_static_filters::{BinaryFuseFilter8, Error, KeyHasher, WyHasher};
///
/// # fn main() -> Result<(), Error> {
/// let hasher = WyHasher::default();
/// let hashes_of = |keys: core::ops::Range<u32>| keys.map(|key| hasher.hash_key(&key)).collect::<Vec<u64>>();
/// let (old, new) = (hashes_of(0..800), hashes_of(500..1_000));
///
/// let hashes = union_hashes([&old, &new]);
/// assert_eq!(hashes.len(), 1_000);
/// let filter = BinaryFuseFilter8::from_hashes(&hashes)?;
/// assert!((0..1_000u32).all(|key| filter.contains(&key)));
/// # Ok(())
/// # }
/// ```
pub fn union_hashes<L: AsRef<[u64]>>(lists: impl IntoIterator<Item = L>) -> Vec<u64> {
    let lists: Vec<L> = lists.into_iter().collect();
    let mut hashes = Vec::with_capacity(lists.iter().map(|list| list.as_ref().len()).sum());
    for list in &lists {
        hashes.extend_from_slice(list.as_ref());
    }
    // The stable sort, since it finds ascending runs and merges them.
    #[allow(clippy::stable_sort_primitive)]
    hashes.sort();
    hashes.dedup();
    hashes
}
