//! The claims of the decaying sketch.

use pds_cms::WyHasher;
use pds_cms::prelude::*;
use pds_core::wire::{CACHE_LINE, Kind, seal};
use pds_testkit::{WireLaws, refused_merge_law};
use proptest::prelude::*;

const HALF_LIFE: f64 = 60.0;

fn params(width: u64, depth: u32, half_life: f64) -> DecayingCountMinParams {
    let table = CountMinParams::with_shape(width, depth).expect("a legal shape");
    DecayingCountMinParams::with_half_life(table, half_life).expect("a legal half-life")
}

/// What a count of the past weighs.
fn faded(n: u64, time: f64, now: f64) -> f64 {
    n as f64 * ((time - now) / HALF_LIFE).exp2()
}

type Event = (u64, u64, f64);

/// Times on both sides of 0, near each other and hundreds of half-lives apart.
fn events() -> impl Strategy<Value = Vec<Event>> {
    let times = prop_oneof![6 => -600.0..600.0f64, 1 => -1e5..1e5f64, 1 => 1e6..1e6 + 60.0];
    prop::collection::vec((0..20u64, 0..9u64, times), 0..40)
}

fn counted(params: DecayingCountMinParams, events: &[Event]) -> DecayingCountMin {
    let mut sketch = DecayingCountMin::new(params);
    for &(key, n, time) in events {
        sketch.insert_n(&key, n, time).expect("a time within range");
    }
    sketch
}

/// Sums in double precision, and powers rounded once more than they need be: far more than that.
const ROUNDING: f64 = 1e-9;

/// Weights of so little may have lost digits, or be gone: doubles end at 2^-1074, and powers by which they are multiplied earlier.
const NOTHING: f64 = 1e-280;

fn check(sketch: &DecayingCountMin, events: &[Event], now: f64) {
    let total: f64 = events.iter().map(|&(_, n, time)| faded(n, time, now)).sum();
    let near = |a: f64, b: f64| (a - b).abs() <= ROUNDING * b + NOTHING;
    assert!(near(sketch.total(now).expect("a time within range"), total));
    let bytes = sketch.to_bytes();
    let view = DecayingCountMin::view(&bytes).expect("its own bytes");
    assert!(view.verify().is_ok() && view.to_owned().is_ok_and(|owned| owned == *sketch));
    for key in 0..25u64 {
        let truth: f64 = events
            .iter()
            .filter(|&&(counted, ..)| counted == key)
            .map(|&(_, n, time)| faded(n, time, now))
            .sum();
        let (lower, upper) = sketch.bounds(&key, now).expect("a time within range");
        assert!(truth <= upper * (1.0 + ROUNDING) + NOTHING, "key {key}: {truth} is above {upper}");
        assert!(lower <= upper && upper <= total * (1.0 + ROUNDING) + NOTHING);
        assert_eq!(sketch.estimate(&key, now), Ok(upper));
        assert_eq!(view.bounds(&key, now), Ok((lower, upper)));
    }
}

proptest! {
    #[test]
    fn a_faded_count_is_never_too_low(width in 1..30u64, depth in 1..5u32, events in events(), later in 0.0..600.0f64) {
        let params = params(width, depth, HALF_LIFE);
        let sketch = counted(params, &events);
        let now = events.iter().map(|&(.., time)| time).fold(-1e5, f64::max) + later;
        check(&sketch, &events, now);
        prop_assert_eq!(sketch.is_empty(), events.iter().all(|&(_, n, _)| n == 0));
    }

    #[test]
    fn sketches_of_other_landmarks_merge(left in events(), right in events()) {
        let params = params(23, 3, HALF_LIFE);
        let (a, b) = (counted(params, &left), counted(params, &right));
        let (mut ab, mut ba) = (a.clone(), b.clone());
        ab.merge(&b).unwrap();
        ba.merge(&a).unwrap();
        prop_assert!(ab == ba, "the sum of two is the same in either order");
        let both = [left, right].concat();
        let now = both.iter().map(|&(.., time)| time).fold(-1e5, f64::max);
        check(&ab, &both, now);
    }

    #[test]
    fn keys_alone_in_their_cells_are_exact(events in events()) {
        let sketch = counted(params(1 << 14, 5, HALF_LIFE), &events);
        let now = events.iter().map(|&(.., time)| time).fold(-1e5, f64::max);
        for key in 0..25u64 {
            let truth: f64 = events.iter().filter(|&&(counted, ..)| counted == key).map(|&(_, n, time)| faded(n, time, now)).sum();
            prop_assert!((sketch.estimate(&key, now).unwrap() - truth).abs() <= ROUNDING * truth + NOTHING);
        }
    }
}

fn built(keys: &[u64]) -> DecayingCountMin {
    let events: Vec<_> = keys.iter().map(|&key| (key, 1, (key % 100_000) as f64)).collect();
    counted(params(17, 4, HALF_LIFE), &events)
}

