//! From targets, or from a raw shape, to validated parameters.

use serde::{Deserialize, Serialize};

use crate::geometry::{Entry, Geometry, Planned};
use crate::lanes::{SLOTS, WIDEST};
use crate::stored::Params;
use crate::table::Table;
use crate::targets::{self, fingerprints};
use crate::{CuckooParams, Error, arch, law};

/// The plan of a growable cuckoo filter: buckets at first, how often they may double, and bits of a fingerprint.
///
/// A value of this type is valid: a filter of it can be made without further checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Plan", into = "Plan")]
pub struct GrowableCuckooParams {
    first_buckets: u64,
    doublings: u32,
    fingerprint_bits: u32,
}

impl GrowableCuckooParams {
    /// Most bits of a slot: fingerprint and doublings share them.
    pub const MAX_SLOT_BITS: u32 = WIDEST;

    /// A plan from a table for `initial_keys` to one for `max_keys` distinct keys, whose rate of false positives with
    /// `max_keys` keys is at most `fpr`. With fewer keys it is lower in proportion.
    ///
    /// The largest table is that of [`CuckooParams::for_fpr`], but for rounding the first table up to an even number of
    /// buckets, which its doublings multiply: by up to a tenth from some sixty keys on, and up to twice from fewer than
    /// ten; [`CuckooParams::FAILURE_PROBABILITY`] holds for it. While there are doublings left each costs one bit
    /// a slot. A plan of so many doublings that a slot would have more than 32 bits starts with a larger table.
    ///
    /// # Errors
    ///
    /// As [`CuckooParams::for_fpr`]; [`Error::Parameter`] if `initial_keys` is above `max_keys`.
    pub fn for_fpr(initial_keys: u64, max_keys: u64, fpr: f64) -> Result<Self, Error> {
        let largest = CuckooParams::for_fpr(max_keys, fpr)?;
        let (bits, buckets) = (largest.fingerprint_bits(), largest.buckets());
        if initial_keys > max_keys {
            return Err(Error::Parameter {
                name: "initial_keys",
                value: initial_keys as f64,
                domain: "up to max_keys",
            });
        }
        let first = |doublings: u32| buckets.div_ceil(1 << doublings).next_multiple_of(2);
        let enough = |doublings: &u32| law::capacity(first(*doublings), fingerprints(bits)) >= initial_keys;
        let most = (buckets / 2).ilog2().min(Self::MAX_SLOT_BITS - bits);
        let doublings = (1..=most).take_while(enough).last().unwrap_or(0);
        Self::with_shape(first(doublings), doublings, bits).map_err(|_| targets::too_many(max_keys))
    }

    /// A raw plan: `first_buckets` of four slots, an even number, which may double `doublings` times, for fingerprints
    /// of `fingerprint_bits`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `first_buckets` is 0 or odd, if `fingerprint_bits` is below
    /// [`CuckooParams::MIN_FINGERPRINT_BITS`], if it and `doublings` are above [`GrowableCuckooParams::MAX_SLOT_BITS`]
    /// together, or if the largest table takes more bytes than the address space has.
    pub fn with_shape(first_buckets: u64, doublings: u32, fingerprint_bits: u32) -> Result<Self, Error> {
        Self { first_buckets, doublings, fingerprint_bits }.validated()
    }

    /// The one gate: what came from a constructor or from bytes is valid, or is refused.
    fn validated(self) -> Result<Self, Error> {
        let refused = |name, value, domain| Err(Error::Parameter { name, value, domain });
        targets::fingerprint_bits(self.fingerprint_bits)?;
        if self.doublings > Self::MAX_SLOT_BITS - self.fingerprint_bits {
            return refused("doublings", f64::from(self.doublings), "up to 32 - fingerprint_bits");
        }
        if self.first_buckets % 2 == 1 {
            return refused("first_buckets", self.first_buckets as f64, "an even number");
        }
        let largest = self.first_buckets.saturating_mul(1 << self.doublings);
        // Slots of the largest table are the narrowest, and yet it is the largest in bytes: halving the buckets makes
        // each slot one bit wider.
        targets::buckets("first_buckets", largest, self.fingerprint_bits)?;
        Ok(self)
    }

