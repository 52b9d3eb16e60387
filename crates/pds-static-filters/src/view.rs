//! A filter over borrowed bytes.

use core::fmt;

use pds_core::{same_hasher, wire::Header};

use crate::arch::Slots;
use crate::layout::Layout;
use crate::seeds::{attempt_of, attempted};
use crate::{
    Error, Fingerprint, Key, KeyHasher, Sketch, Slot, StaticFilter, StaticParams, WyHasher, batch, wire,
};

/// A filter answering from borrowed bytes, memory-mapped ones perhaps, at any address.
///
/// Opening checks the header, its checksum, the shape and the lengths, in constant time. Any payload is safe to query; that
/// it is the payload that was written is what [`StaticView::verify`] checks, in time linear in it.
#[derive(Clone, Copy)]
pub struct StaticView<'a, L, S, H = WyHasher> {
    header: Header,
    params: StaticParams<L, S>,
    seed: u64,
    slots: Slots<L, S, &'a [u8]>,
    bytes: &'a [u8],
    hasher: H,
}

impl<'a, L: Layout, S: Slot, H: Fingerprint> StaticView<'a, L, S, H> {
    pub(crate) fn open(bytes: &'a [u8], hasher: H) -> Result<Self, Error> {
        let wire::Opened { header, params, seed, payload } = wire::open(bytes)?;
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        Ok(Self { header, params, seed, slots: Slots::new(params.layout(), payload), bytes, hasher })
    }

    /// As [`StaticFilter::contains_hash`].
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.slots.contain(attempted(hash, self.seed))
    }

    /// As [`StaticFilter::contains_batch`].
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        batch::contains(&self.slots, self.seed, hashes, found)
    }

    /// Checks the payload's checksum.
    ///
    /// # Errors
    ///
    /// [`Error::Checksum`] if the payload is not the one that was written.
    pub fn verify(&self) -> Result<(), Error> {
        self.header.verify(self.slots.bytes())
    }

    /// The shape.
    pub fn params(&self) -> StaticParams<L, S> {
        self.params
    }

    /// As [`StaticFilter::len`].
    pub fn len(&self) -> u64 {
        self.params.keys()
    }

    /// As [`StaticFilter::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The hasher: what makes the hashes that the calls ending in `_hash` and `_batch` take, by `hash_key`.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// As [`StaticFilter::size_bytes`].
    pub fn size_bytes(&self) -> usize {
        self.slots.bytes().len()
    }

    /// As [`StaticFilter::bits_per_key`].
    pub fn bits_per_key(&self) -> f64 {
        self.params.bits_per_key()
    }

    /// As [`StaticFilter::estimated_fpr`].
    pub fn estimated_fpr(&self) -> f64 {
        self.params.fpr()
    }

    /// As [`StaticFilter::attempts`].
    pub fn attempts(&self) -> u32 {
        attempt_of(self.seed) + 1
    }

    /// An owned filter with the same slots.
    ///
    /// # Errors
    ///
    /// As [`StaticView::verify`].
    pub fn to_owned(&self) -> Result<StaticFilter<L, S, H>, Error> {
        StaticFilter::from_bytes_with(self.bytes, self.hasher.clone())
    }
}

impl<L: Layout, S: Slot, H: KeyHasher> StaticView<'_, L, S, H> {
    /// As [`StaticFilter::contains`].
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }
}

/// Shows the shape, not the slots.
impl<L: Layout, S: Slot + fmt::Debug, H: fmt::Debug> fmt::Debug for StaticView<'_, L, S, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticView")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