const LAWS: WireLaws<DecayingCountMin> = WireLaws {
    decode: DecayingCountMin::from_bytes,
    exercise: |sketch| {
        for now in [0.0, 1e5, -1e300, f64::NAN] {
            if let Ok((lower, upper)) = sketch.bounds(&1u64, now) {
                assert!(0.0 <= lower && lower <= upper && upper.is_finite());
            }
        }
        let mut more = sketch.clone();
        let _ = (more.insert_n(&1u64, u64::MAX, 1e6), more.merge(sketch));
    },
    view: |bytes| {
        if let Ok(view) = DecayingCountMin::view(bytes) {
            if let Ok((lower, upper)) = view.bounds(&1u64, 0.0) {
                assert!(0.0 <= lower && lower <= upper && upper.is_finite());
            }
            let _ = (view.estimate("key", 1e9), view.total(3.0), view.verify(), view.to_owned());
        }
        let _ = DecayingCountMinParams::peek(bytes);
    },
};

pds_testkit::wire_laws! { bytes, LAWS, built }

#[test]
fn one_state_has_one_byte_form() {
    LAWS.accepts_canonical_bytes_only(&built(&[1, 2, 3]).to_bytes());
}

#[test]
fn a_count_halves_with_each_half_life() {
    let mut sketch = DecayingCountMin::new(params(64, 4, 10.0));
    assert_eq!(sketch.insert_n("key", 8, 100.0), Ok(true));
    for (now, expected) in [(100.0, 8.0), (110.0, 4.0), (130.0, 1.0), (90.0, 16.0), (140.0, 0.5)] {
        assert_eq!(sketch.estimate("key", now), Ok(expected));
        assert_eq!(sketch.total(now), Ok(expected));
    }
    // Out of order, and far later: 1,000 half-lives.
    assert_eq!(sketch.insert_n("key", 2, 90.0), Ok(true));
    assert_eq!(sketch.estimate("key", 100.0), Ok(9.0));
    assert_eq!(sketch.insert("other", 10_100.0), Ok(true));
    assert_eq!(sketch.estimate("key", 100.0), Ok(9.0));
    assert_eq!(sketch.estimate("other", 10_100.0), Ok(1.0));
    // So old that nothing is left.
    assert_eq!(sketch.insert("other", -1e6), Ok(false));
    sketch.clear();
    assert!(sketch.is_empty() && sketch == DecayingCountMin::new(params(64, 4, 10.0)));
}

#[test]
fn times_that_are_none_and_infinite_answers_are_refused() {
    let mut sketch = DecayingCountMin::new(params(64, 4, 10.0));
    sketch.insert("key", 5.0).unwrap();
    let before = sketch.clone();
    for bad in [f64::NAN, f64::INFINITY, -f64::INFINITY] {
        assert_eq!(
            (sketch.insert("key", bad), sketch.estimate("key", bad)),
            (Err(Error::NonFinite), Err(Error::NonFinite))
        );
    }
    for far in [f64::MAX, -1e30, 1e17] {
        assert!(matches!(sketch.insert("key", far), Err(Error::Parameter { name: "time", .. })));
        assert!(matches!(sketch.total(far), Err(Error::Parameter { name: "time", .. })));
    }
    assert_eq!(sketch.estimate("key", -1e6), Err(Error::Overflow));
    // Whether a key was counted so early cannot be told.
    assert_eq!(sketch.estimate("absent", -1e6), Err(Error::Overflow));
    assert!(sketch == before);
    let table = CountMinParams::with_shape(8, 2).unwrap();
    for bad in [f64::NAN, f64::INFINITY, 0.0, -0.0, -1.0, f64::from_bits(1)] {
        let refused = DecayingCountMinParams::with_half_life(table, bad);
        assert!(matches!(refused, Err(Error::Parameter { name: "half_life", .. })));
    }
}

/// 2^1000 times the weight of a count: out of reach for a stream, but not for a sketch merged into its like.
#[test]
fn a_total_beyond_its_range_is_refused() {
    let mut sketch = DecayingCountMin::new(params(8, 2, 10.0));
    sketch.insert("key", 5.0).unwrap();
    let refused = loop {
        let twin = sketch.clone();
        match sketch.merge(&twin) {
            Ok(()) => (),
            Err(error) => break (error, sketch == twin),
        }
    };
    assert_eq!(refused, (Error::Overflow, true));
    assert!(sketch.total(5.0).unwrap().is_finite());
    assert!(DecayingCountMin::from_bytes(&sketch.to_bytes()).is_ok_and(|read| read == sketch));
    // What is far later makes room.
    assert_eq!(sketch.insert("key", 1e6), Ok(true));
    assert_eq!(sketch.estimate("key", 1e6), Ok(1.0));
}

#[test]
fn sketches_of_another_half_life_do_not_merge() {
    let sketch =
        |half_life, seed| DecayingCountMin::with_hasher(params(8, 2, half_life), WyHasher::with_seed(seed));
    assert_eq!(
        refused_merge_law(sketch(1.0, 1), &sketch(2.0, 1)),
        Error::Incompatible { field: "half_life" }
    );
    assert!(matches!(refused_merge_law(sketch(1.0, 1), &sketch(1.0, 2)), Error::Hasher { .. }));
}

