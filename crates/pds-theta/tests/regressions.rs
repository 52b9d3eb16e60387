//! Faults reported of other implementations, each with its right value.

use std::time::{Duration, Instant};

use pds_testkit::{SplitMix64, WireLaws, laws, seed_for};
use pds_theta::prelude::*;
use pds_theta::{WyHasher, difference, intersection, union};

fn params(lg_k: u8) -> ThetaParams {
    ThetaParams::with_lg_k(lg_k).expect("5 to 26")
}

fn of<K: Key>(lg_k: u8, keys: impl IntoIterator<Item = K>) -> ThetaSketch {
    let mut sketch = ThetaSketch::new(params(lg_k));
    sketch.extend(keys);
    sketch
}

/// Asserts that an estimate misses the truth by no more than chance explains.
#[track_caller]
fn assert_close(sketch: &ThetaSketch, truth: u64) {
    let error = sketch.estimate() / truth as f64 - 1.0;
    laws::bias_is_zero(error, sketch.params().predicted_error(truth), 1, 0.0)
        .assert(&format!("lg_k = {}, n = {truth}", sketch.params().lg_k()));
}

/// datasketches-java#325: the intersection of a small set with a large one was estimated above the small one.
#[test]
fn an_intersection_is_never_above_its_sources() {
    let mut clamped = 0;
    for trial in 0..2000 {
        let mut random = SplitMix64::new(seed_for("java#325", 0, trial));
        let keys: Vec<u64> = (0..20_000).map(|_| random.next_u64()).collect();
        let (small, large) = (of(5, &keys[..20]), of(5, &keys));
        let both = intersection(&[&small, &large]).unwrap();
        clamped += u64::from(both.retained() as f64 / both.theta() > 20.0);
        assert!(both.estimate() <= 20.0 && both.bounds(3.0).1 <= 20.0);
    }
    assert!(clamped > 0, "nothing was tried");
}

/// A result of a result forgot what it could not exceed, the least estimate hid an exact source of more keys, and a union with
/// an empty set raised the estimate.
#[test]
fn what_limits_a_result_limits_its_results() {
    let empty = of(5, 0..0u64);
    let (mut limited, mut by_count) = (0, 0);
    for trial in 0..1000u64 {
        let start = trial * 1_000_000;
        let (small, large) = (of(5, start..start + 20), of(5, start..start + 2000));
        let both = intersection(&[&small, &large]).unwrap();
        limited += u64::from(both.retained() as f64 / both.theta() > 20.0);
        for again in [
            intersection(&[&both, &both]),
            intersection(&[&both, &small]),
            intersection(&[&both]),
            difference(&both, &[&empty]),
            union(&[&both, &empty]),
            union(&[&both]),
        ] {
            assert!(again.unwrap() == both);
        }
        let part =
            difference(&intersection(&[&large, &both]).unwrap(), &[&of(5, start + 10..start + 150)]).unwrap();
        assert!(part.bounds(3.0).1 <= 20.0 && part.estimate() <= both.estimate());

        // One thousand keys, and a sketch of them that may promise fewer.
        let keys = start..start + 1000;
        let (exact, rough) = (of(10, keys.clone()), of(5, keys));
        let both = intersection(&[&exact, &rough]).unwrap();
        by_count += u64::from(rough.estimate() < 1000.0 && rough.bounds(2.0).1 > 1000.0);
        assert!(both.bounds(2.0).1 <= 1000.0 && both.estimate() <= rough.estimate());
    }
    assert!(limited > 0 && by_count > 0, "nothing was tried");
}

