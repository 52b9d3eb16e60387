//! What the sketch promises, on arbitrary keys and hashes.

use std::collections::BTreeSet;
use std::num::NonZeroU64;

use pds_testkit::{
    DistinctKeys, WireLaws, key_lists, merge_laws, payload_start, refused_merge_law, reseal, wire_laws,
};
use pds_theta::prelude::*;
use pds_theta::{WyHasher, union};
use proptest::collection::vec;
use proptest::prelude::*;

type Loose = ThetaSketch<Prehashed>;

/// Hashes of one's own: no hash function stands behind them.
fn own() -> Prehashed {
    Prehashed(NonZeroU64::MIN)
}

fn params(lg_k: u8) -> ThetaParams {
    ThetaParams::with_lg_k(lg_k).expect("5 to 26")
}

fn of(lg_k: u8, keys: &[u64]) -> ThetaSketch {
    let mut sketch = ThetaSketch::new(params(lg_k));
    sketch.extend(keys);
    sketch
}

fn of_hashes(lg_k: u8, hashes: &[u64]) -> Loose {
    let mut sketch = ThetaSketch::with_hasher(params(lg_k), own());
    sketch.insert_batch(hashes);
    sketch
}

/// Hashes as they should be, and as they should not be: clustered at either end, in steps of powers of two, the same.
fn hash_lists() -> BoxedStrategy<Vec<u64>> {
    prop_oneof![
        vec(any::<u64>(), 0..400),
        vec(0..300u64, 0..600),
        vec((u64::MAX - 300)..=u64::MAX, 0..600),
        (0..58u32, 0..400u64).prop_map(|(shift, n)| (0..n).map(|i| i << shift).collect()),
        (any::<u64>(), 0..3000u64).prop_map(|(seed, n)| DistinctKeys::new(seed).range(0..n).collect()),
    ]
    .boxed()
}

/// The k smallest hashes, and the one next to them: what the sketch of any stream is.
fn oracle(lg_k: u8, hashes: &[u64]) -> (Vec<u64>, f64) {
    let set: BTreeSet<u64> = hashes.iter().map(|&hash| hash.clamp(1, u64::MAX - 1)).collect();
    let kept: Vec<u64> = set.iter().copied().take(1 << lg_k).collect();
    let theta = set.iter().nth(1 << lg_k).map_or(1.0, |&hash| hash as f64 / 2f64.powi(64));
    (kept, theta)
}

const WIRE: WireLaws<ThetaSketch> = WireLaws {
    exercise: |sketch| {
        let (low, high) = sketch.bounds(2.0);
        assert!(low <= sketch.estimate() && sketch.estimate() <= high);
        let compact = sketch.compact();
        assert_eq!(compact.retained(), sketch.retained());
        assert!(compact.hashes().is_sorted_by(|a, b| a < b));
        let mut more = sketch.clone();
        more.extend(0..50u64);
        more.merge(sketch).expect("one hasher");
        assert!(more.retained() >= sketch.retained());
    },
    view: |bytes| {
        if let Ok(view) = ThetaSketch::view(bytes) {
            assert!(view.estimate() >= 0.0);
            assert_eq!(ThetaParams::peek(bytes), Ok(view.params()));
            assert_eq!(view.to_compact().is_ok(), ThetaSketch::from_bytes(bytes).is_ok());
            takes_part(&view);
        }
    },
    ..WireLaws::new(ThetaSketch::from_bytes)
};

const RESULTS: WireLaws<CompactTheta> = WireLaws {
    exercise: |result| {
        let (low, high) = result.bounds(2.0);
        assert!(low <= high && result.retained() as f64 <= high, "{low} to {high}, {result:?}");
        assert!(result.estimate() >= 0.0);
    },
    view: |bytes| {
        if let Ok(view) = CompactTheta::view(bytes) {
            assert!(view.estimate() >= 0.0 && view.bounds(2.0).0 <= view.bounds(2.0).1);
            assert_eq!(view.to_compact().is_ok(), CompactTheta::from_bytes(bytes).is_ok());
            takes_part(&view);
        }
    },
    ..WireLaws::new(CompactTheta::from_bytes)
};

/// Any view is as good as its bytes: operations with it keep their own laws.
fn takes_part(view: &ThetaView<'_>) {
    let _ = view.verify();
    let other = of(5, &(0..40).collect::<Vec<u64>>());
    for result in [
        union(&[view, &other]).expect("one hasher"),
        pds_theta::intersection(&[&other, view]).expect("one hasher"),
        pds_theta::difference(&other, &[view]).expect("one hasher"),
        pds_theta::difference(view, &[&other]).expect("one hasher"),
    ] {
        assert!(result.hashes().is_sorted_by(|a, b| a < b));
        assert!(result.hashes().last().is_none_or(|&last| last as f64 / 2f64.powi(64) <= result.theta()));
        assert!(result.estimate() >= 0.0);
    }
    let (low, high) = pds_theta::jaccard(view, &other).expect("one hasher").bounds(1.0);
    assert!(0.0 <= low && low <= high && high <= 1.0);
}

