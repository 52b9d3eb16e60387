//! Few keys one by one, many in registers: which it is depends on the set alone, whatever the path.

use std::collections::HashSet;

use pds_hll::WyHasher;
use pds_hll::prelude::*;
use pds_testkit::{DistinctKeys, SplitMix64, key_lists, laws, seed_for};
use proptest::collection::vec;
use proptest::prelude::*;

fn params(precision: u8) -> HllParams {
    HllParams::with_precision(precision).expect("4 to 18")
}

fn of(precision: u8, keys: &[u64]) -> HyperLogLog {
    let mut sketch = HyperLogLog::new(params(precision));
    sketch.extend(keys);
    sketch
}

/// What is kept of a hash while there are few.
fn token(hash: u64) -> u64 {
    u64::from((hash as u32) << 6 | hash.leading_zeros().min(38))
}

/// Hashes of which no two are taken for one.
fn hashes(n: usize) -> Vec<u64> {
    let mut seen = HashSet::new();
    let mut random = SplitMix64::new(9);
    std::iter::repeat_with(|| random.next_u64()).filter(|&hash| seen.insert(token(hash))).take(n).collect()
}

proptest! {
    #[test]
    fn every_way_to_the_same_set_has_the_same_bytes(
        lists in vec((key_lists(), 4..=14u8), 1..5), seed: u64,
    ) {
        let lowest = lists.iter().map(|(_, precision)| *precision).min().unwrap();
        let mut all: Vec<u64> = lists.iter().flat_map(|(keys, _)| keys.clone()).collect();
        SplitMix64::new(seed).shuffle(&mut all);
        let whole = of(lowest, &all);
        let parts: Vec<HyperLogLog> = lists.iter().map(|(keys, precision)| of(*precision, keys)).collect();
        let references: Vec<&HyperLogLog> = parts.iter().collect();

        let mut many = parts[0].clone();
        many.merge_many(&references).unwrap();
        prop_assert!(many.to_bytes() == whole.to_bytes());
        let mut views = parts[0].clone();
        for part in &parts {
            views.merge_view(&HyperLogLog::view(&part.to_bytes()).unwrap()).unwrap();
        }
        prop_assert!(views.to_bytes() == whole.to_bytes());
        let mut one_by_one = HyperLogLog::new(params(14));
        for part in &parts {
            one_by_one.merge(&HyperLogLog::from_bytes(&part.to_bytes()).unwrap()).unwrap();
        }
        prop_assert!(one_by_one.to_bytes() == whole.to_bytes());
        let mut folded = of(14, &all);
        folded.fold_to(lowest).unwrap();
        prop_assert!(folded.to_bytes() == whole.to_bytes());
        let mut batch = HyperLogLog::new(params(lowest));
        batch.insert_batch(&all.iter().map(|key| WyHasher::default().hash_key(key)).collect::<Vec<_>>());
        prop_assert!(batch.to_bytes() == whole.to_bytes());

        let union = HyperLogLog::union_estimate(&references).unwrap();
        prop_assert_eq!(union.to_bits(), whole.estimate().to_bits());
        prop_assert!(parts.iter().zip(&lists).all(|(part, (keys, p))| *part == of(*p, keys)), "an operand changed");
    }

    #[test]
    fn keys_go_on_after_decoding_and_merging(
        a in key_lists(), b in key_lists(), c in key_lists(), p in 4..=12u8, q in 4..=12u8,
    ) {
        let mut sketch = HyperLogLog::from_bytes(&of(p, &a).to_bytes()).unwrap();
        sketch.merge(&of(q, &b)).unwrap();
        sketch.extend(&c);
        let expected = of(p.min(q), &[a, b, c].concat());
        prop_assert!(sketch == expected);
        prop_assert_eq!(sketch.estimate().to_bits(), expected.estimate().to_bits());
        prop_assert_eq!(sketch.bounds(2.0), expected.bounds(2.0));
    }

    #[test]
    fn registers_are_the_same_whether_they_are_kept_or_made(keys in key_lists(), precision in 4..=14u8) {
        let mut dense = of(4, &keys);
        let sketch = of(precision, &keys);
        let mut values = vec![0u8; 16];
        for (i, &value) in sketch.registers().iter().enumerate() {
            values[i % 16] = values[i % 16].max(value);
        }
        prop_assert_eq!(dense.registers().into_owned(), values);
        dense.extend(&keys);
        prop_assert_eq!(dense.registers().len(), 16);
    }
}

