//! The filter of a fixed size.

use alloc::vec::Vec;
use core::fmt;

use crate::stored::Stored;
use crate::{CuckooParams, CuckooView, Error, Fingerprint, Key, KeyHasher, Sketch, WyHasher};

/// A cuckoo filter: a multiset of keys that answers "certainly not" or "probably", and takes keys out again.
///
/// * Error: one-sided. A key that was inserted, and not removed as often, is always found; a stranger is found with
///   the probability [`CuckooParams::fpr`].
/// * Keys are stored as often as they are inserted, up to [`CuckooParams::MAX_COPIES`] times.
/// * **Only remove what was inserted.** Removing another key takes away the entry of a key that looks the same, should
///   there be one, and that key is forgotten: see [`CuckooFilter::remove`].
/// * A refused insertion changes nothing. There is no random source: equal filters stay equal under equal calls.
/// * No merging law: [`CuckooFilter::absorb`] may find no room.
///
/// # Source
///
/// `[FanEtAl14]`; the partner by subtraction, so that any number of buckets will do, in the manner of
/// `[WangZhouShiQian19]`.
#[derive(Clone)]
pub struct CuckooFilter<H = WyHasher> {
    stored: Stored<CuckooParams, H>,
}

impl CuckooFilter {
    /// An empty filter with the default hasher.
    pub fn new(params: CuckooParams) -> Self {
        Self::with_hasher(params, WyHasher::default())
    }

    /// A filter of these keys, of the size for them and for the rate of false positives, with the default hasher.
    ///
    /// A key that comes twice is stored twice.
    ///
    /// # Errors
    ///
    /// As [`CuckooFilter::from_hashes_with`].
    pub fn from_keys<K: Key, I: IntoIterator<Item = K>>(keys: I, fpr: f64) -> Result<Self, Error> {
        let hasher = WyHasher::default();
        let hashes: Vec<u64> = keys.into_iter().map(|key| hasher.hash_key(&key)).collect();
        Self::from_hashes_with(&hashes, fpr, hasher)
    }

    /// Decodes a filter made with the default hasher.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        <Self as Sketch>::from_bytes(bytes)
    }

    /// Opens a filter made with the default hasher where its bytes lie: see [`CuckooView`].
    ///
    /// # Errors
    ///
    /// As [`CuckooFilter::view_with`].
    pub fn view(bytes: &[u8]) -> Result<CuckooView<'_>, Error> {
        Self::view_with(bytes, WyHasher::default())
    }
}

impl<H: KeyHasher> CuckooFilter<H> {
    /// Stores a key, once more if it is there already.
    ///
    /// `Ok(true)` always, since the state changes by every insertion; [`CuckooFilter::insert_unique`] may give
    /// `Ok(false)`.
    ///
    /// # Errors
    ///
    /// [`Error::Full`] if there is no room for the key; [`Error::DuplicateLimit`] if it, or keys that look the same,
    /// is stored [`CuckooParams::MAX_COPIES`] times already (half as often, should its two buckets be one). The filter
    /// is then unchanged, to the bit, and other keys may still find room.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, Error> {
        self.insert_hash(self.hasher().hash_key(key))
    }

    /// Stores a key unless the filter says that it is there; true if it was stored.
    ///
    /// A key that is taken for a member by mistake is not stored, and stays a member only until the key that it was
    /// taken for is removed. **Never remove keys from a filter filled by this method** unless each was stored: a
    /// removal of a key for which this gave `Ok(false)` takes away another key's entry.
    ///
    /// # Errors
    ///
    /// [`Error::Full`]; the filter is then unchanged.
    #[inline]
    pub fn insert_unique<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, Error> {
        self.insert_unique_hash(self.hasher().hash_key(key))
    }

    /// False is certain: the key is not stored. True is a hint: a stranger gets it with the filter's rate of false
    /// positives.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher().hash_key(key))
    }

    /// Takes out one copy of a key that was inserted.
    ///
    /// **Only for keys that were inserted and not removed since.** A key that never was is, with the filter's rate of
    /// false positives, taken for a member: the entry that is removed then is that of another key, which the filter
    /// forgets: a false negative. Ask the source of the keys before, not the filter.
    ///
    /// # Errors
    ///
    /// [`Error::NotPresent`] if the key is provably absent; the filter is then unchanged.
    #[inline]
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        self.remove_hash(self.hasher().hash_key(key))
    }
}

impl<H: Fingerprint> CuckooFilter<H> {
    /// An empty filter with a hasher of one's own.
    ///
    /// Aborts, as every allocation does, if the memory of [`CuckooParams::size_bytes`] is not to be had.
    pub fn with_hasher(params: CuckooParams, hasher: H) -> Self {
        Self { stored: Stored::new(params, params.geometry(), hasher) }
    }