/// Of two overlapping parts of the keys.
fn common(keys: &[u64]) -> CompactTheta {
    let third = keys.len() / 3;
    pds_theta::intersection(&[&of(5, &keys[..2 * third]), &of(6, &keys[third..])]).expect("one hasher")
}

mod merging {
    use super::*;

    merge_laws! { five_bits, |keys: &[u64]| of(5, keys), idempotent }
    merge_laws! { ten_bits, |keys: &[u64]| of(10, keys), idempotent }
    merge_laws! { hashes_of_any_kind, |keys: &[u64]| of_hashes(6, keys), idempotent }
    wire_laws! { five_bit_bytes, WIRE, |keys: &[u64]| of(5, keys), canonical }
    wire_laws! { ten_bit_bytes, WIRE, |keys: &[u64]| of(10, keys), canonical }
    wire_laws! { result_bytes, RESULTS, common }
}

proptest! {
    #[test]
    fn a_sketch_is_the_k_smallest_hashes_and_the_one_next_to_them(hashes in hash_lists(), lg_k in 5..=9u8) {
        let mut sketch = of_hashes(lg_k, &hashes);
        let (kept, theta) = oracle(lg_k, &hashes);
        for trimmed in [false, true] {
            let compact = sketch.compact();
            prop_assert_eq!(compact.hashes(), &kept[..]);
            prop_assert_eq!(sketch.theta().to_bits(), theta.to_bits());
            prop_assert_eq!(sketch.retained(), kept.len());
            prop_assert_eq!(sketch.is_empty(), hashes.is_empty());
            prop_assert_eq!(sketch.estimate().to_bits(), (kept.len() as f64 / theta).to_bits());
            prop_assert_eq!(sketch.compact().estimate().to_bits(), sketch.estimate().to_bits());
            prop_assert_eq!(sketch.compact().bounds(2.0), sketch.bounds(2.0));
            prop_assert!(!trimmed || sketch.size_bytes() <= sketch.params().size_bytes());
            sketch.trim();
        }
        let read = Loose::from_bytes_with(&sketch.to_bytes(), own()).unwrap();
        prop_assert!(read == sketch && read.estimate().to_bits() == sketch.estimate().to_bits());
    }

    #[test]
    fn up_to_k_keys_are_counted_exactly(keys in key_lists(), lg_k in 5..=11u8, kappa: f64) {
        let sketch = of(lg_k, &keys);
        let distinct = keys.iter().collect::<BTreeSet<_>>().len();
        prop_assert_eq!(sketch.is_exact(), distinct <= 1 << lg_k);
        if sketch.is_exact() {
            let count = distinct as f64;
            prop_assert_eq!((sketch.estimate(), sketch.bounds(kappa)), (count, (count, count)));
        }
    }

    #[test]
    fn merging_any_sizes_gives_the_sketch_of_the_whole_stream_at_the_least(
        a in hash_lists(), b in hash_lists(), c in hash_lists(), p in 5..=9u8, q in 5..=9u8, r in 5..=9u8,
    ) {
        let whole = of_hashes(p.min(q).min(r), &[&a[..], &b, &c].concat());
        let parts = [of_hashes(p, &a), of_hashes(q, &b), of_hashes(r, &c)];
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let [x, y, z] = order.map(|i| &parts[i]);
            let mut left = x.clone();
            left.merge(y).unwrap();
            left.merge(z).unwrap();
            prop_assert!(left.to_bytes() == whole.to_bytes());
            let mut right = y.clone();
            right.merge(z).unwrap();
            let mut all = x.clone();
            all.merge(&right).unwrap();
            prop_assert!(all == whole && all.params() == whole.params());
            prop_assert_eq!(all.estimate().to_bits(), whole.estimate().to_bits());
            prop_assert_eq!(all.bounds(1.5), whole.bounds(1.5));
            prop_assert!(union(&[x, y, z]).unwrap() == whole.compact(), "the union is the merge");
            // Thresholds of merged sketches go on as those of streams.
            all.insert_batch(&a);
            prop_assert!(all == whole);
        }
        prop_assert!(parts[0] == of_hashes(p, &a) && parts[1] == of_hashes(q, &b), "an operand has changed");
    }

    #[test]
    fn merged_sketches_go_on_as_the_whole_stream_would(
        a in hash_lists(), b in hash_lists(), c in hash_lists(), p in 5..=8u8, q in 5..=8u8,
    ) {
        let mut merged = of_hashes(p, &a);
        merged.merge(&of_hashes(q, &b)).unwrap();
        merged.insert_batch(&c);
        prop_assert!(merged.to_bytes() == of_hashes(p.min(q), &[&a[..], &b, &c].concat()).to_bytes());
    }

    #[test]
    fn merging_bytes_is_decoding_and_merging(
        a in hash_lists(), b in hash_lists(), p in 5..=9u8, q in 5..=9u8, at in any::<prop::sample::Index>(), flip: u8,
        resealed: bool,
    ) {
        let (one, mut bytes) = (of_hashes(p, &a), of_hashes(q, &b).to_bytes());
        let both_ways = |bytes: &[u8]| {
            let (mut direct, mut decoded) = (one.clone(), one.clone());
            let result = direct.merge_encoded(bytes, own());
            let other = Loose::from_bytes_with(bytes, own());
            assert_eq!(result, other.and_then(|other| decoded.merge(&other)));
            assert!(direct.to_bytes() == decoded.to_bytes() && direct == decoded);
            assert!(result.is_ok() || direct == one, "a refused merge has changed it");
            result
        };
        prop_assert_eq!(both_ways(&bytes), Ok(()));
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        if let (true, Some(start)) = (resealed, payload_start(&bytes)) {
            reseal(&mut bytes, start);
        }
        let _ = both_ways(&bytes);
    }

    #[test]
    fn folding_gives_the_sketch_that_the_keys_make_at_the_lesser_size(
        keys in key_lists(), high in 5..=12u8, low in 5..=12u8,
    ) {
        let mut folded = of(high, &keys);
        if low <= high {
            folded.fold_to(low).unwrap();
            prop_assert!(folded.to_bytes() == of(low, &keys).to_bytes());
        } else {
            prop_assert!(folded.fold_to(low).is_err());
            prop_assert!(folded == of(high, &keys));
        }
    }

    #[test]
    fn a_greater_sketch_knows_all_that_a_lesser_one_knows(hashes in hash_lists(), low in 5..=8u8, high in 5..=10u8) {
        prop_assume!(low < high);
        let (lesser, greater) = (of_hashes(low, &hashes).compact(), of_hashes(high, &hashes).compact());
        prop_assert!(greater.hashes().starts_with(lesser.hashes()));
        prop_assert!(greater.theta() >= lesser.theta());
        for keys in [10, 1000, 1 << 40] {
            prop_assert!(greater.params().predicted_error(keys) <= lesser.params().predicted_error(keys));
        }
    }

    #[test]
    fn false_says_that_nothing_changed_and_no_key_is_taken_in_twice(keys in key_lists(), lg_k in 5..=8u8) {
        let mut sketch = of(lg_k, &[]);
        for key in &keys {
            let before = sketch.to_bytes();
            let taken = sketch.insert(key);
            prop_assert!(taken || sketch.to_bytes() == before);
            prop_assert!(!sketch.insert(key), "a key was taken in twice");
        }
        for key in &keys {
            prop_assert!(!sketch.insert(key), "a key was taken in twice");
        }
    }

    #[test]
    fn keys_hashes_and_batches_give_one_sketch(lg_k in 5..=8u8, keys in key_lists()) {
        let hasher = WyHasher::default();
        let hashes: Vec<u64> = keys.iter().map(|key| hasher.hash_key(key)).collect();
        let (mut by_hash, mut by_batch, mut by_key) = (of(lg_k, &[]), of(lg_k, &[]), of(lg_k, &[]));
        for (key, &hash) in keys.iter().zip(&hashes) {
            prop_assert_eq!(by_hash.insert_hash(hash), by_key.insert(key));
        }
        by_batch.insert_batch(&hashes);
        prop_assert!(by_hash == by_key && by_batch == by_key);
        by_key.clear();
        prop_assert!(by_key.is_empty() && by_key == of(lg_k, &[]) && by_key.estimate().to_bits() == 0);
    }

    #[test]
    fn the_least_size_that_keeps_the_target_is_chosen(error in prop_oneof![0.0..1.2f64, 0.0..0.01f64]) {
        let reachable = params(26).std_error() <= error && error < 1.0;
        match ThetaParams::for_error(error) {
            Ok(params) => {
                prop_assert!(reachable && params.std_error() <= error);
                if let Ok(smaller) = ThetaParams::with_lg_k(params.lg_k() - 1) {
                    prop_assert!(smaller.std_error() > error);
                }
            }
            Err(refusal) => {
                prop_assert!(!reachable);
                let domain = "0.00012208 <= relative_error < 1 (1 / sqrt(2^26 - 1): lg_k 26)";
                prop_assert_eq!(refusal, Error::Parameter { name: "relative_error", value: error, domain });
            }
        }
    }

    #[test]
    fn a_view_of_any_payload_gives_ascending_hashes_below_the_threshold(
        keys in key_lists(), payload in vec(any::<u8>(), 0..600), zeros in 0..600usize,
    ) {
        let bytes = of(5, &keys).to_bytes();
        WIRE.survives_forgeries(&bytes, &[], &payload);
        let start = pds_testkit::payload_start(&bytes).unwrap();
        for fill in [0, 0xff, 0x80] {
            let mut forged = bytes.clone();
            let end = forged.len();
            forged[start.max(end - zeros.min(end - start))..].fill(fill);
            pds_testkit::reseal(&mut forged, start);
            WIRE.survives(&forged);
        }
    }
}

