//! Bytes of t-digests and KLL sketches: laws of the wire, golden files, and what is refused behind right checksums.

// Helpers are tests too; what is exact is compared exactly.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

use pds_core::wire::{CACHE_LINE, Kind, UNALIGNED, seal};
use pds_quantiles::prelude::*;
use pds_quantiles::{KllCodec, Quantiles};
use pds_testkit::{Values, WireLaws, golden, wire_laws};

fn ask(sketch: &impl Quantiles) {
    for q in [0.0, 1e-9, 0.25, 0.5, 0.999, 1.0, f64::NAN] {
        let value = sketch.quantile(q);
        let linear = sketch.quantile_by(q, QuantileRule::Linear);
        sketch.bounds(q);
        for value in value.into_iter().chain(linear) {
            assert!(sketch.min() <= Some(value) && Some(value) <= sketch.max());
            assert!(sketch.cdf(value).is_some_and(|share| (0.0..=1.0).contains(&share)));
        }
    }
    assert!(sketch.sum().is_none_or(|sum| !sum.is_nan()));
    sketch.contract();
}

const DIGEST: WireLaws<TDigest> = WireLaws {
    exercise: |digest| {
        ask(&digest.snapshot());
        digest.snapshot().trimmed_mean(0.1, 0.9);
        let mut more = digest.clone();
        more.extend([0.5, -0.5]);
        let _ = more.insert_n(1e300, 1 << 40);
        let _ = more.merge(digest);
        ask(&more.snapshot());
    },
    view: |bytes| {
        let _ = TDigestParams::peek(bytes);
    },
    ..WireLaws::new(TDigest::from_bytes)
};

const SKETCH: WireLaws<KllSketch> = WireLaws {
    exercise: |sketch| {
        ask(&sketch.snapshot());
        let mut more = sketch.clone();
        more.extend((0..200).map(f64::from));
        let _ = more.insert_n(1e300, 1 << 40);
        let _ = more.merge(sketch);
        ask(&more.snapshot());
    },
    view: |bytes| {
        let _ = KllParams::peek(bytes);
    },
    ..WireLaws::new(KllSketch::from_bytes)
};

const WORDS: WireLaws<KllSketch<String>> = WireLaws {
    exercise: |sketch| {
        let mut more = sketch.clone();
        more.insert("word".into());
        let _ = more.merge(sketch);
        assert!(more.quantile(0.5).is_some());
    },
    ..WireLaws::new(KllSketch::from_bytes)
};

/// Finite numbers, some of them weighted.
fn digest_of(keys: &[u64]) -> TDigest {
    let mut digest = TDigest::new(TDigestParams::with_compression(20).unwrap());
    for &key in keys {
        let value = (key % 1000) as f64 / 7.0 - 50.0;
        digest.insert_n(value, if key % 5 == 0 { key >> 40 } else { 1 }).unwrap();
    }
    digest
}

fn sketch_of(keys: &[u64]) -> KllSketch {
    let mut sketch = KllSketch::with_seed(KllParams::with_k(8).unwrap(), 7);
    for &key in keys {
        sketch.insert_n((key % 1000) as f64 / 7.0 - 50.0, if key % 50 == 0 { key >> 40 } else { 1 }).unwrap();
    }
    sketch
}

fn words_of(keys: &[u64]) -> KllSketch<String> {
    let mut sketch = KllSketch::new(KllParams::with_k(8).unwrap());
    sketch.extend(keys.iter().map(|key| (key % 1000).to_string()));
    sketch
}

wire_laws! { digests, DIGEST, digest_of }
wire_laws! { sketches, SKETCH, sketch_of }
wire_laws! { words, WORDS, words_of }

#[test]
fn a_state_has_one_byte_form() {
    for n in [0, 1, 5, 20, 500] {
        let keys: Vec<u64> = (0..n).map(|i| i * 7919).collect();
        DIGEST.accepts_canonical_bytes_only(&digest_of(&keys).to_bytes());
        SKETCH.accepts_canonical_bytes_only(&sketch_of(&keys).to_bytes());
        WORDS.accepts_canonical_bytes_only(&words_of(&keys).to_bytes());
        DIGEST.round_trips_to_an_equal(&digest_of(&keys));
        SKETCH.round_trips_to_an_equal(&sketch_of(&keys));
    }
}

