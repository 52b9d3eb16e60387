//! From targets, or from a raw shape, to validated parameters.

use serde::{Deserialize, Serialize};

use crate::geometry::{Entry, Fixed, Geometry};
use crate::lanes::{SLOTS, WIDEST};
use crate::stored::Params;
use crate::table::Table;
use crate::targets::{self, SHORTEST, fingerprints};
use crate::{Error, arch, law};

/// The shape of a cuckoo filter: buckets of four slots, and bits of a fingerprint.
///
/// A value of this type is valid: a filter of it can be made without further checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Shape", into = "Shape")]
pub struct CuckooParams {
    buckets: u64,
    fingerprint_bits: u32,
}

impl CuckooParams {
    /// The shortest fingerprint, in bits.
    pub const MIN_FINGERPRINT_BITS: u32 = SHORTEST;

    /// The longest fingerprint, in bits.
    pub const MAX_FINGERPRINT_BITS: u32 = WIDEST;

    /// Slots of a bucket.
    pub const SLOTS: u32 = SLOTS;

    /// Copies that a filter holds of one key: both of its buckets full of them.
    pub const MAX_COPIES: u32 = 2 * SLOTS;

    /// The highest load that is promised: [`CuckooParams::capacity`] is never above it.
    pub const MAX_LOAD: f64 = law::MAX_LOAD;

    /// Upper bound of the chance that [`CuckooParams::capacity`] distinct keys do not all find room, for fingerprints of 8
    /// bits or more. Shorter ones share pairs of buckets more often than by chance in some shapes, where it is up to ten
    /// times as much.
    pub const FAILURE_PROBABILITY: f64 = law::FAILURE;

    /// The smallest table that takes `keys` distinct keys, and whose rate of false positives with them is at most
    /// `fpr`.
    ///
    /// Fingerprints are long enough to keep the rate at 95% load, even if the table is larger for the keys' sake, and
    /// longer where a few more bits let so many keys find room. The number of buckets is even, so that the two buckets
    /// of a key always differ. The chance that not all keys find room is below [`CuckooParams::FAILURE_PROBABILITY`]
    /// (over hash functions); tables for up to a thousand keys are less full than 95% for it.
    ///
    /// * `keys`: distinct keys expected, at a time; 0 is legal;
    /// * `fpr`: probability of a wrong yes per absent key, within (0, 1); 0.01 is one in a hundred.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `fpr` is NaN or outside (0, 1), or lower than 32 bits of fingerprint (1.8e-9) or 64-bit
    /// hashes (`keys` / 2^63) allow, or if the table would not fit into the address space.
    ///
    /// # Source
    ///
    /// `[FanEtAl14, 5]`; the rate is exact where theirs is the bound 2b/2^f.
    pub fn for_fpr(keys: u64, fpr: f64) -> Result<Self, Error> {
        /// Bits beyond the shortest fingerprint that are tried: 8 bits are enough fingerprints for any number of keys.
        const LONGER: u32 = 4;
        let shortest = targets::shortest_fingerprint(keys, fpr)?;
        (shortest..=(shortest + LONGER).min(WIDEST))
            .filter_map(|bits| {
                let most = targets::most_buckets(bits);
                let mut buckets = law::buckets_for(keys, fingerprints(bits), most)?;
                // The shortest fingerprint keeps the rate at 95% load, to the last digits: see to those too.
                while (Self { buckets, fingerprint_bits: bits }).fpr(keys) > fpr {
                    buckets = buckets.checked_add(2).filter(|&buckets| buckets <= most)?;
                }
                Some(Self { buckets, fingerprint_bits: bits })
            })
            .min_by_key(Self::size_bytes)
            .ok_or(targets::too_many(keys))
    }

    /// A raw shape: `buckets` of four slots, for fingerprints of `fingerprint_bits`.
    ///
    /// With an odd number of buckets, one key in `buckets` has but one bucket, and can be stored only half as often.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `buckets` is 0 or takes more bytes than the address space has, or if `fingerprint_bits`
    /// is below [`CuckooParams::MIN_FINGERPRINT_BITS`] or above [`CuckooParams::MAX_FINGERPRINT_BITS`].
    pub fn with_shape(buckets: u64, fingerprint_bits: u32) -> Result<Self, Error> {
        Self { buckets, fingerprint_bits }.validated()
    }

