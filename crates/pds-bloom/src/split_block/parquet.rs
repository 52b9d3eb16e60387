//! Filters that Parquet files hold: their hash function, and their values by type.

use pds_core::fingerprint_of;
use twox_hash::XxHash64;

use crate::{Fingerprint, KeyHasher, SplitBlockBloomFilter, SplitBlockBloomView};

/// XXH64 with seed 0: the hash function of Bloom filters in Parquet files.
///
/// A column's filter is one of the PLAIN encoding of its values, which [`Key`](crate::Key) is not: there an `i32` is
/// extended to 8 bytes, an `f32` widened to an `f64`, -0.0 is +0.0 and every NaN one NaN, so that
/// `insert(&5i32)` sets other bits than Parquet does for an INT32 of 5. Use [`SplitBlockBloomFilter::insert_i32`] and its
/// like, by the physical type of the column.
///
/// # Source
///
/// `[ParquetBloom]`; the function: `[XxHash]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParquetHasher;

impl Fingerprint for ParquetHasher {
    fn fingerprint(&self) -> u64 {
        fingerprint_of(self)
    }
}

impl KeyHasher for ParquetHasher {
    #[inline]
    fn hash_bytes(&self, bytes: &[u8]) -> u64 {
        /// The seed that the format prescribes.
        const SEED: u64 = 0;
        XxHash64::oneshot(SEED, bytes)
    }
}

/// By the physical type of a column, as Parquet hashes them.
impl SplitBlockBloomFilter<ParquetHasher> {
    /// Adds an INT32: its 4 bytes.
    pub fn insert_i32(&mut self, value: i32) -> bool {
        self.insert_bytes(&value.to_le_bytes())
    }

    /// Adds an INT64: its 8 bytes.
    pub fn insert_i64(&mut self, value: i64) -> bool {
        self.insert_bytes(&value.to_le_bytes())
    }

    /// Adds a FLOAT: its 4 bytes as they are, -0.0 apart from +0.0 and each NaN by its own bits.
    pub fn insert_f32(&mut self, value: f32) -> bool {
        self.insert_bytes(&value.to_le_bytes())
    }

    /// Adds a DOUBLE: its 8 bytes as they are, -0.0 apart from +0.0 and each NaN by its own bits.
    pub fn insert_f64(&mut self, value: f64) -> bool {
        self.insert_bytes(&value.to_le_bytes())
    }

    /// Adds a BYTE_ARRAY, a FIXED_LEN_BYTE_ARRAY or an INT96: its bytes, without the length before them.
    pub fn insert_bytes(&mut self, value: &[u8]) -> bool {
        self.insert(value)
    }

    /// As [`SplitBlockBloomFilter::contains`], for what [`SplitBlockBloomFilter::insert_i32`] adds.
    pub fn contains_i32(&self, value: i32) -> bool {
        self.contains_bytes(&value.to_le_bytes())
    }

    /// As [`SplitBlockBloomFilter::contains`], for what [`SplitBlockBloomFilter::insert_i64`] adds.
    pub fn contains_i64(&self, value: i64) -> bool {
        self.contains_bytes(&value.to_le_bytes())
    }

    /// As [`SplitBlockBloomFilter::contains`], for what [`SplitBlockBloomFilter::insert_f32`] adds.
    pub fn contains_f32(&self, value: f32) -> bool {
        self.contains_bytes(&value.to_le_bytes())
    }

    /// As [`SplitBlockBloomFilter::contains`], for what [`SplitBlockBloomFilter::insert_f64`] adds.
    pub fn contains_f64(&self, value: f64) -> bool {
        self.contains_bytes(&value.to_le_bytes())
    }

    /// As [`SplitBlockBloomFilter::contains`], for what [`SplitBlockBloomFilter::insert_bytes`] adds.
    pub fn contains_bytes(&self, value: &[u8]) -> bool {
        self.contains(value)
    }
}

/// By the physical type of a column, as Parquet hashes them.
impl SplitBlockBloomView<'_, ParquetHasher> {
    /// As [`SplitBlockBloomFilter::contains_i32`].
    pub fn contains_i32(&self, value: i32) -> bool {
        self.contains_bytes(&value.to_le_bytes())
    }

    /// As [`SplitBlockBloomFilter::contains_i64`].
    pub fn contains_i64(&self, value: i64) -> bool {
        self.contains_bytes(&value.to_le_bytes())
    }

    /// As [`SplitBlockBloomFilter::contains_f32`].
    pub fn contains_f32(&self, value: f32) -> bool {
        self.contains_bytes(&value.to_le_bytes())
    }

    /// As [`SplitBlockBloomFilter::contains_f64`].
    pub fn contains_f64(&self, value: f64) -> bool {
        self.contains_bytes(&value.to_le_bytes())
    }

    /// As [`SplitBlockBloomFilter::contains_bytes`].
    pub fn contains_bytes(&self, value: &[u8]) -> bool {
        self.contains(value)
    }
}