/// Limits that no result has were accepted.
#[test]
fn forged_limits_are_refused() {
    let exact = of(9, 0..400u64);
    let seed = (0..1000u64)
        .map(|i| {
            let more = |lg_k, keys| of(lg_k, (0..400).chain(10_000 * i + 1000..10_000 * i + 1000 + keys));
            intersection(&[&exact, &more(5, 50), &more(7, 3000)]).unwrap()
        })
        .find(|result| {
            let own = result.retained() as f64 / result.theta();
            result.retained() > 1 && result.estimate() < own.min(400.0)
        })
        .unwrap();
    let bytes = seed.to_bytes();
    let start = pds_testkit::payload_start(&bytes).unwrap();
    // At the end of the parameters: the byte 1, eight of the estimate, the byte 1, two of the count.
    let (before, limits) = bytes[24..start].split_at(start - 24 - 12);
    assert_eq!((limits[0], limits[9], &limits[10..]), (1, 1, &[0x90, 0x03][..]));
    let (own, least) = (seed.retained() as f64 / seed.theta(), seed.retained() as f64);
    let with = |estimate: Option<f64>, count: Option<&[u8]>| {
        let estimate = estimate.map_or(vec![0], |value| [&[1], &value.to_le_bytes()[..]].concat());
        let count = count.map_or(vec![0], |value| [&[1], value].concat());
        let params = [before, &estimate, &count].concat();
        let forged = pds_testkit::forge(&bytes, &params, &bytes[start..]);
        assert_eq!(CompactTheta::view(&forged).err(), CompactTheta::from_bytes(&forged).err());
        CompactTheta::from_bytes(&forged).err()
    };
    let (most, more) = (&[0x80, 0x80, 0x80, 0x20][..], &[0x81, 0x80, 0x80, 0x20][..]);
    assert_eq!(with(Some(seed.estimate()), Some(&limits[10..])), None);
    assert_eq!(with(None, None), None);
    assert_eq!(with(Some(least), Some(most)), None);
    assert_eq!(with(None, Some(&[seed.retained() as u8])), None);
    let refused = Some(Error::Malformed { field: "limits" });
    for estimate in [own, own * 2.0, 0.0, -0.0, -1.0, least - 0.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN]
    {
        assert_eq!(with(Some(estimate), None), refused, "{estimate}");
    }
    for count in [&[0][..], &[seed.retained() as u8 - 1], more] {
        assert_eq!(with(None, Some(count)), refused, "{count:?}");
    }
    // An estimate that the count makes needless.
    assert_eq!(with(Some(least + 1.0), Some(&[seed.retained() as u8])), refused);
    // An exact result has no limits.
    let all = exact.compact().to_bytes();
    let start = pds_testkit::payload_start(&all).unwrap();
    for limits in [&[0, 1, 0x90, 0x03][..], &[1, 0, 0, 0, 0, 0, 0, 0x59, 0x40, 0]] {
        let params = [&all[24..start - 2], limits].concat();
        let forged = pds_testkit::forge(&all, &params, &all[start..]);
        assert_eq!(CompactTheta::from_bytes(&forged).err(), refused);
    }
}

/// datasketches-hive#64: 41 % off, and no word that it may be: a small overlap of large sets rests on few hashes.
#[test]
fn the_bounds_of_a_small_overlap_say_how_little_is_known() {
    let (a, b) = (of(12, 0..1_000_000u32), of(12, 999_000..2_000_000u32));
    let both = intersection(&[&a, &b]).unwrap();
    let (low, high) = both.bounds(3.0);
    assert!(low <= 1000.0 && 1000.0 <= high, "{low} to {high}");
    assert!(high - low > both.estimate(), "about four of 4096 hashes are in both");
}

/// datasketches-java#162: growing the table of some sizes never ended.
#[test]
fn every_size_grows_and_is_trimmed() {
    for lg_k in ThetaParams::MIN_LG_K..=16 {
        let mut sketch = ThetaSketch::new(params(lg_k));
        let k = sketch.params().k() as u64;
        for (i, keys) in [k / 2, k, k + 1, 2 * k, 8 * k].into_iter().enumerate() {
            sketch.extend(0..keys);
            assert!(sketch.size_bytes() <= sketch.params().size_bytes());
            assert_eq!(sketch.is_exact(), i < 2);
            assert_close(&sketch, keys);
        }
    }
    let mut largest = ThetaSketch::new(params(ThetaParams::MAX_LG_K));
    largest.extend(0..100u8);
    assert!(largest.size_bytes() < 10_000, "a table is not made before it is needed");
    assert_eq!(largest.estimate().to_bits(), 100f64.to_bits());
}

