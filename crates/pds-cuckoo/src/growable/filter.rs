//! The filter that grows.

use core::fmt;

use crate::stored::Stored;
use crate::{Error, Fingerprint, GrowableCuckooParams, GrowableCuckooView, Key, KeyHasher, Sketch, WyHasher};

/// A cuckoo filter that doubles as it fills: a multiset of keys that answers "certainly not" or "probably", and takes
/// keys out again.
///
/// One table, not a chain of them. Each slot keeps the bits of the entry's index that later bucket numbers will need;
/// a doubling spends one of them. So a removal finds its entry wherever growth has put it, no key is needed for
/// growing, and shrinking gives the bits back.
///
/// * Error: one-sided. A key that was inserted, and not removed as often, is always found; a stranger is found with
///   the probability [`GrowableCuckooParams::fpr`], which grows with the number of keys up to the rate planned for the
///   last of them.
/// * Keys are stored as often as they are inserted, up to
///   [`CuckooParams::MAX_COPIES`](crate::CuckooParams::MAX_COPIES) times.
/// * **Only remove what was inserted**: see [`GrowableCuckooFilter::remove`].
/// * A refused insertion changes nothing. There is no random source: equal filters stay equal under equal calls.
/// * No merging law: [`GrowableCuckooFilter::absorb`] may find no room.
///
/// # Source
///
/// `[FanEtAl14]` for the table; index bits in place of fingerprint bits as in `[BenderEtAl12]`.
#[derive(Clone)]
pub struct GrowableCuckooFilter<H = WyHasher> {
    stored: Stored<GrowableCuckooParams, H>,
}

impl GrowableCuckooFilter {
    /// An empty filter with the default hasher.
    pub fn new(params: GrowableCuckooParams) -> Self {
        Self::with_hasher(params, WyHasher::default())
    }

    /// Decodes a filter made with the default hasher.
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        <Self as Sketch>::from_bytes(bytes)
    }

    /// Opens a filter made with the default hasher where its bytes lie: see [`GrowableCuckooView`].
    ///
    /// # Errors
    ///
    /// As [`GrowableCuckooFilter::view_with`].
    pub fn view(bytes: &[u8]) -> Result<GrowableCuckooView<'_>, Error> {
        Self::view_with(bytes, WyHasher::default())
    }
}

impl<H: KeyHasher> GrowableCuckooFilter<H> {
    /// Stores a key, once more if it is there already.
    ///
    /// `Ok(true)` always, since the state changes by every insertion; [`GrowableCuckooFilter::insert_unique`] may give
    /// `Ok(false)`.
    ///
    /// # Errors
    ///
    /// [`Error::Full`] if there is no room for the key and the plan has no more doublings, or if less than a quarter
    /// of the slots are taken: then keys crowd each other that no doubling would part (many copies, or keys that were
    /// chosen to); [`Error::DuplicateLimit`]
    /// if it, or keys that look the same, is stored [`CuckooParams::MAX_COPIES`](crate::CuckooParams::MAX_COPIES)
    /// times already. The filter is then unchanged, to the bit, and other keys may still find room.
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

impl<H: Fingerprint> GrowableCuckooFilter<H> {
    /// An empty filter with a hasher of one's own.
    ///
    /// Aborts, as every allocation does, if the memory of the smallest table is not to be had; so does growing.
    pub fn with_hasher(params: GrowableCuckooParams, hasher: H) -> Self {
        Self { stored: Stored::new(params, params.geometry(0), hasher) }
    }

    /// Opens a filter where its bytes lie, in constant time: see [`GrowableCuckooView`].
    ///
    /// # Errors
    ///
    /// As [`Sketch::from_bytes_with`], save for what [`GrowableCuckooView::verify`] checks.
    pub fn view_with(bytes: &[u8], hasher: H) -> Result<GrowableCuckooView<'_, H>, Error> {
        GrowableCuckooView::open(bytes, hasher)
    }

    /// As [`GrowableCuckooFilter::insert`], for a hash by this filter's hasher.
    ///
    /// # Errors
    ///
    /// As [`GrowableCuckooFilter::insert`].
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> Result<bool, Error> {
        self.stored.insert(hash)
    }

    /// As [`GrowableCuckooFilter::insert_unique`], for a hash by this filter's hasher.
    ///
    /// # Errors
    ///
    /// As [`GrowableCuckooFilter::insert_unique`].
    #[inline]
    pub fn insert_unique_hash(&mut self, hash: u64) -> Result<bool, Error> {
        self.stored.insert_unique(hash)
    }