fn check<S: Sketch<Hasher = ()> + PartialEq>(name: &str, sketch: &S) {
    let bytes = sketch.to_bytes();
    golden(env!("CARGO_MANIFEST_DIR"), &format!("{name}.bin"), &bytes);
    assert!(
        S::from_bytes(&bytes).is_ok_and(|read| read == *sketch),
        "{name}: another sketch is read, or none"
    );
}

#[test]
fn bytes_of_digests_are_those_of_the_first_release() {
    check("tdigest-empty", &TDigest::default());
    let mut few = TDigest::new(TDigestParams::with_compression(20).unwrap());
    few.extend([3.5, -0.0, 1e-310, f64::MAX, f64::MIN, f64::NAN]);
    few.insert_n(-2.25, 1 << 50).unwrap();
    check("tdigest-few", &few);
    let mut many = TDigest::new(TDigestParams::with_compression(50).unwrap());
    many.extend(Values::LogNormal { mu: 1.0, sigma: 2.0 }.stream(1).take(20_000));
    check("tdigest-many", &many);
    let mut merged = many.clone();
    let mut other = TDigest::default();
    other.extend(Values::SignMixed { mu: 0.0, sigma: 1.0 }.stream(2).take(5_000));
    merged.merge(&other).unwrap();
    check("tdigest-merged", &merged);
}

#[test]
fn bytes_of_sketches_are_those_of_the_first_release() {
    check("kll-empty", &KllSketch::<f64>::default());
    let mut few: KllSketch = KllSketch::with_seed(KllParams::with_k(8).unwrap(), u64::MAX);
    few.extend([3.5, -0.0, 1e-310, f64::MAX, f64::MIN, f64::NAN]);
    few.insert_n(-2.25, (1 << 50) + 5).unwrap();
    check("kll-few", &few);
    let mut many: KllSketch = KllSketch::with_seed(KllParams::with_k(50).unwrap(), 3);
    many.extend(Values::LogNormal { mu: 1.0, sigma: 2.0 }.stream(1).take(20_000));
    check("kll-many", &many);
    let mut merged: KllSketch = KllSketch::with_seed(KllParams::with_k(40).unwrap(), 4);
    merged.extend(Values::SignMixed { mu: 0.0, sigma: 1.0 }.stream(2).take(5_000));
    let mut reduced = many.clone();
    reduced.merge(&merged).unwrap();
    check("kll-merged", &reduced);
    let mut integers = KllSketch::<i64>::new(KllParams::with_k(8).unwrap());
    integers.extend(-300..300);
    check("kll-i64", &integers);
    check("kll-u64", &{
        let mut sketch = KllSketch::<u64>::new(KllParams::with_k(8).unwrap());
        sketch.extend([0, u64::MAX]);
        sketch
    });
    check("kll-words", &words_of(&(0..200).collect::<Vec<_>>()));
    let mut bytes = KllSketch::<Vec<u8>>::default();
    bytes.extend([vec![], vec![0, 255]]);
    check("kll-bytes", &bytes);
}

#[test]
fn serde_carries_the_bytes() {
    let (digest, sketch) = (digest_of(&[1, 2, 3]), sketch_of(&[1, 2, 3]));
    let json = serde_json::to_string(&digest).unwrap();
    assert_eq!(json, serde_json::to_string(&digest.to_bytes()).unwrap());
    assert_eq!(serde_json::from_str::<TDigest>(&json).unwrap(), digest);
    let json = serde_json::to_string(&sketch).unwrap();
    assert_eq!(serde_json::from_str::<KllSketch>(&json).unwrap(), sketch);
    assert!(serde_json::from_str::<TDigest>(&json).is_err());
    assert_eq!(serde_json::to_string(&digest.params()).unwrap(), "20");
    assert!(
        serde_json::from_str::<TDigestParams>("19").is_err()
            && serde_json::from_str::<KllParams>("7").is_err()
    );
}