/// datasketches-go#43: the hash that names the seed was computed with another seed, so that sketches of different seeds met.
#[test]
fn sketches_of_different_seeds_are_never_combined() {
    let of_seed = |seed| {
        let mut sketch = ThetaSketch::with_hasher(params(6), WyHasher::with_seed(seed));
        sketch.extend(0..1000u32);
        sketch
    };
    let (one, two) = (of_seed(1), of_seed(2));
    assert!(matches!(one.clone().merge(&two), Err(Error::Hasher { .. })));
    assert!(matches!(union(&[&one, &two]), Err(Error::Hasher { .. })));
    assert!(matches!(intersection(&[&one, &two]), Err(Error::Hasher { .. })));
    assert!(matches!(difference(&one, &[&two]), Err(Error::Hasher { .. })));
    assert!(union(&[&one, &of_seed(1)]).unwrap() == one.compact());
}

/// datasketches-cpp#460: bytes of two implementations differed in flags though the sketches were equal.
#[test]
fn equal_sketches_have_equal_bytes_however_they_came_to_be() {
    let whole = of(8, 0..10_000u32);
    let mut backwards = of(8, (0..10_000u32).rev());
    let mut merged = of(12, 0..7000u32);
    merged.merge(&of(8, 3000..10_000u32)).unwrap();
    let mut folded = of(11, 0..10_000u32);
    folded.fold_to(8).unwrap();
    let read = ThetaSketch::from_bytes(&whole.to_bytes()).unwrap();
    backwards.trim();
    for sketch in [&backwards, &merged, &folded, &read] {
        assert!(sketch.to_bytes() == whole.to_bytes() && sketch == &whole);
        assert_eq!(sketch.estimate().to_bits(), whole.estimate().to_bits());
        assert!(sketch.compact().to_bytes() == whole.compact().to_bytes());
    }
}

/// datasketches-cpp#512, doris#67469: a sketch that was trimmed late lost hashes on merging.
#[test]
fn merging_before_and_after_trimming_is_the_same() {
    for extra in [0, 1, 31, 32, 200, 5000] {
        let (mut left, mut right) = (of(8, 0..256 + extra), of(8, 200..600 + extra));
        let mut untrimmed = left.clone();
        untrimmed.merge(&right).unwrap();
        left.trim();
        right.trim();
        left.merge(&right).unwrap();
        assert!(left == untrimmed && left == of(8, 0..600 + extra));
    }
}

/// An update after a decode was dropped; a decoded sketch merged as an empty one.
#[test]
fn merging_inserting_and_decoding_see_each_other() {
    let (mut left, mut both) = (of(10, 0..1000u32), of(10, 0..3000u32));
    left.merge(&of(12, 500..3000u32)).unwrap();
    assert!(left == both);
    let mut decoded = ThetaSketch::from_bytes(&left.to_bytes()).unwrap();
    for sketch in [&mut left, &mut decoded, &mut both] {
        sketch.extend(3000..5000u32);
    }
    assert!(left == both && decoded == both);
    let mut merged = ThetaSketch::new(params(12));
    merged.merge(&decoded).unwrap();
    assert!(merged == both);
}

