//! The filters whose slots are solved by peeling.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use crate::arch::Slots;
use crate::build::{self, Built};
use crate::layout::Layout;
use crate::seeds::{attempt_seed, attempted};
use crate::{
    BinaryFuse, Error, Fingerprint, Key, KeyHasher, Sketch, Slot, StaticParams, StaticView, WyHasher, Xor,
    batch,
};

/// A set of keys, fixed when it is built, that answers "certainly not" or "probably".
///
/// Use it by its names: [`BinaryFuseFilter8`], [`XorFilter8`] and so on.
///
/// * Error: one-sided. A key of the set is always found; a stranger is found with probability 2^-bits.
/// * Keys cannot be added, removed or listed; two filters cannot be merged: build one from the keys of both.
/// * Repeated keys are legal, and so is no key at all: such a filter says no to everything.
/// * Building takes some 20 bytes a key beside the hashes (half of it in a filter of many shards, without threads). The bytes
///   depend on the set of keys alone, on no order, thread or feature.
///
/// # Source
///
/// `[GrafLemire22]` for [`BinaryFuse`], `[GrafLemire20]` for [`Xor`].
#[derive(Clone)]
pub struct StaticFilter<L, S, H = WyHasher> {
    params: StaticParams<L, S>,
    seed: u64,
    slots: Slots<L, S, Box<[u8]>>,
    hasher: H,
}

/// Binary fuse filter of 3 slots a key, 8 bits a slot: 1 stranger in 256, 9.04 bits a key at a million keys.
pub type BinaryFuseFilter8<H = WyHasher> = StaticFilter<BinaryFuse<3>, u8, H>;
/// Binary fuse filter of 3 slots a key, 16 bits a slot: 1 stranger in 65,536.
pub type BinaryFuseFilter16<H = WyHasher> = StaticFilter<BinaryFuse<3>, u16, H>;
/// Binary fuse filter of 3 slots a key, 32 bits a slot: 1 stranger in 2^32.
pub type BinaryFuseFilter32<H = WyHasher> = StaticFilter<BinaryFuse<3>, u32, H>;
/// Binary fuse filter of 4 slots a key, 8 bits a slot: 1 stranger in 256, 8.62 bits a key at a million keys.
pub type BinaryFuseFilter8x4<H = WyHasher> = StaticFilter<BinaryFuse<4>, u8, H>;
/// Binary fuse filter of 4 slots a key, 16 bits a slot: 1 stranger in 65,536.
pub type BinaryFuseFilter16x4<H = WyHasher> = StaticFilter<BinaryFuse<4>, u16, H>;
/// Binary fuse filter of 4 slots a key, 32 bits a slot: 1 stranger in 2^32.
pub type BinaryFuseFilter32x4<H = WyHasher> = StaticFilter<BinaryFuse<4>, u32, H>;
/// Xor filter of 8 bits a slot: 1 stranger in 256, 9.84 bits a key. For its published shape; binary fuse is smaller.
pub type XorFilter8<H = WyHasher> = StaticFilter<Xor, u8, H>;
/// Xor filter of 16 bits a slot: 1 stranger in 65,536.
pub type XorFilter16<H = WyHasher> = StaticFilter<Xor, u16, H>;

impl<L: Layout, S: Slot> StaticFilter<L, S> {
    /// A filter of these keys, with the default hasher. Keys may repeat.
    ///
    /// # Errors
    ///
    /// As [`StaticFilter::from_hashes`].
    pub fn from_keys<K: Key>(keys: impl IntoIterator<Item = K>) -> Result<Self, Error> {
        Self::from_keys_with(keys, WyHasher::default())
    }

    /// A filter of the keys with these hashes, by the default hasher. Hashes may repeat.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there are more than [`StaticParams::for_keys`] can shape; [`Error::Construction`] if every
    /// seed fails, which near-uniform hashes do not come to see: one attempt in four fails at the worst sizes, which are a few
    /// keys, hardly one at others (tables `static-builds` and `static-plateaus`), and there are 64.
    pub fn from_hashes(hashes: &[u64]) -> Result<Self, Error> {
        Self::from_hashes_with(hashes, WyHasher::default())
    }

    /// Decodes a filter made with the default hasher.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        <Self as Sketch>::from_bytes(bytes)
    }

    /// Opens a filter made with the default hasher where its bytes lie: see [`StaticView`].
    ///
    /// # Errors
    ///
    /// As [`StaticFilter::view_with`].
    pub fn view(bytes: &[u8]) -> Result<StaticView<'_, L, S>, Error> {
        Self::view_with(bytes, WyHasher::default())
    }
}

impl<L: Layout, S: Slot, H: KeyHasher> StaticFilter<L, S, H> {
    /// A filter of these keys with a hasher of one's own. Keys may repeat.
    ///
    /// # Errors
    ///
    /// As [`StaticFilter::from_hashes`].
    pub fn from_keys_with<K: Key>(keys: impl IntoIterator<Item = K>, hasher: H) -> Result<Self, Error> {
        let hashes: Vec<u64> = keys.into_iter().map(|key| hasher.hash_key(&key)).collect();
        Self::from_hashes_with(&hashes, hasher)
    }

    /// False is certain: the key is not in the set. True is a hint: a stranger gets it with probability
    /// [`StaticParams::fpr`].
    #[inline(always)]
    #[allow(clippy::inline_always)] // see `Slots::contain`
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }
}