    /// Buckets of the smallest table.
    pub const fn first_buckets(&self) -> u64 {
        self.first_buckets
    }

    /// How often the smallest table may double.
    pub const fn doublings(&self) -> u32 {
        self.doublings
    }

    /// Bits of a fingerprint, and of a slot of the largest table. A slot of a smaller one has a bit more for each
    /// doubling that is left.
    pub const fn fingerprint_bits(&self) -> u32 {
        self.fingerprint_bits
    }

    /// Slots of the largest table: the most entries it can hold.
    pub const fn slots(&self) -> u64 {
        (self.first_buckets << self.doublings) * SLOTS as u64
    }

    /// Distinct keys that all find room in the largest table, as [`CuckooParams::capacity`].
    pub fn capacity(&self) -> u64 {
        law::capacity(self.first_buckets << self.doublings, fingerprints(self.fingerprint_bits))
    }

    /// Bytes of the largest table.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes_after(self.doublings)
    }

    /// Bytes of the table after some doublings: 0 of them for an empty filter, and never more than
    /// [`GrowableCuckooParams::doublings`]. Growing needs the old table and the new one for a moment.
    pub fn size_bytes_after(&self, doublings: u32) -> u64 {
        let done = doublings.min(self.doublings);
        arch::size_bytes(self.first_buckets << done, self.fingerprint_bits + self.doublings - done)
    }

    /// Expected rate of false positives with `keys` distinct keys, a probability: 1 - (1 - 2 / (M (2^f - 1)))^keys for
    /// M buckets of the largest table, whatever the present size.
    ///
    /// Slots of a smaller table tell as much more as they are fewer. So the rate grows with the number of keys, and
    /// not by growing.
    pub fn fpr(&self, keys: u64) -> f64 {
        let buckets = self.first_buckets << self.doublings;
        law::rate(buckets as f64, false, fingerprints(self.fingerprint_bits) as f64, keys as f64)
    }

    pub(crate) fn geometry(self, done: u32) -> Geometry<Planned> {
        let growth = Planned { doublings: self.doublings, spare: self.doublings - done };
        Geometry::new(self.first_buckets, self.fingerprint_bits, growth)
    }
}

impl Params for GrowableCuckooParams {
    type Growth = Planned;

    fn slots(&self) -> u64 {
        self.slots()
    }

    fn fpr(&self, keys: u64) -> f64 {
        self.fpr(keys)
    }

    fn same(&self, other: &Self) -> Result<(), Error> {
        let differs = |field| Err(Error::Incompatible { field });
        if self.first_buckets != other.first_buckets {
            differs("first_buckets")
        } else if self.doublings != other.doublings {
            differs("doublings")
        } else if self.fingerprint_bits != other.fingerprint_bits {
            differs("fingerprint_bits")
        } else {
            Ok(())
        }
    }

    #[inline]
    fn insert(table: &mut Table<Planned>, entry: Entry) -> Result<(), Error> {
        table.insert_growing(entry)
    }
}

/// What the parameters are written as; reading goes through the gate.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Plan {
    first_buckets: u64,
    doublings: u32,
    fingerprint_bits: u32,
}

impl TryFrom<Plan> for GrowableCuckooParams {
    type Error = Error;

    fn try_from(Plan { first_buckets, doublings, fingerprint_bits }: Plan) -> Result<Self, Error> {
        Self { first_buckets, doublings, fingerprint_bits }.validated()
    }
}

impl From<GrowableCuckooParams> for Plan {
    fn from(params: GrowableCuckooParams) -> Self {
        let GrowableCuckooParams { first_buckets, doublings, fingerprint_bits } = params;
        Self { first_buckets, doublings, fingerprint_bits }
    }
}
