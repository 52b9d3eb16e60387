//! Bytes that no sketch wrote, behind right checksums.

use pds_core::wire::{CACHE_LINE, Kind, UNALIGNED, seal};
use pds_quantiles::prelude::*;
use pds_testkit::SplitMix64;

/// The parameters as they are encoded.
#[derive(Clone, Copy, serde::Serialize)]
struct Body {
    /// 0, mapping, alpha.
    base: (u8, u8, f64),
    max_bins: u32,
    collapse: u8,
    shift: u8,
    rejected: u64,
    count: u64,
    zero: u64,
    min: f64,
    max: f64,
    negative: Side,
    positive: Side,
}

/// First key, span, occupied bins, bytes.
type Side = (u32, u32, u32, u32);

const NONE: Side = (0, 0, 0, 0);

/// The key of 1.0 at an accuracy of 0.5, in the linear mapping: the position 1024 times 1/ln 3 bins.
fn key_of_one() -> u32 {
    let params = DDSketchParams::for_accuracy(0.5).expect("an accuracy").with_mapping(Mapping::Linear);
    let mut sketch = DDSketch::new(params);
    sketch.insert(1.0);
    let bytes = sketch.to_bytes();
    let start = pds_testkit::payload_start(&bytes).expect("an envelope");
    // Behind the empty negative side: first key (a varint of two bytes), span 1, occupied 1, bytes 1.
    let side = &bytes[start - 5..start];
    assert_eq!(side[2..], [1, 1, 1]);
    u32::from(side[0] & 0x7f) | u32::from(side[1]) << 7
}

/// A sketch of ones, twos and so on, unless `change` says otherwise.
fn body(count: u64, positive: Side) -> Body {
    Body {
        base: (0, 1, 0.5),
        max_bins: 100,
        collapse: 0,
        shift: 0,
        rejected: 0,
        count,
        zero: 0,
        min: 1.0,
        max: 1.0,
        negative: NONE,
        positive,
    }
}

fn sealed(alignment: u8, fingerprint: u64, body: &Body, payload: &[u8]) -> Vec<u8> {
    seal(Kind::DDSKETCH, 1, alignment, fingerprint, body, |out| out.extend_from_slice(payload))
}

/// What the owned decode says; a view says the same when opened or when verified.
fn decode(body: &Body, payload: &[u8]) -> Result<DDSketch, Error> {
    let bytes = sealed(UNALIGNED, 0, body, payload);
    let decoded = DDSketch::from_bytes(&bytes);
    let viewed = DDSketch::view(&bytes).and_then(|view| view.verify().and_then(|()| view.to_owned()));
    assert_eq!(viewed, decoded);
    if let Ok(sketch) = &decoded {
        assert_eq!(sketch.to_bytes(), bytes);
    }
    decoded
}

fn malformed(field: &'static str) -> Result<DDSketch, Error> {
    Err(Error::Malformed { field })
}

#[test]
fn counts_sum_up_to_the_count() {
    let one = key_of_one();
    assert_eq!(decode(&body(5, (one, 1, 1, 1)), &[5]).unwrap().count(), 5);
    assert_eq!(decode(&body(5, (one, 1, 1, 1)), &[4]), malformed("count"));
    assert_eq!(decode(&body(5, (one, 1, 1, 1)), &[6]), malformed("count"));
    let mut two = body(u64::MAX, (one, 2, 2, 20));
    two.max = 2.5;
    let half = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    assert_eq!(decode(&two, &[half, half].concat()), malformed("count"));
    let mut zeros = body(5, (one, 1, 1, 1));
    zeros.zero = 6;
    assert_eq!(decode(&zeros, &[5]), malformed("count"));
    zeros.zero = 1;
    assert_eq!(decode(&zeros, &[4]), malformed("extremes"));
    zeros.min = 0.0;
    assert_eq!(decode(&zeros, &[4]).unwrap().quantile(0.2), Some(0.0));
}

