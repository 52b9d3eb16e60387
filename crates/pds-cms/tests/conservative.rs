//! The claims of the conservative sketch.

use pds_cms::prelude::*;
use pds_cms::{Cell, WyHasher};
use pds_core::wire::{CACHE_LINE, Kind, seal};
use pds_testkit::{ExactFrequencies, WireLaws, Zipf, laws, refused_merge_law};
use proptest::prelude::*;

fn shape(width: u64, depth: u32) -> CountMinParams {
    CountMinParams::with_shape(width, depth).expect("a legal shape")
}

fn empty<C: Cell>(params: CountMinParams) -> ConservativeCountMin<C> {
    ConservativeCountMin::with_hasher(params, WyHasher::default())
}

fn counted<C: Cell>(params: CountMinParams, stream: &[(u64, u64)]) -> ConservativeCountMin<C> {
    let mut sketch = empty(params);
    for &(key, n) in stream {
        let before = sketch.clone();
        assert_eq!(sketch.insert_n(&key, n), sketch != before);
    }
    sketch
}

fn plain<C: Cell>(params: CountMinParams, stream: &[(u64, u64)]) -> CountMinSketch<C> {
    let mut sketch = CountMinSketch::with_hasher(params, WyHasher::default());
    for &(key, n) in stream {
        sketch.insert_n(&key, n);
    }
    sketch
}

fn shapes() -> impl Strategy<Value = CountMinParams> {
    (1..40u64, 1..=CountMinParams::MAX_DEPTH).prop_map(|(width, depth)| shape(width, depth))
}

fn streams() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let next_to = |edge: u64| edge - 2..=edge;
    let weights = prop_oneof![6 => 0..5u64, 1 => next_to(256), 1 => next_to(1 << 32), 1 => next_to(u64::MAX)];
    prop::collection::vec((0..30u64, weights), 0..40)
}

fn truth(stream: &[(u64, u64)], key: u64) -> u128 {
    stream.iter().filter(|&&(counted, _)| counted == key).map(|&(_, n)| u128::from(n)).sum()
}

/// Truth <= conservative <= plain, for the stream in one and for its halves merged.
fn check<C: Cell>(params: CountMinParams, stream: &[(u64, u64)]) {
    let whole = counted::<C>(params, stream);
    let (left, right) = stream.split_at(stream.len() / 2);
    let mut merged = counted::<C>(params, left);
    merged.merge(&counted(params, right)).expect("sketches of one shape");
    let plain = plain::<C>(params, stream);
    for sketch in [whole, merged] {
        assert_eq!(sketch.total(), plain.total());
        assert!(!sketch.is_saturated() || plain.is_saturated());
        let bytes = sketch.to_bytes();
        let view = ConservativeCountMin::<C>::view_with(&bytes, WyHasher::default()).expect("its own bytes");
        assert_eq!(view.verify(), Ok(()));
        assert!(view.to_owned().is_ok_and(|owned| owned == sketch));
        assert_eq!(
            (view.total(), view.params(), view.is_saturated()),
            (sketch.total(), params, sketch.is_saturated())
        );
        for key in 0..35u64 {
            let (lower, upper) = sketch.bounds(&key);
            let truth = u64::try_from(truth(stream, key)).unwrap_or(u64::MAX);
            assert!(truth <= upper && upper <= plain.estimate(&key) && lower <= upper);
            assert_eq!((upper, view.bounds(&key)), (sketch.estimate(&key), (lower, upper)));
        }
    }
}

proptest! {
    #[test]
    fn an_estimate_lies_between_the_truth_and_the_plain_sketch(params in shapes(), stream in streams()) {
        check::<u8>(params, &stream);
        check::<u16>(params, &stream);
        check::<u32>(params, &stream);
        check::<u64>(params, &stream);
    }

    #[test]
    fn a_checked_count_saturates_nothing_and_is_whole_or_not_at_all(params in shapes(), stream in streams()) {
        let mut checked = empty::<u8>(params);
        for (key, n) in &stream {
            let (before, mut saturating) = (checked.clone(), checked.clone());
            saturating.insert_n(key, *n);
            match checked.try_insert_n(key, *n) {
                Ok(changed) => prop_assert!(changed == (*n > 0) && checked == saturating),
                Err(error) => prop_assert!(error == Error::Overflow && saturating.is_saturated() && checked == before),
            }
            prop_assert!(!checked.is_saturated());
        }
    }

    #[test]
    fn counting_n_at_once_is_counting_n_times(params in shapes(), stream in prop::collection::vec((0..30u64, 0..9u64), 0..40)) {
        let (mut one_by_one, mut batch) = (empty::<u32>(params), empty::<u32>(params));
        for &(key, n) in &stream {
            (0..n).for_each(|_| assert!(one_by_one.insert(&key)));
            batch.insert_batch(&vec![batch.hasher().hash_key(&key); n as usize]);
        }
        prop_assert!(one_by_one == counted(params, &stream) && batch == one_by_one);
    }

    #[test]
    fn halving_never_under_counts(params in shapes(), rounds in prop::collection::vec(streams(), 1..5)) {
        let (mut sketch, mut counts) = (empty::<u8>(params), [0u128; 30]);
        for round in &rounds {
            for (key, n) in round {
                sketch.insert_n(key, *n);
                counts[*key as usize] += u128::from(*n) << 32;
            }
            sketch.halve();
            counts = counts.map(|count| count / 2);
            for (key, count) in (0u64..).zip(counts) {
                prop_assert!(u64::try_from(count >> 32).unwrap_or(u64::MAX) <= sketch.estimate(&key));
            }
            let read = <ConservativeCountMin<u8> as Sketch>::from_bytes(&sketch.to_bytes());
            prop_assert!(read.is_ok_and(|read| read == sketch));
        }
    }
}