    /// A filter of these hashes, of the size for their number and for the rate of false positives.
    ///
    /// Should they not find room, which happens less than once in a million times, larger tables are tried.
    ///
    /// # Errors
    ///
    /// As [`CuckooParams::for_fpr`]; [`Error::DuplicateLimit`] if one hash comes more than
    /// [`CuckooParams::MAX_COPIES`] times; [`Error::Construction`] if no table will do, which hashes that are uniform
    /// do not come to.
    pub fn from_hashes_with(hashes: &[u64], fpr: f64, hasher: H) -> Result<Self, Error> {
        /// Tables that are tried, each an eighth larger than the one before.
        const ATTEMPTS: u32 = 8;
        const GROWTH: u64 = 8;
        let mut keys = hashes.len() as u64;
        let mut filter = Self::with_hasher(CuckooParams::for_fpr(keys, fpr)?, hasher);
        for _ in 0..ATTEMPTS {
            let stored = filter.insert_batch(hashes);
            match hashes.get(stored).map(|&refused| filter.insert_hash(refused)) {
                None => return Ok(filter),
                Some(Err(Error::DuplicateLimit))
                    if copies(hashes, hashes[stored]) > u64::from(CuckooParams::MAX_COPIES) =>
                {
                    return Err(Error::DuplicateLimit);
                }
                Some(_) => keys += keys.div_ceil(GROWTH),
            }
            filter = Self::with_hasher(CuckooParams::for_fpr(keys, fpr)?, filter.stored.into_hasher());
        }
        Err(Error::Construction { attempts: ATTEMPTS })
    }

    /// Opens a filter where its bytes lie, in constant time: see [`CuckooView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for what [`CuckooView::verify`] checks.
    pub fn view_with(bytes: &[u8], hasher: H) -> Result<CuckooView<'_, H>, Error> {
        CuckooView::open(bytes, hasher)
    }

    /// As [`CuckooFilter::insert`], for a hash by this filter's hasher.
    ///
    /// # Errors
    ///
    /// As [`CuckooFilter::insert`].
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> Result<bool, Error> {
        self.stored.insert(hash)
    }

    /// As [`CuckooFilter::insert_unique`], for a hash by this filter's hasher.
    ///
    /// # Errors
    ///
    /// As [`CuckooFilter::insert_unique`].
    #[inline]
    pub fn insert_unique_hash(&mut self, hash: u64) -> Result<bool, Error> {
        self.stored.insert_unique(hash)
    }

    /// As [`CuckooFilter::contains`], for a hash by this filter's hasher.
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.stored.contains(hash)
    }

    /// As [`CuckooFilter::remove`], for a hash by this filter's hasher.
    ///
    /// # Errors
    ///
    /// As [`CuckooFilter::remove`].
    #[inline]
    pub fn remove_hash(&mut self, hash: u64) -> Result<(), Error> {
        self.stored.remove(hash)
    }

    /// Stores hashes in their order up to the first that is refused, fetching the memory of later ones ahead.
    ///
    /// Gives how many were stored. If they are fewer than there are, the next was refused, and
    /// [`CuckooFilter::insert_hash`] of it says why.
    #[must_use = "fewer hashes may have been stored than were given"]
    pub fn insert_batch(&mut self, hashes: &[u64]) -> usize {
        self.stored.insert_batch(hashes)
    }

    /// Answers [`CuckooFilter::contains_hash`] for the first min(lengths) hashes, fetching the memory of later ones
    /// ahead; returns how many were answered. The rest of `found` is left as it was.
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        self.stored.contains_batch(hashes, found)
    }

    /// Stores every entry of another filter of the same shape: then this one holds the keys of both, each as often as
    /// both together.
    ///
    /// Entries are all that is needed, no keys. Works on a copy, which takes the memory of one filter more.
    ///
    /// # Errors
    ///
    /// [`Error::Hasher`] or [`Error::Incompatible`] if hasher or shape differ; [`Error::Full`] or
    /// [`Error::DuplicateLimit`] if one of the entries finds no room. The filter is then unchanged.
    pub fn absorb(&mut self, other: &Self) -> Result<(), Error> {
        self.stored.absorb(&other.stored)
    }

    /// The shape.
    pub fn params(&self) -> CuckooParams {
        self.stored.params()
    }

    /// The hasher.
    pub fn hasher(&self) -> &H {
        self.stored.hasher()
    }

    /// Entries stored: keys inserted less keys removed. Exact.
    pub fn len(&self) -> u64 {
        self.stored.len()
    }

    /// True if nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets every key.
    pub fn clear(&mut self) {
        self.stored.clear();
    }

    /// Bytes of the table.
    pub fn size_bytes(&self) -> usize {
        self.stored.table().bytes().len()
    }

    /// Share of the slots that hold an entry, within 0..=1.
    pub fn load(&self) -> f64 {
        self.stored.table().load()
    }

    /// The rate of false positives at this load, a probability: [`CuckooParams::fpr`] of [`CuckooFilter::len`]. Too
    /// high if keys are stored more than once.
    pub fn estimated_fpr(&self) -> f64 {
        self.stored.estimated_fpr()
    }

    /// Whether the load is above 90%: insertions take several times as long from there on, and above 95% they may
    /// be refused. Time to make a larger filter from the source of the keys.
    pub fn is_saturated(&self) -> bool {
        self.stored.is_saturated()
    }

    pub(crate) fn stored(&self) -> &Stored<CuckooParams, H> {
        &self.stored
    }

    pub(crate) fn from_stored(stored: Stored<CuckooParams, H>) -> Self {
        Self { stored }
    }
}

/// Equal shape, hasher and slots: the same bytes. Filters of equal keys in another order may differ.
impl<H: Fingerprint> PartialEq for CuckooFilter<H> {
    fn eq(&self, other: &Self) -> bool {
        self.stored == other.stored
    }
}

/// Shows shape and number of entries, not the entries.
impl<H: fmt::Debug> fmt::Debug for CuckooFilter<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stored.debug("CuckooFilter", f)
    }
}

/// How often a hash is among others.
fn copies(hashes: &[u64], hash: u64) -> u64 {
    hashes.iter().filter(|&&other| other == hash).count() as u64
}