#[test]
fn cells_that_are_no_weights_are_refused() {
    let decode = |half_life: f64, landmark: i64, total: f64, cells: [f64; 4]| {
        let body = ((2u64, 2u32, 0.1), half_life, landmark, total);
        let fingerprint = pds_cms::Fingerprint::fingerprint(&WyHasher::default());
        let bytes = seal(Kind::DECAYING_COUNT_MIN, 1, CACHE_LINE, fingerprint, &body, |payload| {
            payload.extend(cells.iter().flat_map(|cell| cell.to_le_bytes()));
        });
        let decoded = DecayingCountMin::from_bytes(&bytes);
        if let Ok(view) = DecayingCountMin::view(&bytes) {
            let estimate = view.estimate(&1u64, 0.0);
            assert!(estimate.is_ok_and(|estimate| estimate >= 0.0));
            assert_eq!(view.to_owned(), decoded);
        }
        decoded.map(|sketch| sketch.total(0.0).unwrap())
    };
    let malformed = |field| Err(Error::Malformed { field });
    assert_eq!(decode(10.0, 0, 3.0, [1.0, 2.0, 3.0, 0.0]), Ok(3.0));
    for bad in [f64::NAN, f64::INFINITY, -f64::INFINITY, -0.0, -1.0, 1e302, f64::MAX] {
        assert_eq!(decode(10.0, 0, 3.0, [bad, 2.0, 3.0, 0.0]), malformed("cells"), "{bad}");
    }
    assert_eq!(decode(10.0, 0, 3.0, [1.0, 2.1, 3.0, 0.0]), malformed("row sums"));
    assert_eq!(decode(10.0, 0, 3.0, [1.0, 2.0, 2.9, 0.0]), malformed("row sums"));
    assert_eq!(decode(10.0, 0, 3.0, [4.0, 0.0, 3.0, 0.0]), malformed("row sums"));
    for bad in [f64::NAN, f64::INFINITY, -0.0, -1.0, 0.5, 1e302] {
        assert_eq!(decode(10.0, 0, bad, [0.0; 4]), malformed("total"), "{bad}");
    }
    assert_eq!(decode(10.0, 0, 0.0, [0.0; 4]), Ok(0.0));
    assert_eq!(decode(10.0, 1, 0.0, [0.0; 4]), malformed("landmark"));
    for bad in [i64::MIN, i64::MAX, (1 << 52) + 1] {
        assert_eq!(decode(10.0, bad, 3.0, [1.0, 2.0, 3.0, 0.0]), malformed("landmark"));
    }
    for bad in [f64::NAN, 0.0, -10.0, f64::INFINITY] {
        assert_eq!(decode(bad, 0, 0.0, [0.0; 4]), malformed("params"));
    }
}

#[test]
fn serde_carries_the_envelope() {
    let text = serde_json::to_string(&built(&[1, 2, 3])).unwrap();
    assert_eq!(serde_json::from_str::<DecayingCountMin>(&text).unwrap(), built(&[1, 2, 3]));
}

#[test]
fn counts_that_a_later_stamp_has_faded_away_are_not_said_to_be_none() {
    let mut sketch = DecayingCountMin::new(params(64, 3, 1.0));
    sketch.insert(&1u64, 5000.0).unwrap();
    sketch.insert_n(&2u64, 10, 0.0).unwrap();
    assert_eq!(sketch.estimate(&2u64, 0.0), Err(Error::Overflow));
    assert_eq!(sketch.estimate(&1u64, 0.0), Err(Error::Overflow));
    assert_eq!(sketch.estimate(&2u64, 5000.0), Ok(0.0));
    assert_eq!(sketch.estimate(&1u64, 5000.0), Ok(1.0));
    assert_eq!(DecayingCountMin::new(params(64, 3, 1.0)).estimate(&2u64, 0.0), Ok(0.0));
}

/// Found by fuzzing: half-lives are counted from 0, so that stamps far from it lose digits to the quotient.
#[test]
fn stamps_far_from_0_fade_within_the_rounding_that_is_stated() {
    let half_life = 1e6;
    let table = CountMinParams::with_shape(16, 3).unwrap();
    for from in [0.0, 1.7e9, -5.6e14, 5.6e14] {
        let mut sketch =
            DecayingCountMin::new(DecayingCountMinParams::with_half_life(table, half_life).unwrap());
        sketch.insert_n(&1u64, 1000, from).unwrap();
        for later in [0.0, 1.0, 123_456.0, 3e6, 2e7] {
            let now = from + later;
            let truth = 1000.0 * (-(now - from) / half_life).exp2();
            let stated = (1.0 + now.abs().max(from.abs()) / half_life) * f64::EPSILON;
            let error = (sketch.estimate(&1u64, now).unwrap() / truth - 1.0).abs();
            assert!(error <= stated, "{error:e} above {stated:e} at {now}");
        }
    }
}
