//! Questions: keys, hashes, shares and times that answers are asked for, the odd ones first.

use pds_testkit::SplitMix64;

/// Shares, factors, times and values that somebody will ask for.
pub(crate) const ODD: [f64; 16] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    0.999_999_999_999,
    1.000_000_000_000_000_2,
    f64::MIN_POSITIVE,
    5e-324,
    f64::MAX,
    f64::MIN,
    2.0,
    1e-9,
];

/// Shares of [0, 1] in ascending order.
pub(crate) const SHARES: [f64; 9] = [0.0, 1e-9, 0.01, 0.25, 0.5, 0.75, 0.99, 0.999_999_999, 1.0];

/// The count up to which a t-digest tells every rank apart: beyond, ranks are rounded, and answers may step back by their
/// last bits.
pub(crate) const TOLD_APART: u64 = 1 << 53;

/// What one input is asked with.
pub struct Probe {
    /// More than any structure looks ahead in a batch.
    pub(crate) hashes: Vec<u64>,
    /// Keys of the small numbers that the golden files hold, and others.
    pub(crate) keys: [u64; 4],
    /// Numbers to count by.
    pub(crate) counts: [u64; 5],
}

impl Probe {
    /// Hashes drawn from the bytes, behind those at both ends.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        const BATCH: usize = 80;
        let seed = bytes.iter().fold(0, |seed: u64, &byte| seed.rotate_left(5) ^ u64::from(byte));
        let mut random = SplitMix64::new(seed);
        let mut hashes = vec![0, 1, u64::MAX, 1 << 63];
        hashes.resize_with(BATCH, || random.next_u64());
        // Small hashes, which a theta sketch of many keys still takes.
        hashes.extend((0..8).map(|shift| random.next_u64() >> (shift * 8)));
        Self {
            hashes,
            keys: [0, 1, random.below(1000), random.next_u64()],
            counts: [0, 1, 1 + random.below(1 << 20), u64::from(u32::MAX), u64::MAX],
        }
    }
}

/// Asserts that a number is a probability or another share.
#[track_caller]
pub(crate) fn assert_share(share: f64) {
    assert!((0.0..=1.0).contains(&share), "{share} is no share");
}

/// Asserts that a number counts something: neither negative nor NaN.
#[track_caller]
pub(crate) fn assert_count(count: f64) {
    assert!(count >= 0.0, "{count} counts nothing");
}

/// Asserts that bounds are in order and contain the estimate.
#[track_caller]
pub(crate) fn assert_within<T: PartialOrd + Copy + std::fmt::Debug>((low, high): (T, T), estimate: T) {
    assert!(low <= estimate && estimate <= high, "{estimate:?} outside of {low:?}..={high:?}");
}