fn built(keys: &[u64]) -> ConservativeCountMin {
    counted(shape(17, 4), &keys.iter().map(|&key| (key, 1)).collect::<Vec<_>>())
}

const LAWS: WireLaws<ConservativeCountMin> = WireLaws {
    decode: ConservativeCountMin::from_bytes,
    exercise: |sketch| {
        let (lower, upper) = sketch.bounds(&1u64);
        assert!(lower <= upper);
        let mut more = sketch.clone();
        more.insert_n(&1u64, u64::MAX);
        more.merge(sketch).expect("a sketch merges with its like");
        more.halve();
    },
    view: |bytes| {
        if let Ok(view) = ConservativeCountMin::view(bytes) {
            let _ = (view.bounds(&1u64), view.estimate("key"), view.verify(), view.to_owned());
        }
        let _ = CountMinParams::peek(bytes);
    },
};

pds_testkit::wire_laws! { bytes, LAWS, built }

#[test]
fn one_state_has_one_byte_form() {
    LAWS.accepts_canonical_bytes_only(&built(&[1, 2, 3, 1]).to_bytes());
}

/// Less error by a margin on a skewed stream, and no more for the frequent.
#[test]
fn it_errs_less_than_the_plain_sketch_of_the_same_size() {
    /// No law says how much less: a quarter is what would be missed if updates were not conservative.
    const SHARE: f64 = 0.75;
    let params = shape(1024, 4);
    let (mut conservative, mut plain, mut exact) =
        (ConservativeCountMin::new(params), CountMinSketch::new(params), ExactFrequencies::new());
    for rank in Zipf::new(50_000, 1.0, 1).take(200_000) {
        conservative.insert(&rank);
        plain.insert(&rank);
        exact.insert(rank);
    }
    let (mut errors, mut plain_errors) = (0, 0);
    for (key, count) in exact.by_key() {
        errors += conservative.estimate(key) - count;
        plain_errors += plain.estimate(key) - count;
    }
    laws::at_most(errors as f64, SHARE * plain_errors as f64)
        .assert("mean error in relation to the plain sketch's");
    for (key, count) in exact.top(20) {
        laws::at_most((conservative.estimate(key) - count) as f64, (plain.estimate(key) - count) as f64)
            .assert("error of a frequent key");
    }
}

#[test]
fn kinds_are_told_apart_and_shapes_too() {
    let (conservative, plain) = (built(&[1]).to_bytes(), CountMinSketch::new(shape(17, 4)).to_bytes());
    assert!(matches!(CountMinSketch::from_bytes(&conservative), Err(Error::Kind { .. })));
    assert!(matches!(ConservativeCountMin::from_bytes(&plain), Err(Error::Kind { .. })));
    for bytes in [conservative, plain] {
        assert_eq!(CountMinParams::peek(&bytes), Ok(shape(17, 4)));
    }
    assert_eq!(refused_merge_law(built(&[1]), &empty(shape(18, 4))), Error::Incompatible { field: "width" });
    let mut cleared = built(&[1, 2]);
    cleared.clear();
    assert!(cleared.is_empty() && cleared == built(&[]));
}

#[test]
fn serde_carries_the_envelope() {
    let text = serde_json::to_string(&built(&[1, 2, 3])).unwrap();
    assert_eq!(serde_json::from_str::<ConservativeCountMin>(&text).unwrap(), built(&[1, 2, 3]));
}

#[test]
fn rows_above_the_total_are_refused() {
    const AT_MOST: u8 = 4;
    let rows = |total: u64, flags: u8, cells: [u32; 4]| {
        let body = (2u64, 2u32, 0.1, 4u8, total, flags);
        let fingerprint = pds_cms::Fingerprint::fingerprint(&WyHasher::default());
        let bytes = seal(Kind::CONSERVATIVE_COUNT_MIN, 1, CACHE_LINE, fingerprint, &body, |payload| {
            payload.extend(cells.iter().flat_map(|cell| cell.to_le_bytes()));
        });
        let decoded = ConservativeCountMin::from_bytes(&bytes);
        let viewed = ConservativeCountMin::view(&bytes).and_then(|view| view.to_owned());
        assert_eq!(viewed, decoded);
        decoded.map(|sketch| sketch.total())
    };
    let malformed = |field| Err(Error::Malformed { field });
    assert_eq!(rows(5, AT_MOST, [2, 3, 0, 4]), Ok(5));
    assert_eq!(rows(5, AT_MOST, [2, 4, 0, 4]), malformed("row sums"));
    assert_eq!(rows(5, AT_MOST, [0, 0, 6, 0]), malformed("row sums"));
    // A plain sketch's flags, a flag that nothing shows, and flags that there are not.
    assert_eq!(rows(5, 0, [2, 3, 5, 0]), malformed("flags"));
    assert_eq!(rows(5, AT_MOST | 1, [2, 3, 0, 4]), malformed("flags"));
    assert_eq!(rows(5, 8, [2, 3, 0, 4]), malformed("flags"));
    assert_eq!(rows(5, AT_MOST | 16, [2, 3, 0, 4]), malformed("flags"));
    assert_eq!(rows(5, AT_MOST | 2, [2, 3, 0, 4]), malformed("total"));
}