/// Hash 0 marked a free slot, and the greatest hash was never below the threshold: both were lost.
#[test]
fn the_extreme_hashes_are_counted() {
    let mut sketch = ThetaSketch::new(params(5));
    assert!(sketch.insert_hash(0) && sketch.insert_hash(u64::MAX));
    assert!(!sketch.insert_hash(0) && !sketch.insert_hash(1));
    assert!(!sketch.insert_hash(u64::MAX) && !sketch.insert_hash(u64::MAX - 1));
    assert_eq!((sketch.estimate().to_bits(), sketch.retained()), (2f64.to_bits(), 2));
    assert_eq!(sketch.compact().hashes(), [1, u64::MAX - 1]);
    let greatest: Vec<u64> = (0..100).map(|i| u64::MAX - i).collect();
    sketch.insert_batch(&greatest);
    assert!(!sketch.insert_hash(u64::MAX), "beyond the threshold");
    assert!(ThetaSketch::from_bytes(&sketch.to_bytes()).unwrap() == sketch);
}

/// Hashes in steps of a power of two, or in a row, met in one slot: quadratic time.
#[test]
fn clustered_hashes_take_no_longer() {
    const COUNT: u64 = 1 << 18;
    /// A hundred times what it takes; quadratic, it would be hours.
    const PATIENCE: Duration = Duration::from_secs(20);
    /// Inverse of the multiplier that places hashes: all of these begin at one slot.
    const MEETING: u64 = 0xf1de_83e1_9937_733d;
    let start = Instant::now();
    for step in [1, 1 << 20, 1 << 46, MEETING] {
        let mut sketch = ThetaSketch::new(params(18));
        for i in 1..=COUNT {
            sketch.insert_hash(i.wrapping_mul(step));
        }
        assert!(sketch.retained() == COUNT as usize || step == MEETING);
        assert!(ThetaSketch::from_bytes(&sketch.to_bytes()).unwrap() == sketch);
    }
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
}

/// Images with a count, an order or a threshold that no sketch has were accepted.
#[test]
fn corrupt_bytes_are_refused_and_hostile_ones_survived() {
    let wire = WireLaws::<ThetaSketch> {
        exercise: |sketch| assert!(sketch.estimate() >= 0.0),
        ..WireLaws::new(ThetaSketch::from_bytes)
    };
    let sketch = of(5, 0..200u8);
    wire.all(&sketch);
    let bytes = sketch.to_bytes();
    let start = pds_testkit::payload_start(&bytes).unwrap();
    let payload = &bytes[start..];
    let threshold = &bytes[26..start];
    let with = |lg_k: u8, count: &[u8], threshold: &[u8]| {
        let params = [&[lg_k], count, threshold].concat();
        ThetaSketch::from_bytes(&pds_testkit::forge(&bytes, &params, payload)).err()
    };
    assert_eq!(with(5, &[32], threshold), None);
    // A threshold, and not k hashes.
    assert_eq!(with(5, &[31], threshold), Some(Error::Malformed { field: "count" }));
    assert_eq!(with(6, &[32], threshold), Some(Error::Malformed { field: "count" }));
    // More than k.
    assert_eq!(with(5, &[33], threshold), Some(Error::Malformed { field: "threshold" }));
    // No threshold: hashes of other gaps than these bytes have.
    assert!(with(5, &[32], &[0]).is_some());
    // A threshold of 0, of 7 and of 2^64 - 1.
    assert_eq!(with(5, &[32], &[1, 0]), Some(Error::Malformed { field: "threshold" }));
    assert_eq!(with(5, &[32], &[1, 7]), Some(Error::Malformed { field: "threshold" }));
    let greatest = [[1].as_slice(), &[0xff; 9], &[1]].concat();
    assert_eq!(with(5, &[32], &greatest), Some(Error::Malformed { field: "threshold" }));
    // A billion hashes in no bytes.
    assert!(with(26, &[0xff, 0xff, 0xff, 0xff, 0x03], &[0]).is_some());
    assert!(with(4, &[32], threshold).is_some() && with(27, &[32], threshold).is_some());
    // A payload of zeros, of ones.
    for fill in [0, 0xff] {
        let forged = [&bytes[..start], &vec![fill; payload.len()]].concat();
        let mut forged = forged;
        pds_testkit::reseal(&mut forged, start);
        assert_eq!(ThetaSketch::from_bytes(&forged).err(), Some(Error::Malformed { field: "hashes" }));
    }
}