    /// The one gate: what came from a constructor or from bytes is valid, or is refused.
    fn validated(self) -> Result<Self, Error> {
        targets::fingerprint_bits(self.fingerprint_bits)?;
        targets::buckets("buckets", self.buckets, self.fingerprint_bits)?;
        Ok(self)
    }

    /// Buckets of the table.
    pub const fn buckets(&self) -> u64 {
        self.buckets
    }

    /// Bits of a fingerprint, and of a slot.
    pub const fn fingerprint_bits(&self) -> u32 {
        self.fingerprint_bits
    }

    /// Slots of the table: the most entries it can hold.
    pub const fn slots(&self) -> u64 {
        self.buckets * SLOTS as u64
    }

    /// Distinct keys that all find room, but for a chance below [`CuckooParams::FAILURE_PROBABILITY`] over hash
    /// functions.
    ///
    /// For distinct keys: two keys of more than four copies each that share a bucket do not fit into their three buckets,
    /// and some two do from about the root of the number of buckets on.
    ///
    /// 95% of the slots, and fewer in tables of up to some hundred buckets, or if the fingerprint is short for the
    /// number of buckets. The table `cuckoo-load` has loads at the first failure.
    pub fn capacity(&self) -> u64 {
        law::capacity(self.buckets, fingerprints(self.fingerprint_bits))
    }

    /// Bytes of the table: what a filter of this shape allocates.
    pub fn size_bytes(&self) -> u64 {
        arch::size_bytes(self.buckets, self.fingerprint_bits)
    }

    /// Expected rate of false positives with `keys` distinct keys, a probability.
    ///
    /// An absent key is answered yes iff a key has its fingerprint and its pair of buckets:
    /// 1 - (1 - 2 / (m (2^f - 1)))^keys for m buckets (an even number) and f bits, near 8 load / 2^f, and `keys` /
    /// 2^64 for a shared hash. Exact over hash functions, at any load, whatever was inserted and removed before;
    /// copies of a key count once. The table `cuckoo-fpr` has measured rates beside it.
    ///
    /// # Source
    ///
    /// `[FanEtAl14, 5.1]` has the upper bound 8 / 2^f.
    pub fn fpr(&self, keys: u64) -> f64 {
        let fingerprints = fingerprints(self.fingerprint_bits) as f64;
        law::rate(self.buckets as f64, self.buckets % 2 == 1, fingerprints, keys as f64)
    }

    pub(crate) fn geometry(self) -> Geometry<Fixed> {
        Geometry::new(self.buckets, self.fingerprint_bits, Fixed)
    }
}

impl Params for CuckooParams {
    type Growth = Fixed;

    fn slots(&self) -> u64 {
        self.slots()
    }

    fn fpr(&self, keys: u64) -> f64 {
        self.fpr(keys)
    }

    fn same(&self, other: &Self) -> Result<(), Error> {
        let differs = |field| Err(Error::Incompatible { field });
        if self.buckets != other.buckets {
            differs("buckets")
        } else if self.fingerprint_bits != other.fingerprint_bits {
            differs("fingerprint_bits")
        } else {
            Ok(())
        }
    }

    #[inline]
    fn insert(table: &mut Table<Fixed>, entry: Entry) -> Result<(), Error> {
        table.insert(entry)
    }
}

/// What the parameters are written as; reading goes through the gate.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Shape {
    buckets: u64,
    fingerprint_bits: u32,
}

impl TryFrom<Shape> for CuckooParams {
    type Error = Error;

    fn try_from(Shape { buckets, fingerprint_bits }: Shape) -> Result<Self, Error> {
        Self { buckets, fingerprint_bits }.validated()
    }
}

impl From<CuckooParams> for Shape {
    fn from(CuckooParams { buckets, fingerprint_bits }: CuckooParams) -> Self {
        Self { buckets, fingerprint_bits }
    }
}