#[test]
fn only_one_form_of_each_state_is_read() {
    for count in [0, 1, 31, 32, 33, 1000] {
        let keys: Vec<u64> = (0..count).collect();
        WIRE.accepts_canonical_bytes_only(&of(5, &keys).to_bytes());
        WIRE.round_trips_to_an_equal(&of(5, &keys));
        RESULTS.accepts_canonical_bytes_only(&common(&keys).to_bytes());
        RESULTS.round_trips_to_an_equal(&common(&keys));
    }
}

#[test]
fn other_hashers_do_not_merge_decode_or_combine_and_nothing_changes() {
    let keyed = |key: u8| {
        let mut sketch = ThetaSketch::with_hasher(params(6), SipHasher::new([key; 16]));
        sketch.extend(0..500u64);
        sketch
    };
    let (one, two) = (keyed(1), keyed(2));
    let (expected, found) = (one.hasher().fingerprint(), two.hasher().fingerprint());
    let refused = Error::Hasher { expected, found };
    assert_eq!(refused_merge_law(one.clone(), &two), refused);
    assert_eq!(union(&[&one, &two]).err(), Some(refused));
    assert_eq!(pds_theta::intersection(&[&one, &two.compact()]).err(), Some(refused));
    assert_eq!(pds_theta::difference(&one, &[&one, &two]).err(), Some(refused));
    assert_eq!(pds_theta::jaccard(&one, &two).err(), Some(refused));
    let bytes = one.to_bytes();
    assert!(matches!(ThetaSketch::from_bytes(&bytes), Err(Error::Hasher { .. })));
    assert!(matches!(ThetaSketch::view(&bytes), Err(Error::Hasher { .. })));
    // Neither where the bytes differ from the hasher at hand, nor where that differs from the sketch's.
    for (bytes, key) in [(two.to_bytes(), 1), (two.to_bytes(), 2)] {
        let mut merged = one.clone();
        let result = merged.merge_encoded(&bytes, SipHasher::new([key; 16]));
        assert!(matches!(result, Err(Error::Hasher { .. })) && merged == one);
    }
    assert!(matches!(CompactTheta::from_bytes(&one.compact().to_bytes()), Err(Error::Hasher { .. })));

    // Who does not hold the key can still count and combine.
    let elsewhere = Prehashed(NonZeroU64::new(expected).unwrap());
    let mut copy = ThetaSketch::from_bytes_with(&bytes, elsewhere).unwrap();
    copy.merge(&copy.clone()).unwrap();
    assert_eq!(copy.estimate().to_bits(), one.estimate().to_bits());
    assert!(copy.to_bytes() == bytes);
}