#[test]
fn bins_have_one_form() {
    let one = key_of_one();
    let mut spread = body(2, (one, 4, 2, 4));
    spread.max = 15.0;
    let two = |bytes: &[u8]| {
        let mut body = spread;
        body.positive.3 = bytes.len() as u32;
        decode(&body, bytes)
    };
    assert_eq!(two(&[1, 0, 1, 1]).unwrap().occupied_bins(), 2);
    for bad in [
        &[1, 0, 0, 0, 0, 1][..], // two runs of zeros in a row
        &[0, 0, 1, 0, 0, 1],     // a run in front
        &[1, 0, 2, 1],           // beyond the span
        &[1, 0, 0, 1],           // short of it
        &[1, 0, 1, 0],           // a count of zero
        &[1, 0, 1, 0x81, 0],     // a varint that is too long
        &[1, 0, 1, 1, 0],        // bytes behind
        &[1, 0, 1],              // too few
        &[1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1],
        &[0xff; 30],
    ] {
        assert_eq!(two(bad), malformed("payload"), "{bad:?}");
    }
}

#[test]
fn sides_keep_to_the_limits() {
    let one = key_of_one();
    for side in [
        (one, 0, 1, 1),
        (one, 1, 0, 1),
        (one, 1, 2, 2),
        (0, 0, 0, 1),
        (5, 0, 0, 0),
        (one, 1, 1, 0),
        (one, 5, 2, 2),
        (u32::MAX, 2, 1, 1),
        (u32::MAX, 1, 1, 1),
        (one, u32::MAX, 1, 1),
        (one, 101, 101, 101),
        (0, u32::MAX, u32::MAX, u32::MAX),
    ] {
        assert_eq!(decode(&body(1, side), &[1]), malformed("bins"), "{side:?}");
    }
    assert_eq!(decode(&body(1, (one, 1, 1, 2)), &[1]), malformed("payload length"));
    assert_eq!(decode(&body(1, (one, 1, 1, 1)), &[1, 1]), malformed("payload length"));
    assert_eq!(decode(&body(0, (one, 1, 1, 1)), &[1]), malformed("count"));
    assert_eq!(decode(&body(1, NONE), &[]), malformed("count"));
}

#[test]
fn extremes_lie_in_the_last_bins() {
    let one = key_of_one();
    let with = |min: f64, max: f64, count: u64| {
        let mut body = body(count, (one, 1, 1, 1));
        (body.min, body.max) = (min, max);
        decode(&body, &[count as u8])
    };
    assert!(with(1.0, 1.5, 2).is_ok());
    for (min, max, count) in [
        (f64::NAN, 1.0, 2),
        (1.0, f64::NAN, 2),
        (1.0, f64::INFINITY, 2),
        (f64::NEG_INFINITY, 1.0, 2),
        (1.5, 1.0, 2),
        (1.0, 1.5, 1),
        (0.1, 1.0, 2),
        (1.0, 10.0, 2),
        (-0.0, 1.0, 2),
        (-1.0, 1.0, 2),
    ] {
        assert_eq!(with(min, max, count), malformed("extremes"), "{min} {max}");
    }
    let mut empty = body(0, NONE);
    assert_eq!(decode(&empty, &[]), malformed("extremes"));
    (empty.min, empty.max) = (0.0, 0.0);
    assert!(decode(&empty, &[]).unwrap().is_empty());
    empty.min = -0.0;
    assert_eq!(decode(&empty, &[]), malformed("extremes"));
}

#[test]
fn parameters_pass_the_gate_of_the_constructors() {
    let one = key_of_one();
    let good = body(1, (one, 1, 1, 1));
    assert!(decode(&good, &[1]).is_ok());
    for alpha in [0.0, 0.6, f64::NAN, -0.5, 1e-7] {
        assert_eq!(decode(&Body { base: (0, 1, alpha), ..good }, &[1]), malformed("params"));
    }
    for mapping in [4, 255] {
        assert_eq!(decode(&Body { base: (0, mapping, 0.5), ..good }, &[1]), malformed("params"));
    }
    for max_bins in [0, 7, u32::MAX] {
        assert_eq!(decode(&Body { max_bins, ..good }, &[1]), malformed("params"));
    }
    assert_eq!(decode(&Body { collapse: 3, ..good }, &[1]), malformed("params"));
    assert_eq!(decode(&Body { shift: 1, ..good }, &[1]), malformed("shift"));
    assert_eq!(decode(&Body { collapse: 2, shift: 32, ..good }, &[1]), malformed("shift"));
    assert_eq!(decode(&Body { collapse: 2, shift: 2, ..good }, &[1]), malformed("bins"));
    let other = |alignment, fingerprint| DDSketch::from_bytes(&sealed(alignment, fingerprint, &good, &[1]));
    assert_eq!(other(CACHE_LINE, 0), malformed("alignment"));
    assert_eq!(other(UNALIGNED, 1), malformed("fingerprint"));
    assert!(decode(&Body { base: (1, 1, 0.5), ..good }, &[1]).is_err());
}

