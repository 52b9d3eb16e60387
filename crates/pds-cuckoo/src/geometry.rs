//! From a hash to a fingerprint and its two places.

use pds_hash::reduce;

/// How far a table can grow, and how far it has.
pub(crate) trait Growth: Copy + PartialEq {
    /// Doublings between the smallest table and the largest.
    fn doublings(self) -> u32;

    /// Doublings that are still to come: as many bits of the index are kept in each slot.
    fn spare(self) -> u32;
}

/// Of a table that does not grow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fixed;

impl Growth for Fixed {
    #[inline]
    fn doublings(self) -> u32 {
        0
    }

    #[inline]
    fn spare(self) -> u32 {
        0
    }
}

/// Of a table that doubles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Planned {
    pub(crate) doublings: u32,
    pub(crate) spare: u32,
}

impl Planned {
    /// Doublings that lie behind.
    pub(crate) fn done(self) -> u32 {
        self.doublings - self.spare
    }
}

impl Growth for Planned {
    #[inline]
    fn doublings(self) -> u32 {
        self.doublings
    }

    #[inline]
    fn spare(self) -> u32 {
        self.spare
    }
}

/// A fingerprint and one of its two indices.
///
/// An index names a bucket of the largest table, whatever the size of the present one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) index: u64,
    pub(crate) fingerprint: u64,
}

/// The number of a bucket of the present table: made here alone, and below the number of buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bucket(u64);

impl Bucket {
    /// The first bucket, which every table has.
    pub(crate) const FIRST: Self = Self(0);

    #[inline]
    pub(crate) fn number(self) -> u64 {
        self.0
    }
}

/// Where an entry lies, and what is stored there: the fingerprint above the index bits that the bucket does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) bucket: Bucket,
    pub(crate) value: u64,
}

/// The arithmetic of places, of a table whose smallest size is `first` buckets.
///
/// An index is `bucket of the smallest table * 2^doublings + rest`. The two indices of a fingerprint have buckets that
/// add up to a number drawn from the fingerprint, modulo `first`, and rests whose exclusive or is another such number.
/// Either index leads to the other, for any `first`: `s - (s - i) = i`. Where `first` is even the sum is odd, so that
/// the two buckets differ at every size of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Geometry<G> {
    first: u64,
    fingerprint_bits: u32,
    /// 1 where `first` is even: sums are made odd.
    odd: u64,
    /// How many fingerprints there are: 1 up to this number; 0 is an empty slot.
    fingerprints: u64,
    growth: G,
}

impl<G: Growth> Geometry<G> {
    pub(crate) fn new(first: u64, fingerprint_bits: u32, growth: G) -> Self {
        Self { first, fingerprint_bits, odd: !first & 1, fingerprints: (1 << fingerprint_bits) - 1, growth }
    }

    /// The same places, of a table of another size.
    pub(crate) fn with_growth(self, growth: G) -> Self {
        Self { growth, ..self }
    }

    pub(crate) fn growth(&self) -> G {
        self.growth
    }

    /// Buckets of the present table.
    pub(crate) fn buckets(&self) -> u64 {
        self.first << (self.growth.doublings() - self.growth.spare())
    }

    /// All of them.
    pub(crate) fn all_buckets(&self) -> impl Iterator<Item = Bucket> + use<G> {
        (0..self.buckets()).map(Bucket)
    }

    /// Bits of a slot.
    pub(crate) fn slot_bits(&self) -> u32 {
        self.fingerprint_bits + self.growth.spare()
    }

    /// The entry of a hash.
    ///
    /// The product of hash and number of indices has the index as its upper word; the lower word is where within the
    /// index's share of all hashes this one lies, and gives the fingerprint. So the fingerprint is uniform whatever
    /// the index, for any number of them.
    #[inline]
    pub(crate) fn entry(&self, hash: u64) -> Entry {
        let product = u128::from(hash) * u128::from(self.first << self.growth.doublings());
        Entry { index: (product >> 64) as u64, fingerprint: 1 + reduce(product as u64, self.fingerprints) }
    }

    /// The same fingerprint by its other index; twice is the entry itself.
    #[inline]
    pub(crate) fn partner(&self, entry: Entry) -> Entry {
        let doublings = self.growth.doublings();
        let rest = (1 << doublings) - 1;
        let drawn = reduce(scramble(entry.fingerprint), self.first << doublings);
        let (sum, bucket) = ((drawn >> doublings) | self.odd, entry.index >> doublings);
        let difference = sum.wrapping_sub(bucket);
        let bucket = if sum < bucket { difference.wrapping_add(self.first) } else { difference };
        Entry { index: (bucket << doublings) | ((entry.index ^ drawn) & rest), ..entry }
    }

    #[inline]
    pub(crate) fn place(&self, entry: Entry) -> Place {
        let spare = self.growth.spare();
        Place {
            bucket: Bucket(entry.index >> spare),
            value: (entry.fingerprint << spare) | (entry.index & ((1 << spare) - 1)),
        }
    }

