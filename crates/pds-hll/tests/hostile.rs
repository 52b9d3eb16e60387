//! What bytes and hashes that somebody chose can do, and what not.

use pds_hll::prelude::*;
use proptest::collection::vec;
use proptest::prelude::*;

fn hll(precision: u8) -> HyperLogLog {
    HyperLogLog::new(HllParams::with_precision(precision).expect("4 to 18"))
}

fn ull(precision: u8) -> UltraLogLog {
    UltraLogLog::new(UllParams::with_precision(precision).expect("4 to 18"))
}

/// An estimate, and its bounds of one, two and no width.
type Answers = (f64, [(f64, f64); 5]);

const WIDTHS: [f64; 5] = [0.0, 1.0, 2.0, f64::INFINITY, f64::NAN];

/// The lower bound is not above the estimate, and the upper one not below.
fn is_between((estimate, bounds): Answers) -> bool {
    bounds.iter().all(|&(low, high)| low >= 0.0 && low <= estimate && estimate <= high)
}

fn of_hll(view: &HllView<'_>) -> Answers {
    (view.estimate(), WIDTHS.map(|kappa| view.bounds(kappa)))
}

fn of_ull(view: &UllView<'_>) -> Answers {
    (view.estimate(), WIDTHS.map(|kappa| view.bounds(kappa)))
}

/// What the form says.
const PACKED: u8 = 1;
const RAW: u8 = 1;

proptest! {
    #[test]
    fn the_bounds_of_forged_registers_enclose_the_estimate(
        payload in prop_oneof![vec(any::<u8>(), 12), (any::<u8>(), any::<u8>()).prop_map(|(a, b)| [[a; 6], [b; 6]].concat())],
    ) {
        let forged = pds_testkit::forge(&hll(4).to_bytes(), &[4, PACKED], &payload);
        let answers = of_hll(&HyperLogLog::view(&forged).unwrap());
        prop_assert!(is_between(answers), "{answers:?}");
    }

    #[test]
    fn the_bounds_of_forged_registers_with_flags_enclose_the_estimate(
        registers in prop_oneof![vec(any::<u8>(), 16), vec(0..4u8, 16), vec(prop_oneof![9 => Just(0u8), 1 => 0..12u8], 16)],
    ) {
        let forged = pds_testkit::forge(&ull(4).to_bytes(), &[4, RAW], &registers);
        let answers = of_ull(&UltraLogLog::view(&forged).unwrap());
        prop_assert!(is_between(answers), "{answers:?}");
        // Flags alone say of no key.
        prop_assert_eq!(answers.0 == 0.0, registers.iter().all(|r| *r < 4 || *r > 191));
    }

    #[test]
    fn the_bounds_of_few_keys_enclose_the_estimate(first: u64, count in 0..40u64, precision in 4..=6u8) {
        let (mut hll, mut ull) = (hll(precision), ull(precision));
        for key in (0..count).map(|i| first.wrapping_add(i)) {
            hll.insert(&key);
            ull.insert(&key);
            let answers = (hll.estimate(), WIDTHS.map(|kappa| hll.bounds(kappa)));
            prop_assert!(is_between(answers), "{answers:?}");
            let answers = (ull.estimate(), WIDTHS.map(|kappa| ull.bounds(kappa)));
            prop_assert!(is_between(answers), "{answers:?}");
        }
    }
}

/// The lower bound was 3, the registers in use, and the estimate 2.9877.
#[test]
fn the_lower_bound_of_four_keys_is_not_above_the_estimate() {
    let mut sketch = ull(4);
    sketch.extend(748..=751u64);
    let (low, high) = sketch.bounds(1.0);
    let estimate = sketch.estimate();
    assert!(estimate < 3.0 && low <= estimate && estimate <= high, "{low} to {high} around {estimate}");
}

/// Hashes whose tokens meet in a table of the first keys: half and one of them start their searches at slots in a row, the
/// others start in that row and go slot by slot.
fn meeting(precision: u8) -> Vec<u64> {
    /// The multiplier of the table's hash.
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let limit = HllParams::with_precision(precision).expect("4 to 18").sparse_limit();
    let mask = (limit / 3 * 4 - 1) as u64;
    let mut row = vec![None; limit / 2 + 1];
    let mut through = Vec::new();
    for token in (0..1u64 << 25).filter(|token| token & 63 < 38) {
        let product = token.wrapping_mul(ODD);
        let start = (product >> 32 & mask) as usize;
        let hash = 1 << (63 - (token & 63)) | token >> 6;
        match row.get_mut(start) {
            Some(_) if (product >> 48 | 1) & mask == 1 => through.push(hash),
            Some(place) => *place = Some(hash),
            None => {}
        }
    }
    through.truncate(limit - row.len());
    let hashes: Vec<u64> = row.into_iter().flatten().chain(through).collect();
    assert_eq!(hashes.len(), limit);
    hashes
}

/// They took time that was quadratic in their number; the counts of steps are in the tests of the table.
#[test]
fn hashes_chosen_to_meet_make_the_sketch_of_their_set() {
    let hashes = meeting(12);
    let backwards: Vec<u64> = hashes.iter().rev().copied().collect();
    let (mut one, mut other, mut flags) = (hll(12), hll(12), ull(12));
    for &hash in &hashes {
        assert!(one.insert_hash(hash) && flags.insert_hash(hash));
    }
    other.insert_batch(&backwards);
    assert!(one.is_sparse() && flags.is_sparse() && one == other && HyperLogLog::from(&flags) == one);
    let bytes = one.to_bytes();
    assert_eq!(bytes, other.to_bytes());
    assert!(HyperLogLog::from_bytes(&bytes).unwrap() == one);
    assert!(UltraLogLog::from_bytes(&flags.to_bytes()).unwrap() == flags);
    let shared = AtomicHyperLogLog::new(one.params());
    for &hash in &backwards {
        assert!(shared.insert_hash(hash));
    }
    assert!(!shared.insert_hash(hashes[700]) && !one.insert_hash(hashes[700]));
    assert!(shared.snapshot() == one);
    let (mut left, mut right) = (hll(12), hll(12));
    left.insert_batch(&hashes[..500]);
    right.insert_batch(&hashes[300..]);
    left.merge(&right).unwrap();
    assert!(left == one);
    // One more, and registers count.
    one.insert_hash(u64::MAX / 3);
    shared.insert_hash(u64::MAX / 3);
    assert!(!one.is_sparse() && shared.into_inner() == one);
}