type Centroids<'a> = &'a [(f64, u64, bool)];

/// Bytes of a digest of compression 20.
fn forged(centroids: Centroids, count: u64) -> Result<TDigest, Error> {
    let body = (20u32, count, 0u64, centroids.len() as u32);
    TDigest::from_bytes(&seal(Kind::T_DIGEST, 1, UNALIGNED, 0, &body, |payload| {
        payload.extend(centroids.iter().flat_map(|centroid| centroid.0.to_le_bytes()));
        let mut bits = vec![0; centroids.len().div_ceil(8)];
        centroids.iter().enumerate().for_each(|(i, centroid)| bits[i / 8] |= u8::from(centroid.2) << (i % 8));
        payload.extend(bits);
        for &(_, mut weight, _) in centroids {
            while weight >= 0x80 {
                payload.push(weight as u8 | 0x80);
                weight >>= 7;
            }
            payload.push(weight as u8);
        }
    }))
}

fn malformed<T>(field: &'static str) -> Result<T, Error> {
    Err(Error::Malformed { field })
}

#[test]
fn centroids_that_no_digest_has_are_refused() {
    assert!(forged(&[(1.0, 1, true), (2.0, 5, false), (2.0, 1, true)], 7).is_ok());
    assert_eq!(forged(&[(1.0, 1, true), (2.0, 5, false), (2.0, 1, true)], 8), malformed("count"));
    assert_eq!(forged(&[(1.0, u64::MAX, true), (2.0, 1, true)], 0), malformed("centroids"));
    assert_eq!(forged(&[(1.0, u64::MAX, true), (2.0, 1, true)], u64::MAX), malformed("count"));
    assert_eq!(forged(&[(2.0, 1, true), (1.0, 1, true)], 2), malformed("order"));
    assert_eq!(forged(&[(1.0, 1, true), (1.0, 1, true)], 2), malformed("order"));
    assert_eq!(forged(&[(1.0, 2, false), (2.0, 1, true)], 3), malformed("weight"));
    assert_eq!(forged(&[(1.0, 1, true), (2.0, 2, false)], 3), malformed("weight"));
    assert_eq!(forged(&[(1.0, 1, true), (1.5, 1, false), (2.0, 1, true)], 3), malformed("weight"));
    assert_eq!(forged(&[(1.0, 0, true)], 1), malformed("weight"));
    for mean in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0] {
        assert_eq!(forged(&[(mean, 1, true)], 1), malformed("mean"));
    }
    assert_eq!(forged(&[(0.0, 1, true); 21], 21), malformed("centroids"));
    assert_eq!(forged(&[], 1), malformed("centroids"));
    assert!(forged(&[], 0).is_ok_and(|digest| digest.is_empty()));
    let empty = |alignment, fingerprint, body: (u32, u64, u64, u32)| {
        TDigest::from_bytes(&seal(Kind::T_DIGEST, 1, alignment, fingerprint, &body, |_| ()))
    };
    assert_eq!(empty(CACHE_LINE, 0, (20, 0, 0, 0)), malformed("alignment"));
    assert!(matches!(empty(UNALIGNED, 1, (20, 0, 0, 0)), Err(Error::Hasher { .. })));
    for compression in [0, 19, TDigestParams::MAX_COMPRESSION + 1, u32::MAX] {
        assert_eq!(empty(UNALIGNED, 0, (compression, 0, 0, 0)), malformed("params"));
    }
    // What is claimed and not there is not allocated.
    assert_eq!(empty(UNALIGNED, 0, (65_536, 9, 0, 65_536)), malformed("payload length"));
    assert_eq!(
        TDigest::from_bytes(&KllSketch::<f64>::default().to_bytes()),
        Err(Error::Kind { expected: 49, found: 50 })
    );
}