    /// The entry that a slot stores.
    #[inline]
    pub(crate) fn entry_at(&self, place: Place) -> Entry {
        let spare = self.growth.spare();
        Entry {
            index: (place.bucket.0 << spare) | (place.value & ((1 << spare) - 1)),
            fingerprint: place.value >> spare,
        }
    }

    /// The other place of what a slot stores.
    #[inline]
    pub(crate) fn other(&self, place: Place) -> Place {
        self.place(self.partner(self.entry_at(place)))
    }
}

/// Spreads the few fingerprints over 64 bits.
///
/// A square, on purpose: with sums linear in the fingerprint, buckets meet in short cycles, and tables of short
/// fingerprints are full early.
#[inline]
fn scramble(fingerprint: u64) -> u64 {
    /// 2^64 over the golden ratio, made odd.
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    /// The fractional part of the square root of 2, made odd.
    const TURN: u64 = 0x6a09_e667_f3bc_c909;
    let spread = fingerprint.wrapping_mul(STEP);
    spread.wrapping_mul(spread ^ TURN)
}

#[cfg(test)]
mod tests {
    use std::format;

    use pds_testkit::{DistinctKeys, laws};

    use super::*;

    /// Sizes on both sides of 2^32 buckets.
    const SIZES: [u64; 12] =
        [1, 2, 3, 5, 121, 1000, (1 << 31) - 1, 1 << 32, (1 << 32) + 1, 1 << 36, 3 << 39, 1 << 40];

    #[test]
    fn either_index_leads_to_the_other_for_any_number_of_buckets() {
        for first in SIZES {
            for bits in [4, 12, 32] {
                for (doublings, spare) in [(0, 0), (1, 1), (5, 2), (8, 8), (20, 0)] {
                    let geometry = Geometry::new(first, bits, Planned { doublings, spare });
                    for hash in DistinctKeys::new(first).range(0..1000) {
                        let entry = geometry.entry(hash);
                        let other = geometry.partner(entry);
                        assert_eq!(geometry.partner(other), entry);
                        for entry in [entry, other] {
                            let place = geometry.place(entry);
                            assert!(place.bucket.number() < geometry.buckets());
                            assert!(entry.fingerprint > 0 && place.value >> geometry.slot_bits() == 0);
                            assert_eq!(geometry.entry_at(place), entry);
                        }
                        assert_eq!(geometry.other(geometry.place(entry)), geometry.place(other));
                        let same = geometry.place(entry).bucket == geometry.place(other).bucket;
                        assert!(!(same && first % 2 == 0), "two buckets where their number is even");
                    }
                }
            }
        }
    }

    #[test]
    fn a_table_that_does_not_grow_is_a_plan_without_doublings() {
        let (fixed, planned) =
            (Geometry::new(121, 9, Fixed), Geometry::new(121, 9, Planned { doublings: 0, spare: 0 }));
        for hash in DistinctKeys::new(5).range(0..1000) {
            assert_eq!(fixed.entry(hash), planned.entry(hash));
            assert_eq!(fixed.partner(fixed.entry(hash)), planned.partner(planned.entry(hash)));
        }
    }

    #[test]
    fn doubling_splits_buckets_in_two() {
        for hash in DistinctKeys::new(6).range(0..1000) {
            let bucket = |spare| {
                let geometry = Geometry::new(10, 8, Planned { doublings: 6, spare });
                geometry.place(geometry.entry(hash)).bucket.number()
            };
            for spare in 0..6 {
                assert_eq!(bucket(spare) / 2, bucket(spare + 1));
            }
        }
    }

    /// Others drew the fingerprint from the bits that had chosen the bucket.
    #[test]
    fn fingerprints_and_indices_are_uniform_and_one_tells_nothing_of_the_other() {
        for buckets in [16u64, 100, 1 << 20, (1 << 32) + 1, 1 << 40] {
            for bits in [4, 12] {
                let geometry = Geometry::new(buckets, bits, Fixed);
                let (mut both, mut partners) = ([0u64; 150], [0u64; 150]);
                for hash in DistinctKeys::new(buckets ^ u64::from(bits)).range(0..150_000) {
                    let entry = geometry.entry(hash);
                    let other = geometry.partner(entry);
                    // One of 15 fingerprints, or of as many groups of them, and one of 10 stretches of buckets.
                    let group = (entry.fingerprint - 1) * 15 / ((1 << bits) - 1);
                    let stretch = |index: u64| (u128::from(index) * 10 / u128::from(buckets)) as u64;
                    both[(group * 10 + stretch(entry.index)) as usize] += 1;
                    partners[(group * 10 + stretch(other.index)) as usize] += 1;
                }
                if buckets >= 1000 || bits == 12 {
                    // Stretches of 16 and 100 buckets are not of one size, or partners of 15 fingerprints are few.
                    if buckets >= 1000 {
                        laws::chi_square_uniform(&both).assert(&format!("{buckets} buckets, {bits} bits"));
                        laws::chi_square_uniform(&partners)
                            .assert(&format!("{buckets} buckets, {bits} bits, partners"));
                    }
                } else if buckets == 100 {
                    laws::chi_square_uniform(&both).assert("100 buckets, 4 bits");
                }
            }
        }
    }
}