#[test]
fn registers_begin_one_key_above_the_limit_by_every_path() {
    for precision in HllParams::MIN_PRECISION..=HllParams::MAX_PRECISION {
        let limit = params(precision).sparse_limit();
        assert_eq!(limit, (3 << precision) / 16);
        let hashes = hashes(limit + 1);
        let empty = || HyperLogLog::new(params(precision));
        let (mut at, mut above) = (empty(), empty());
        for &hash in &hashes[..limit] {
            assert!(at.insert_hash(hash));
        }
        above.insert_batch(&hashes);
        assert!(at.is_sparse() && !above.is_sparse());
        // The table grows no larger than the registers that take its place.
        assert!(at.size_bytes() <= params(precision).size_bytes());
        assert_eq!(above.size_bytes(), params(precision).size_bytes());

        let (mut left, mut right) = (empty(), empty());
        left.insert_batch(&hashes[..=limit / 2]);
        right.insert_batch(&hashes[limit / 2..]);
        left.merge(&right).unwrap();
        assert!(left == above);
        let mut more = HyperLogLog::from_bytes(&at.to_bytes()).unwrap();
        assert!(more == at && !more.insert_hash(hashes[0]) && more.is_sparse());
        assert!(more.insert_hash(hashes[limit]) && more == above);
        if precision < HllParams::MAX_PRECISION {
            let mut finer = HyperLogLog::new(params(precision + 1));
            finer.insert_batch(&hashes);
            assert!(finer.is_sparse());
            finer.fold_to(precision).unwrap();
            assert!(finer == above);
        }
    }
}

/// Alike keys in both operands count once before the form is chosen; small sketches stay small.
#[test]
fn overlapping_unions_of_few_keys_stay_exact() {
    let keys: Vec<u64> = DistinctKeys::new(4).range(0..400).collect();
    let mut sketch = of(11, &keys[..300]);
    sketch.merge(&of(11, &keys[..300])).unwrap();
    sketch.merge(&of(11, &keys[100..384])).unwrap();
    assert!(sketch.is_sparse());
    assert_eq!(sketch.estimate().round().to_bits(), 384.0f64.to_bits());
    let mut tiny = of(14, &[1, 2, 3]);
    tiny.merge(&of(14, &[3, 4])).unwrap();
    assert!(tiny.to_bytes().len() < 50 && tiny.size_bytes() <= 64);
}

#[test]
fn an_empty_list_has_no_keys_and_a_refused_list_changes_nothing() {
    assert_eq!(HyperLogLog::<WyHasher>::union_estimate(&[]), Ok(0.0));
    let mut sketch = of(8, &[1, 2, 3]);
    sketch.merge_many(&[]).unwrap();
    assert!(sketch == of(8, &[1, 2, 3]));
    let keyed = |key: u8, keys: &[u64]| {
        let mut sketch = HyperLogLog::with_hasher(params(6), SipHasher::new([key; 16]));
        sketch.extend(keys);
        sketch
    };
    let mut left = keyed(1, &[1, 2, 3]);
    let refusal = left.merge_many(&[&keyed(1, &[7]), &keyed(2, &[8])]);
    assert!(matches!(refusal, Err(Error::Hasher { .. })) && left == keyed(1, &[1, 2, 3]));
    let bytes = keyed(1, &[7]).to_bytes();
    let view = HyperLogLog::view_with(&bytes, SipHasher::new([1; 16])).unwrap();
    assert!(matches!(sketch.merge_view(&view), Err(Error::Hasher { .. })));
    // Damage behind right checksums.
    let mut forged = of(8, &[1, 2, 3]).to_bytes();
    let start = pds_testkit::payload_start(&forged).unwrap();
    *forged.last_mut().unwrap() = 0xff;
    pds_testkit::reseal(&mut forged, start);
    let refusal = sketch.merge_view(&HyperLogLog::view(&forged).unwrap());
    assert_eq!(refusal, Err(Error::Malformed { field: "tokens" }));
    assert!(sketch == of(8, &[1, 2, 3]));
    // Damage that opening does not see.
    for keys in [3, 500] {
        let mut bytes = of(8, &(0..keys).collect::<Vec<_>>()).to_bytes();
        *bytes.last_mut().unwrap() ^= 1;
        assert_eq!(sketch.merge_view(&HyperLogLog::view(&bytes).unwrap()), Err(Error::Checksum));
        assert!(sketch == of(8, &[1, 2, 3]));
    }
}

#[test]
fn the_estimate_of_few_keys_never_falls_and_is_off_by_a_collision_at_most() {
    let mut sketch = HyperLogLog::new(params(18));
    let mut last = 0.0;
    let mut random = SplitMix64::new(12);
    for n in 1..=params(18).sparse_limit() as u64 {
        sketch.insert_hash(random.next_u64());
        let estimate = sketch.estimate();
        assert!(estimate >= last);
        last = estimate;
        if n % 4096 == 0 || n < 1000 {
            let truth = n as f64;
            laws::bias_is_zero(estimate - truth, params(18).predicted_error(n) * truth, 1, 0.5)
                .assert(&format!("n = {n}"));
        }
    }
}