/// What decoding takes is bounded by what there is to decode: also of hashes that take the fewest bits and meet in one slot.
#[test]
fn decoding_takes_at_most_sixteen_times_the_bytes() {
    const MOST: usize = 16;
    let mut dense = ThetaSketch::new(params(12));
    dense.insert_batch(&(1..=10_000).collect::<Vec<u64>>());
    let mut few = ThetaSketch::new(params(12));
    few.insert_batch(&(1..=13).collect::<Vec<u64>>());
    for sketch in [dense, few] {
        let bytes = sketch.to_bytes();
        assert!(ThetaSketch::from_bytes(&bytes).unwrap().size_bytes() <= MOST * bytes.len());
    }
}

#[test]
fn a_target_is_kept_or_refused() {
    let lg_k = |error| ThetaParams::for_error(error).map(|params| params.lg_k());
    assert_eq!(lg_k(0.01), Ok(14));
    assert_eq!(lg_k(0.0157), Ok(12));
    assert_eq!(lg_k(0.5), Ok(5));
    assert_eq!(lg_k(0.000_122_08), Ok(26));
    for value in [0.0001, 0.0, -0.0, -0.01, 1.0, 1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let domain = "0.00012208 <= relative_error < 1 (1 / sqrt(2^26 - 1): lg_k 26)";
        assert_eq!(lg_k(value), Err(Error::Parameter { name: "relative_error", value, domain }));
    }
    for lg_k in [0, 4, 27, 64, 255] {
        let expected = Error::Parameter { name: "lg_k", value: f64::from(lg_k), domain: "5 to 26" };
        assert_eq!(ThetaParams::with_lg_k(lg_k), Err(expected));
    }
}

/// Sizing is value-breaking API: a target never gets another size.
#[test]
fn sizes_are_pinned() {
    const PINNED: [(f64, u8); 20] = [
        (0.9999, 5),
        (0.18, 5),
        (0.1796, 6),
        (0.15, 6),
        (0.1259, 7),
        (0.1, 7),
        (0.08, 8),
        (0.0626, 9),
        (0.05, 9),
        (0.04, 10),
        (0.03, 11),
        (0.0222, 11),
        (0.02, 12),
        (0.0156, 13),
        (0.01, 14),
        (0.005, 16),
        (0.002, 18),
        (0.001, 20),
        (0.0005, 22),
        (0.00013, 26),
    ];
    for (error, lg_k) in PINNED {
        assert_eq!(ThetaParams::for_error(error).unwrap().lg_k(), lg_k, "{error}");
    }
}

/// A column's integer width changed the sketch; both zeros and every NaN counted apart.
#[test]
fn one_value_is_one_key_whatever_its_type() {
    let mut sketch = of(5, [5u8]);
    assert!(!sketch.insert(&5i64) && !sketch.insert(&5usize) && !sketch.insert(&5u16));
    sketch.clear();
    sketch.extend([0.0f64, -0.0, f64::NAN, -f64::NAN]);
    assert!(!sketch.insert(&-0.0f32) && !sketch.insert(&f32::NAN));
    assert_eq!(sketch.estimate().to_bits(), 2f64.to_bits());
}

/// A weak hash of structured keys counted 2000 as 244.
#[test]
fn structured_keys_count_as_well_as_random_ones() {
    assert_close(&of(12, 0..1_000_000u64), 1_000_000);
    assert_close(&of(12, (0..1_000_000u64).map(|i| i << 32)), 1_000_000);
    assert_close(&of(12, (0..1_000_000u32).map(|i| i.to_string())), 1_000_000);
    let mut keyed = ThetaSketch::with_hasher(params(12), SipHasher::new([7; 16]));
    keyed.extend((0..100_000u32).map(f64::from));
    let error = keyed.estimate() / 100_000.0 - 1.0;
    laws::bias_is_zero(error, keyed.params().predicted_error(100_000), 1, 0.0).assert("keyed");
}