/// Bytes of a sketch of k = 8: sizes from level 0 up, ends, items from the top level down.
fn levels(sizes: &[u64], ends: &[f64], items: &[f64], count: u64) -> Result<KllSketch, Error> {
    let body = (1u8, 8u16, 8u16, count, 0u64, 0u64, sizes.len() as u8);
    KllSketch::from_bytes(&seal(Kind::KLL, 1, UNALIGNED, 0, &body, |payload| {
        payload.extend(sizes.iter().map(|&size| size as u8));
        payload.extend(ends.iter().chain(items).flat_map(|item| item.to_le_bytes()));
    }))
}

#[test]
fn levels_that_no_sketch_has_are_refused() {
    assert!(levels(&[2], &[1.0, 2.0], &[2.0, 1.0], 2).is_ok());
    assert!(levels(&[1, 2], &[0.0, 9.0], &[1.0, 2.0, 5.0], 5).is_ok());
    assert!(levels(&[0], &[], &[], 0).is_ok_and(|sketch| sketch.is_empty()));
    assert_eq!(levels(&[], &[], &[], 0), malformed("levels"));
    assert_eq!(levels(&[0, 0], &[], &[], 0), malformed("levels"));
    assert_eq!(levels(&[2, 0], &[1.0, 2.0], &[2.0, 1.0], 2), malformed("levels"));
    assert_eq!(levels(&[2], &[1.0, 2.0], &[2.0, 1.0], 3), malformed("count"));
    assert_eq!(levels(&[1, 2], &[0.0, 9.0], &[2.0, 1.0, 5.0], 5), malformed("order"));
    assert_eq!(levels(&[2], &[0.0, 2.0], &[2.0, 1.0], 2), malformed("ends"));
    assert_eq!(levels(&[1, 2], &[1.5, 9.0], &[1.0, 2.0, 5.0], 5), malformed("ends"));
    assert_eq!(levels(&[1, 2], &[0.0, 4.0], &[1.0, 2.0, 5.0], 5), malformed("ends"));
    assert_eq!(levels(&[2], &[f64::NAN, 2.0], &[2.0, 1.0], 2), malformed("item"));
    assert_eq!(levels(&[2], &[1.0, 2.0], &[2.0], 2), malformed("item"));
    assert_eq!(levels(&[1], &[1.0, 1.0], &[1.0, 1.0], 1), malformed("payload length"));
    // One more would have been compacted.
    assert!(levels(&[63], &[1.0, 1.0], &[1.0; 63], 63).is_ok());
    assert_eq!(levels(&[64], &[1.0, 1.0], &[1.0; 64], 64), malformed("levels"));
    assert_eq!(levels(&[1; 65], &[1.0, 1.0], &[1.0; 65], u64::MAX), malformed("levels"));
    let other = |item: u8, k: u16, min_k: u16| {
        let body = (item, k, min_k, 0u64, 0u64, 0u64, 1u8);
        KllSketch::<f64>::from_bytes(&seal(Kind::KLL, 1, UNALIGNED, 0, &body, |payload| payload.push(0)))
    };
    assert!(other(1, 9, 8).is_ok_and(|sketch| sketch.min_params().k() == 8));
    assert_eq!(other(1, 8, 9), malformed("params"));
    assert_eq!(other(1, 7, 7), malformed("params"));
    assert_eq!(other(u64::TAG, 8, 8), Err(Error::Incompatible { field: "item" }));
}

#[test]
fn lengths_of_strings_are_not_believed() {
    let sealed = |lengths: &[u64], bytes: &[u8]| {
        let body = (String::TAG, 8u16, 8u16, 1u64, 0u64, 0u64, 1u8);
        KllSketch::<String>::from_bytes(&seal(Kind::KLL, 1, UNALIGNED, 0, &body, |payload| {
            payload.push(1);
            for length in lengths {
                payload.extend(length.to_le_bytes());
                payload.extend(bytes);
            }
        }))
    };
    assert!(sealed(&[2; 3], "é".as_bytes()).is_ok_and(|sketch| sketch.max().as_deref() == Some("é")));
    assert_eq!(sealed(&[1; 3], &[0xff]), malformed("item"));
    assert_eq!(sealed(&[2, 2, u64::MAX], b"ab"), malformed("item"));
    assert_eq!(sealed(&[2, 2, 3], b"ab"), malformed("item"));
}