/// At the greatest precision a handful of keys are hidden behind others.
#[test]
fn bounds_of_few_keys_hold_them() {
    const TRIALS: u64 = 150;
    for keys in [1000, 10_000, 45_000] {
        let mut hits = [0; 3];
        for trial in 0..TRIALS {
            let mut random = SplitMix64::new(seed_for("few-bounds", keys, trial));
            let mut sketch = HyperLogLog::new(params(18));
            sketch.insert_batch(&(0..keys).map(|_| random.next_u64()).collect::<Vec<_>>());
            assert!(sketch.is_sparse());
            let truth = keys as f64;
            for (hits, kappa) in hits.iter_mut().zip([1.0, 2.0, 3.0]) {
                let (low, high) = sketch.bounds(kappa);
                *hits += u64::from(low.floor() <= truth && truth <= high.ceil());
            }
        }
        for (hits, nominal) in hits.into_iter().zip([0.6827, 0.9545, 0.9973]) {
            laws::rate_at_least(hits, TRIALS, nominal).assert(&format!("{keys} keys: {nominal}"));
        }
    }
}

#[test]
fn the_byte_form_of_few_keys_takes_two_and_a_half_bytes_a_key() {
    /// What 1000 keys at precision 14 may take.
    const AT_MOST: f64 = 2.6 * 1000.0 + 40.0;
    for trial in 0..20 {
        let keys: Vec<u64> = DistinctKeys::new(seed_for("few-bytes", 0, trial)).range(0..1000).collect();
        laws::at_most(of(14, &keys).to_bytes().len() as f64, AT_MOST).assert("bytes");
    }
}

#[test]
fn the_byte_form_of_many_keys_is_near_the_entropy_of_the_registers() {
    /// 2.83 bits a register are 1450 bytes; the rest is the counts, the coder, and the envelope.
    const AT_MOST: f64 = 1510.0;
    const TRIALS: u64 = 10;
    let total: usize = (0..TRIALS)
        .map(|trial| {
            let mut random = SplitMix64::new(seed_for("many-bytes", 0, trial));
            let mut sketch = HyperLogLog::new(params(12));
            sketch.insert_batch(&(0..1_000_000).map(|_| random.next_u64()).collect::<Vec<_>>());
            sketch.to_bytes().len()
        })
        .sum();
    println!("mean bytes at p = 12, n = 10^6: {}", total as f64 / TRIALS as f64);
    laws::at_most(total as f64 / TRIALS as f64, AT_MOST).assert("bytes");
}

#[test]
fn a_ratio_has_the_errors_of_both_counts() {
    const TRIALS: u64 = 500;
    let params = params(12);
    let (mut errors, mut hits) = (Vec::new(), 0);
    for trial in 0..TRIALS {
        let keys = DistinctKeys::new(seed_for("ratio", 0, trial));
        let (mut one, mut two) = (HyperLogLog::new(params), HyperLogLog::new(params));
        one.extend(keys.range(0..30_000));
        two.extend(keys.range(30_000..50_000));
        let ratio = one.ratio(&two, 2.0).unwrap();
        errors.push(ratio.value / 1.5 - 1.0);
        hits += u64::from(ratio.lower <= 1.5 && 1.5 <= ratio.upper);
    }
    let sigma = params.predicted_error(30_000).hypot(params.predicted_error(20_000));
    laws::rmse_is_within(&errors, sigma, 0.02).assert("spread");
    laws::rate_is(hits, TRIALS, 0.9545).assert("coverage");
}

#[test]
fn a_ratio_that_is_none_is_not_given() {
    let (empty, some) = (of(8, &[]), of(8, &[1, 2, 3]));
    assert_eq!(some.ratio(&empty, 2.0), None);
    let none = empty.ratio(&some, 2.0).unwrap();
    assert_eq!((none.value, none.lower, none.upper), (0.0, 0.0, 0.0));
    let one = some.ratio(&some, 2.0).unwrap();
    assert!(one.value.to_bits() == 1.0f64.to_bits() && one.lower > 0.999 && one.upper < 1.001);
    let wide = of(8, &(0..1000).collect::<Vec<_>>()).ratio(&some, f64::NAN).unwrap();
    assert_eq!((wide.lower, wide.upper), (0.0, f64::INFINITY));
    let mut full = HyperLogLog::new(params(4));
    full.insert_batch(&(0..16).collect::<Vec<u64>>());
    assert_eq!((full.ratio(&some, 1.0), some.ratio(&full, 1.0)), (None, None));
}

/// Hashes that all start their search at one place of the table.
#[test]
fn hostile_hashes_are_counted_like_others() {
    let params = params(12);
    let mut sketch = HyperLogLog::new(params);
    // Tokens are what a table of 1024 slots sees: so many with one place are found by trying.
    let place = |hash: u64| token(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & 1023;
    let crowd: Vec<u64> =
        (0..4_000_000u64).map(|i| 1 << 63 | i).filter(|&hash| place(hash) == 7).take(3000).collect();
    for &hash in &crowd {
        sketch.insert_hash(hash);
    }
    assert!(crowd.len() == 3000 && !sketch.is_sparse());
}