    /// As [`GrowableCuckooFilter::contains`], for a hash by this filter's hasher.
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.stored.contains(hash)
    }

    /// As [`GrowableCuckooFilter::remove`], for a hash by this filter's hasher.
    ///
    /// # Errors
    ///
    /// As [`GrowableCuckooFilter::remove`].
    #[inline]
    pub fn remove_hash(&mut self, hash: u64) -> Result<(), Error> {
        self.stored.remove(hash)
    }

    /// Stores hashes in their order up to the first that is refused, fetching the memory of later ones ahead.
    ///
    /// Gives how many were stored. If they are fewer than there are, the next was refused, and
    /// [`GrowableCuckooFilter::insert_hash`] of it says why.
    #[must_use = "fewer hashes may have been stored than were given"]
    pub fn insert_batch(&mut self, hashes: &[u64]) -> usize {
        self.stored.insert_batch(hashes)
    }

    /// Answers [`GrowableCuckooFilter::contains_hash`] for the first min(lengths) hashes, fetching the memory of later
    /// ones ahead; returns how many were answered. The rest of `found` is left as it was.
    pub fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        self.stored.contains_batch(hashes, found)
    }

    /// Stores every entry of another filter of the same plan, whatever the sizes of the two: then this one holds the
    /// keys of both, each as often as both together.
    ///
    /// Entries are all that is needed, no keys. Works on a copy, and grows where it has to.
    ///
    /// # Errors
    ///
    /// [`Error::Hasher`] or [`Error::Incompatible`] if hasher or shape differ; [`Error::Full`] or
    /// [`Error::DuplicateLimit`] if one of the entries finds no room. The filter is then unchanged.
    pub fn absorb(&mut self, other: &Self) -> Result<(), Error> {
        self.stored.absorb(&other.stored)
    }

    /// Doubles the table now, as an insertion would that finds no room.
    ///
    /// # Errors
    ///
    /// [`Error::Full`] at the plan's end.
    pub fn grow(&mut self) -> Result<(), Error> {
        let table = self.stored.table().doubled().ok_or(Error::Full)?;
        self.stored.set_table(table);
        Ok(())
    }

    /// Halves the table as often as its entries still fit, to a load of 95% or less; true if it did.
    ///
    /// The next insertion may double it again.
    pub fn shrink_to_fit(&mut self) -> bool {
        self.stored.table().shrunk().map(|table| self.stored.set_table(table)).is_some()
    }

    /// The plan.
    pub fn params(&self) -> GrowableCuckooParams {
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

    /// Forgets every key; the table keeps its size.
    pub fn clear(&mut self) {
        self.stored.clear();
    }

    /// How often the table has doubled since it was the smallest, less how often it was halved.
    pub fn doublings(&self) -> u32 {
        self.stored.table().geometry().growth().done()
    }

    /// Bytes of the table at its present size.
    pub fn size_bytes(&self) -> usize {
        self.stored.table().bytes().len()
    }

    /// Share of the present slots that hold an entry, within 0..=1. It falls by half when the table doubles.
    pub fn load(&self) -> f64 {
        self.stored.table().load()
    }

    /// The rate of false positives at this load, a probability: [`GrowableCuckooParams::fpr`] of
    /// [`GrowableCuckooFilter::len`]. Too high if keys are stored more than once.
    pub fn estimated_fpr(&self) -> f64 {
        self.stored.estimated_fpr()
    }

    /// Whether the load of the largest table is, or would be, above 90%: the plan comes to its end. Time to make a
    /// filter of a larger plan from the source of the keys.
    pub fn is_saturated(&self) -> bool {
        self.stored.is_saturated()
    }

    pub(crate) fn stored(&self) -> &Stored<GrowableCuckooParams, H> {
        &self.stored
    }

    pub(crate) fn from_stored(stored: Stored<GrowableCuckooParams, H>) -> Self {
        Self { stored }
    }
}

/// Equal plan, size, hasher and slots: the same bytes. Filters of equal keys in another order, or of other sizes, may
/// differ.
impl<H: Fingerprint> PartialEq for GrowableCuckooFilter<H> {
    fn eq(&self, other: &Self) -> bool {
        self.stored == other.stored
    }
}

/// Shows shape and number of entries, not the entries.
impl<H: fmt::Debug> fmt::Debug for GrowableCuckooFilter<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stored.debug("GrowableCuckooFilter", f)
    }
}