impl<L: Layout, S: Slot, H: Fingerprint> StaticFilter<L, S, H> {
    /// A filter of the keys with these hashes, by a hasher of one's own. Hashes may repeat.
    ///
    /// # Errors
    ///
    /// As [`StaticFilter::from_hashes`].
    pub fn from_hashes_with(hashes: &[u64], hasher: H) -> Result<Self, Error> {
        Self::build(hashes, hasher, L::for_keys)
    }

    fn build(hashes: &[u64], hasher: H, shape: impl Fn(u64) -> Result<L, Error>) -> Result<Self, Error> {
        let Built { keys, layout, seed, slots } = build::build::<L, S>(hashes, shape)?;
        let params = StaticParams::validated(keys, layout)?;
        Ok(Self::from_parts(params, seed, slots.into_boxed_slice(), hasher))
    }

    /// Opens a filter where its bytes lie, in constant time: see [`StaticView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for the payload's checksum, which [`StaticView::verify`] checks.
    pub fn view_with(bytes: &[u8], hasher: H) -> Result<StaticView<'_, L, S, H>, Error> {
        StaticView::open(bytes, hasher)
    }

    /// As [`StaticFilter::contains`], for a hash by this filter's hasher.
    #[inline(always)]
    #[allow(clippy::inline_always)] // see `Slots::contain`
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.slots.contain(attempted(hash, self.seed))
    }

    /// Answers [`StaticFilter::contains_hash`] for the first min(lengths) hashes, fetching the memory of later ones ahead;
    /// returns how many were answered. The rest of `found` is left as it was.
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        batch::contains(&self.slots, self.seed, hashes, found)
    }

    /// The shape.
    pub fn params(&self) -> StaticParams<L, S> {
        self.params
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// Number of distinct hashes that it was built from: exact.
    pub fn len(&self) -> u64 {
        self.params.keys()
    }

    /// True if it was built from no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the slots.
    pub fn size_bytes(&self) -> usize {
        self.slots.bytes().len()
    }

    /// Bits of the slots for each key; 0 without keys.
    pub fn bits_per_key(&self) -> f64 {
        self.params.bits_per_key()
    }

    /// The rate of false positives, a probability: [`StaticParams::fpr`].
    pub fn estimated_fpr(&self) -> f64 {
        self.params.fpr()
    }

    /// How many seeds were tried until one solved the system: 1 mostly. None for bytes whose seed is none that a build tries.
    pub fn attempts(&self) -> Option<u32> {
        (1..=build::MAX_ATTEMPTS).find(|attempt| attempt_seed(attempt - 1) == self.seed)
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    pub(crate) fn slots(&self) -> &[u8] {
        self.slots.bytes()
    }

    /// `slots` has the bytes of the shape.
    pub(crate) fn from_parts(params: StaticParams<L, S>, seed: u64, slots: Box<[u8]>, hasher: H) -> Self {
        Self { params, seed, slots: Slots::new(params.layout(), slots), hasher }
    }
}

/// In the compact shape.
impl<S: Slot> StaticFilter<BinaryFuse<4>, S> {
    /// As [`StaticFilter::from_keys`], in the shape of [`StaticParams::compact`].
    ///
    /// # Errors
    ///
    /// As [`StaticFilter::from_hashes`].
    pub fn compact_from_keys<K: Key>(keys: impl IntoIterator<Item = K>) -> Result<Self, Error> {
        Self::compact_from_keys_with(keys, WyHasher::default())
    }

    /// As [`StaticFilter::from_hashes`], in the shape of [`StaticParams::compact`].
    ///
    /// # Errors
    ///
    /// As [`StaticFilter::from_hashes`].
    pub fn compact_from_hashes(hashes: &[u64]) -> Result<Self, Error> {
        Self::compact_from_hashes_with(hashes, WyHasher::default())
    }
}

/// In the compact shape.
impl<S: Slot, H: KeyHasher> StaticFilter<BinaryFuse<4>, S, H> {
    /// As [`StaticFilter::from_keys_with`], in the shape of [`StaticParams::compact`].
    ///
    /// # Errors
    ///
    /// As [`StaticFilter::from_hashes`].
    pub fn compact_from_keys_with<K: Key>(
        keys: impl IntoIterator<Item = K>,
        hasher: H,
    ) -> Result<Self, Error> {
        let hashes: Vec<u64> = keys.into_iter().map(|key| hasher.hash_key(&key)).collect();
        Self::compact_from_hashes_with(&hashes, hasher)
    }
}

/// In the compact shape.
impl<S: Slot, H: Fingerprint> StaticFilter<BinaryFuse<4>, S, H> {
    /// As [`StaticFilter::from_hashes_with`], in the shape of [`StaticParams::compact`].
    ///
    /// # Errors
    ///
    /// As [`StaticFilter::from_hashes`].
    pub fn compact_from_hashes_with(hashes: &[u64], hasher: H) -> Result<Self, Error> {
        Self::build(hashes, hasher, BinaryFuse::<4>::compact)
    }
}

/// Equal in shape, seed, slots and hasher.
impl<L: Layout, S: Slot, H: Fingerprint> PartialEq for StaticFilter<L, S, H> {
    fn eq(&self, other: &Self) -> bool {
        self.params == other.params
            && self.seed == other.seed
            && self.hasher.fingerprint() == other.hasher.fingerprint()
            && self.slots() == other.slots()
    }
}

/// Shows the shape, not the slots.
impl<L: Layout, S: Slot + fmt::Debug, H: fmt::Debug> fmt::Debug for StaticFilter<L, S, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticFilter")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