#[test]
fn serde_carries_the_envelope_and_checks_a_size() {
    let sketch = of(8, &[1, 2, 3]);
    let text = serde_json::to_string(&sketch).unwrap();
    assert!(serde_json::from_str::<ThetaSketch>(&text).unwrap() == sketch);
    let result = common(&(0..1000).collect::<Vec<_>>());
    let text = serde_json::to_string(&result).unwrap();
    assert!(serde_json::from_str::<CompactTheta>(&text).unwrap() == result);
    let params = serde_json::to_string(&sketch.params()).unwrap();
    assert_eq!(params, r#"{"lg_k":8}"#);
    assert_eq!(serde_json::from_str::<ThetaParams>(&params).unwrap(), sketch.params());
    for invalid in [r#"{"lg_k":4}"#, r#"{"lg_k":27}"#, r#"{"lg_k":256}"#, "{}"] {
        assert!(serde_json::from_str::<ThetaParams>(invalid).is_err(), "{invalid}");
    }
}

#[test]
fn debug_shows_the_size_and_not_the_hashes() {
    let sketch = of(5, &[1]);
    let shown = format!("{sketch:?}");
    assert!(shown.starts_with("ThetaSketch { params: ThetaParams { lg_k: 5 }, hasher: "), "{shown}");
    assert!(format!("{:?}", sketch.compact()).starts_with("CompactTheta"));
    assert!(format!("{:?}", ThetaSketch::view(&sketch.to_bytes()).unwrap()).starts_with("ThetaView"));
}