#[test]
fn decoding_allocates_in_proportion_to_the_bytes() {
    let mut random = SplitMix64::new(16);
    for (alpha, spread) in [(0.01, 1.0), (1e-4, 1.0), (1e-6, 0.01), (1e-6, 1.0), (1e-6, 100.0)] {
        let params = DDSketchParams::for_accuracy(alpha).unwrap().with_max_bins(1 << 24).unwrap();
        for n in [10, 1000, 100_000] {
            let mut sketch = DDSketch::new(params);
            sketch.extend((0..n).map(|_| libm::exp(spread * random.next_normal())));
            let bytes = sketch.to_bytes();
            let read = DDSketch::from_bytes(&bytes).unwrap();
            // Two small windows whatever the input, and 16 times the input.
            let limit = 2 * (8 * 4096) + 16 * bytes.len();
            assert!(read.size_bytes() <= limit, "{} bytes from {}", read.size_bytes(), bytes.len());
            assert!(sketch.size_bytes() <= params.max_size_bytes());
        }
    }
}

/// Keys at such distances that window and map are equally good: neither decoding nor insertion may waver between them.
#[test]
fn bins_at_the_brink_of_sparsity_take_linear_time() {
    let params = DDSketchParams::for_accuracy(1e-6).unwrap().with_mapping(Mapping::Linear);
    let mut sketch = DDSketch::new(params.with_max_bins(1 << 24).unwrap());
    // Every other bin, more or less, of 400,000.
    sketch.extend((0..200_000).map(|i| 1.0 + f64::from(i) * 4.0e-6));
    let bytes = sketch.to_bytes();
    let mut read = DDSketch::from_bytes(&bytes).unwrap();
    assert_eq!(read.to_bytes(), bytes);
    read.merge(&sketch).unwrap();
    assert_eq!(read.count(), 400_000);
}

/// A view answers before it is verified: counts that are not those of the sketch may be any.
#[test]
fn counts_that_do_not_fit_the_count_are_safe_to_ask() {
    let one = key_of_one();
    let greatest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    for collapse in [0, 1, 2] {
        for (count, min, max) in [(5, 1.0, 15.0), (5, 0.1, 1e9), (u64::MAX, 0.1, 1e9), (2, -1.0, 15.0)] {
            let mut body = Body { collapse, min, max, ..body(count, (one, 4, 4, 40)) };
            body.base = (0, 1, 0.5);
            let bytes = sealed(UNALIGNED, 0, &body, &greatest.repeat(4));
            let view = DDSketch::view(&bytes).unwrap();
            assert!(view.verify().is_err());
            let qs: Vec<f64> = (0..=100).map(|k| f64::from(k) / 100.0).collect();
            let snapshot = view.snapshot();
            for &q in &qs {
                let quantile = view.quantile(q).unwrap();
                assert!((min..=max).contains(&quantile));
                assert_eq!((snapshot.quantile(q), snapshot.bounds(q)), (Some(quantile), view.bounds(q)));
            }
            assert!(view.quantiles(&qs).iter().all(Option::is_some));
            for value in [min, 1.0, 2.0, 5.0, max] {
                let rank = view.cdf(value).unwrap();
                assert!((0.0..=1.0).contains(&rank));
                assert_eq!(snapshot.cdf(value), Some(rank));
            }
            assert!(!view.sum().unwrap().is_nan());
            let Contract::RelativeValue { valid_from_q, valid_to_q, .. } = view.contract() else {
                unreachable!()
            };
            assert!((0.0..=1.0).contains(&valid_from_q) && (0.0..=1.0).contains(&valid_to_q));
        }
    }
}
