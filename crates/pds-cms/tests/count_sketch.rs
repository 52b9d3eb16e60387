//! The claims of the count-sketch.

use std::collections::BTreeMap;

use pds_cms::prelude::*;
use pds_cms::{SignedCell, WyHasher};
use pds_core::wire::{CACHE_LINE, Kind, seal};
use pds_testkit::{DistinctKeys, WireLaws, Zipf, laws, refused_merge_law};
use proptest::prelude::*;

fn shape(width: u64, depth: u32) -> CountSketchParams {
    CountSketchParams::with_shape(width, depth).expect("a legal shape")
}

fn empty<C: SignedCell>(params: CountSketchParams) -> CountSketch<C> {
    CountSketch::with_hasher(params, WyHasher::default())
}

fn counted<C: SignedCell>(params: CountSketchParams, stream: &[(u64, i64)]) -> CountSketch<C> {
    let mut sketch = empty(params);
    for &(key, n) in stream {
        sketch.insert_n(&key, n).expect("a weight within the range");
    }
    sketch
}

fn shapes() -> impl Strategy<Value = CountSketchParams> {
    (1..40u64, 0..8u32).prop_map(|(width, half)| shape(width, 2 * half + 1))
}

fn streams() -> impl Strategy<Value = Vec<(u64, i64)>> {
    prop::collection::vec((0..30u64, -9..9i64), 0..40)
}

fn sums(stream: &[(u64, i64)]) -> BTreeMap<u64, i64> {
    let mut sums = BTreeMap::new();
    for &(key, n) in stream {
        *sums.entry(key).or_default() += n;
    }
    sums
}

proptest! {
    #[test]
    fn a_key_alone_in_its_cells_is_exact(stream in streams()) {
        let sketch = counted::<i32>(shape(1 << 15, 9), &stream);
        for (key, sum) in sums(&stream) {
            prop_assert_eq!(sketch.estimate(&key), sum);
            prop_assert_eq!(sketch.estimate_nonneg(&key), sum.max(0).unsigned_abs());
        }
        prop_assert_eq!(sketch.weight(), stream.iter().map(|&(_, n)| n.unsigned_abs()).sum::<u64>());
        let f2 = sums(&stream).values().map(|sum| u128::from(sum.unsigned_abs()).pow(2)).sum::<u128>();
        prop_assert_eq!((sketch.f2(), sketch.inner_product(&sketch)), (f2, Ok(f2.cast_signed())));
    }

    #[test]
    fn both_widths_of_cells_say_the_same_and_views_too(params in shapes(), stream in streams()) {
        let (narrow, wide) = (counted::<i32>(params, &stream), counted::<i64>(params, &stream));
        let bytes = narrow.to_bytes();
        let view = CountSketch::view(&bytes).unwrap();
        prop_assert!(view.verify().is_ok() && view.to_owned().is_ok_and(|owned| owned == narrow));
        prop_assert_eq!((view.weight(), view.params()), (narrow.weight(), params));
        for key in 0..35u64 {
            prop_assert_eq!(narrow.estimate(&key), wide.estimate(&key));
            prop_assert_eq!(narrow.estimate(&key), view.estimate(&key));
            let (lower, upper) = narrow.bounds(&key);
            prop_assert!(lower <= narrow.estimate(&key) && narrow.estimate(&key) <= upper);
            prop_assert_eq!((upper - lower) as u64, 2 * narrow.error_bound());
        }
    }

    #[test]
    fn subtracting_is_adding_the_negative(params in shapes(), left in streams(), right in streams()) {
        let mut difference = counted::<i32>(params, &left);
        difference.subtract(&counted(params, &right)).unwrap();
        let negative: Vec<_> = right.iter().map(|&(key, n)| (key, -n)).collect();
        let whole = counted::<i32>(params, &[left, negative].concat());
        prop_assert_eq!(difference.to_bytes(), whole.to_bytes());
    }

    #[test]
    fn keys_hashes_and_batches_are_one(params in shapes(), keys in prop::collection::vec(0..50u64, 0..100)) {
        let (mut by_key, mut by_hash, mut by_batch) = (empty::<i32>(params), empty(params), empty(params));
        let hashes: Vec<u64> = keys.iter().map(|key| by_key.hasher().hash_key(key)).collect();
        for (key, &hash) in keys.iter().zip(&hashes) {
            prop_assert_eq!((by_key.insert(key), by_hash.insert_hash(hash)), (Ok(true), Ok(true)));
        }
        by_batch.insert_batch(&hashes).unwrap();
        prop_assert!(by_key == by_hash && by_key == by_batch);
        let mut estimates = vec![7; keys.len() + 1];
        prop_assert_eq!(by_key.estimate_batch(&hashes, &mut estimates), keys.len());
        prop_assert_eq!(estimates.pop(), Some(7));
        prop_assert!(keys.iter().map(|key| by_key.estimate(key)).eq(estimates));
    }
}

#[test]
fn a_batch_on_a_large_table_is_the_same_as_one_by_one() {
    let hashes: Vec<u64> = DistinctKeys::new(3).range(0..5000).chain(0..100).collect();
    let (mut one_by_one, mut batch) = (empty::<i32>(shape(70_001, 3)), empty::<i32>(shape(70_001, 3)));
    for &hash in &hashes {
        one_by_one.insert_hash(hash).unwrap();
    }
    batch.insert_batch(&hashes).unwrap();
    assert!(one_by_one == batch);
    let mut estimates = vec![0; hashes.len()];
    batch.estimate_batch(&hashes, &mut estimates);
    assert!(hashes.iter().zip(&estimates).all(|(&hash, &n)| n == batch.estimate_hash(hash)));
}

fn built<C: SignedCell>(keys: &[u64]) -> CountSketch<C> {
    counted(shape(17, 5), &keys.iter().map(|&key| (key, 1 - (key % 3).cast_signed())).collect::<Vec<_>>())
}

fn laws<C: SignedCell>() -> WireLaws<CountSketch<C>> {
    WireLaws {
        decode: <CountSketch<C> as Sketch>::from_bytes,
        exercise: |sketch| {
            let (lower, upper) = sketch.bounds(&1u64);
            assert!(lower <= upper);
            let _ = (sketch.f2(), sketch.inner_product(sketch));
            let mut more = sketch.clone();
            let _ = (more.insert_n(&1u64, i64::MIN), more.insert_n(&1u64, i64::MAX));
            let _ = (more.merge(sketch), more.subtract(sketch));
        },
        view: |bytes| {
            if let Ok(view) = CountSketch::<C>::view_with(bytes, WyHasher::default()) {
                let _ = (view.estimate(&1u64), view.verify(), view.to_owned());
            }
            let _ = CountSketchParams::peek(bytes);
        },
    }
}

pds_testkit::merge_laws! { merging, built::<i32> }
pds_testkit::merge_laws! { merging_8_byte_cells, built::<i64> }
pds_testkit::wire_laws! { bytes, laws::<i32>(), built::<i32>, canonical }
pds_testkit::wire_laws! { bytes_of_8_byte_cells, laws::<i64>(), built::<i64>, canonical }

#[test]
fn one_state_has_one_byte_form() {
    laws::<i32>().accepts_canonical_bytes_only(&built::<i32>(&[1, 2, 3]).to_bytes());
}

#[test]
fn a_weight_beyond_the_cells_is_refused_whole() {
    let greatest = i64::from(i32::MAX);
    let mut sketch = counted::<i32>(shape(8, 3), &[(1, greatest - 5), (2, -5)]);
    let before = sketch.clone();
    for n in [1, -1, i64::MAX, i64::MIN] {
        assert_eq!(sketch.insert_n(&3u64, n), Err(Error::Overflow));
    }
    assert_eq!(sketch.insert_n(&3u64, 0), Ok(false));
    assert_eq!(sketch.insert_batch(&[1, 2]), Err(Error::Overflow));
    assert_eq!(refused_merge_law(sketch.clone(), &counted(shape(8, 3), &[(1, 1)])), Error::Overflow);
    assert_eq!(sketch.subtract(&before), Err(Error::Overflow));
    assert!(sketch == before);
    let mut wide = counted::<i64>(shape(8, 3), &[(1, i64::MAX)]);
    assert_eq!(wide.estimate(&1u64), i64::MAX);
    assert_eq!((wide.insert(&1u64), wide.insert_n(&1u64, -1)), (Err(Error::Overflow), Err(Error::Overflow)));
    assert_eq!(counted::<i64>(shape(8, 3), &[(1, -i64::MAX)]).estimate(&1u64), -i64::MAX);
    let _ = (wide.f2(), wide.bounds(&1u64));
}

#[test]
fn other_shapes_and_hashers_do_not_merge() {
    let sketch = |params| counted::<i32>(params, &[(1, 2)]);
    let field = |left, right| refused_merge_law(sketch(left), &sketch(right));
    assert_eq!(field(shape(8, 3), shape(9, 3)), Error::Incompatible { field: "width" });
    assert_eq!(field(shape(8, 3), shape(8, 5)), Error::Incompatible { field: "depth" });
    let sized = CountSketchParams::for_error(0.1, 0.1).unwrap();
    assert_eq!(field(sized, shape(sized.width(), sized.depth())), Error::Incompatible { field: "delta" });
    let seeded = |seed| CountSketch::<i32>::with_hasher(shape(8, 3), WyHasher::with_seed(seed));
    assert!(matches!(refused_merge_law(seeded(1), &seeded(2)), Error::Hasher { .. }));
}

#[test]
fn rows_that_no_stream_has_are_refused() {
    let decode = |depth: u32, cell_bytes: u8, weight: u64, cells: [i32; 4]| {
        let body = (4 / u64::from(depth.clamp(1, 4)), depth, 0.1, cell_bytes, weight);
        let fingerprint = pds_cms::Fingerprint::fingerprint(&WyHasher::default());
        let bytes = seal(Kind::COUNT_SKETCH, 1, CACHE_LINE, fingerprint, &body, |payload| {
            payload.extend(cells.iter().flat_map(|cell| cell.to_le_bytes()));
        });
        let decoded = CountSketch::from_bytes(&bytes);
        let viewed = CountSketch::view(&bytes).and_then(|view| {
            let _ = view.estimate(&1u64);
            view.to_owned()
        });
        assert_eq!(viewed, decoded);
        decoded
    };
    let malformed = |field| Err(Error::Malformed { field });
    assert!(decode(1, 4, 6, [1, -2, 3, 0]).is_ok());
    // What was taken back weighs as well, twice.
    assert!(decode(1, 4, 8, [1, -2, 3, 0]).is_ok());
    assert_eq!(decode(1, 4, 7, [1, -2, 3, 0]), malformed("row sums"));
    assert_eq!(decode(1, 4, 4, [1, -2, 3, 0]), malformed("row sums"));
    assert_eq!(decode(1, 4, i32::MAX as u64, [i32::MIN, 0, 0, 0]), malformed("row sums"));
    assert_eq!(decode(1, 4, 1 << 31, [0; 4]), malformed("weight"));
    assert_eq!(decode(2, 4, 0, [0; 4]), malformed("params"));
    assert_eq!(decode(17, 4, 0, [0; 4]), malformed("params"));
    assert_eq!(decode(1, 2, 0, [0; 4]), malformed("cell_bytes"));
    assert_eq!(decode(1, 8, 0, [0; 4]), malformed("payload length"));
}

#[test]
fn serde_carries_the_envelope() {
    let text = serde_json::to_string(&built::<i32>(&[1, 2, 3])).unwrap();
    assert_eq!(serde_json::from_str::<CountSketch>(&text).unwrap(), built(&[1, 2, 3]));
    assert!(serde_json::from_str::<CountSketch<i64>>(&text).is_err());
}

/// The worst stream for Chebyshev's inequality is not at hand; a few equal heavy keys come near it.
#[test]
fn an_estimate_errs_beyond_the_bound_no_more_often_than_delta() {
    const TRIALS: u64 = 40_000;
    const WEIGHT: i64 = 1000;
    for (eps, delta, heavy) in
        [(0.3, 0.1, 10), (0.3, 0.02, 10), (0.5, 0.05, 3), (0.2, 0.2, 24), (0.4, 0.3, 6)]
    {
        let params = CountSketchParams::for_error(eps, delta).unwrap();
        assert!(params.epsilon() <= eps);
        let keys = DistinctKeys::new(18);
        let (mut sketch, mut beyond, mut errors) = (CountSketch::new(params), 0, Vec::new());
        let bound = eps * (heavy as f64).sqrt() * WEIGHT as f64;
        for trial in 0..TRIALS {
            let first = trial * (heavy + 1);
            sketch.clear();
            for key in keys.range(first..first + heavy) {
                sketch.insert_n(&key, WEIGHT).unwrap();
            }
            let error = sketch.estimate(&keys.key(first + heavy)) as f64;
            beyond += u64::from(error.abs() > bound);
            errors.push(error);
        }
        laws::rate_at_most(beyond, TRIALS, delta).assert("errors beyond the bound");
        let sigma = laws::rmse(&errors);
        laws::bias_is_zero(laws::mean(&errors), sigma, TRIALS, 0.0).assert("the error has no sign");
        // A single row's deviation is within sqrt(F2 / w); a median's is no larger here.
        laws::at_most(sigma, (heavy as f64 / params.width() as f64).sqrt() * WEIGHT as f64 * 1.05)
            .assert("deviation");
    }
}

/// The variance of one row, and of its second moment.
#[test]
fn a_row_errs_as_its_law_says() {
    const TRIALS: u64 = 30_000;
    const KEYS: u64 = 40;
    let (params, keys) = (shape(64, 1), DistinctKeys::new(19));
    let (mut sketch, mut errors, mut moments) = (CountSketch::new(params), Vec::new(), Vec::new());
    for trial in 0..TRIALS {
        sketch.clear();
        let first = trial * (KEYS + 1);
        for key in keys.range(first..first + KEYS) {
            sketch.insert_n(&key, 10).unwrap();
        }
        errors.push(sketch.estimate(&keys.key(first + KEYS)) as f64);
        moments.push(sketch.f2() as f64 - 100.0 * KEYS as f64);
    }
    let f2 = 100.0 * KEYS as f64;
    laws::bias_is_zero(laws::mean(&errors), (f2 / 64.0).sqrt(), TRIALS, 0.0).assert("estimates");
    laws::rmse_is_within(&errors, (f2 / 64.0).sqrt(), 0.03).assert("deviation of estimates");
    // Of F2 the variance is 2 (F2^2 - F4) / w.
    let sigma = (2.0 * (f2 * f2 - 10_000.0 * KEYS as f64) / 64.0).sqrt();
    laws::bias_is_zero(laws::mean(&moments), sigma, TRIALS, 0.0).assert("second moments");
    laws::rmse_is_within(&moments, sigma, 0.05).assert("deviation of second moments");
}

/// The sign of a row is drawn apart from its column, and from the signs of other rows.
#[test]
fn signs_are_independent_of_columns_and_of_each_other() {
    const PAIRS: u64 = 400_000;
    let keys = DistinctKeys::new(20);
    // In one column, two keys cancel out or add up.
    let (mut alike, mut together) = (0, 0);
    let mut sketch = CountSketch::new(shape(2, 1));
    for pair in 0..PAIRS {
        let (a, b) = (keys.key(2 * pair), keys.key(2 * pair + 1));
        sketch.clear();
        sketch.insert_hash_n(a, 1).unwrap();
        let seen = sketch.estimate_hash(b);
        together += u64::from(seen != 0);
        alike += u64::from(seen == 1);
    }
    laws::rate_is(together, PAIRS, 0.5).assert("in one column");
    laws::rate_is(alike, together, 0.5).assert("of one sign there");
    // In one column of each of three rows, the middle of three signs is one that two of them agree on.
    let mut sketch = CountSketch::new(shape(1, 3));
    sketch.insert_hash_n(keys.key(u64::MAX), 1).unwrap();
    let positive = (0..PAIRS).filter(|&i| sketch.estimate_hash(keys.key(i)) == 1).count() as u64;
    laws::rate_is(positive, PAIRS, 0.5).assert("the middle sign");
    // All nine rows of one sign, as their cells show: as often as independent ones.
    let mut all_alike = 0;
    let mut sketch = CountSketch::new(shape(1, 9));
    for i in 0..PAIRS {
        sketch.clear();
        sketch.insert_hash(keys.key(i)).unwrap();
        let bytes = sketch.to_bytes();
        let (cells, _) = bytes[bytes.len() - 36..].as_chunks::<4>();
        all_alike += u64::from(cells.iter().all(|cell| *cell == cells[0]));
    }
    laws::rate_is(all_alike, PAIRS, 2.0 / 512.0).assert("all rows of one sign");
}

#[test]
fn on_a_skewed_stream_the_bounds_contain_the_truth() {
    let params = CountSketchParams::for_error(0.02, 0.05).unwrap();
    let (mut outside, mut keys, mut signed) = (0, 0, 0);
    for seed in 0..5 {
        let mut sketch = CountSketch::<i32>::with_hasher(params, WyHasher::with_seed(seed));
        let mut exact = BTreeMap::new();
        for rank in Zipf::new(20_000, 1.0, seed).take(100_000) {
            sketch.insert(&rank).unwrap();
            *exact.entry(rank).or_insert(0i64) += 1;
        }
        let error = sketch.error_bound();
        for (key, &count) in &exact {
            let off = sketch.estimate(key) - count;
            outside += u64::from(off.unsigned_abs() > error);
            signed += off;
            keys += 1;
        }
    }
    laws::rate_at_most(outside, keys, params.delta()).assert("keys outside their bounds");
    // The error takes both signs: its mean is small beside the bound.
    laws::at_most((signed as f64 / keys as f64).abs(), 1.0).assert("mean error");
}

/// Shapes are API: sketches of one target merge whatever release made them. A change is value-breaking.
#[test]
fn shapes_are_the_same_in_every_release() {
    for ((eps, delta), expected) in SHAPES {
        let params = CountSketchParams::for_error(eps, delta).unwrap();
        assert_eq!((params.width(), params.depth()), expected, "eps {eps}, delta {delta}");
    }
}

const SHAPES: [((f64, f64), (u64, u32)); 20] = [
    ((0.5, 0.5), (8, 1)),
    ((0.5, 0.01), (17, 7)),
    ((0.3, 0.1), (112, 1)),
    ((0.2, 0.05), (133, 3)),
    ((0.1, 0.5), (200, 1)),
    ((0.1, 0.1), (1000, 1)),
    ((0.1, 0.05), (531, 3)),
    ((0.1, 0.01), (604, 5)),
    ((0.1, 0.001), (566, 9)),
    ((0.1, 0.0001), (557, 13)),
    ((0.1, 1e-6), (877, 15)),
    ((0.1, 1e-9), (2137, 15)),
    ((0.05, 0.01), (2415, 5)),
    ((0.03, 0.01), (6708, 5)),
    ((0.02, 0.05), (13256, 3)),
    ((0.01, 0.1), (100_001, 1)),
    ((0.01, 0.01), (60366, 5)),
    ((0.003, 0.02), (525_896, 5)),
    ((0.001, 0.01), (6_036_520, 5)),
    ((0.0001, 0.9), (111_111_112, 1)),
];

#[test]
fn the_law_of_a_shape_is_kept_by_it_and_by_no_narrower_one() {
    let tail = |depth: u32, q: f64| {
        let ways = |k: u32| (0..k).fold(1.0, |ways, i| ways * f64::from(depth - i) / f64::from(i + 1));
        (depth / 2 + 1..=depth)
            .map(|k| ways(k) * q.powf(f64::from(k)) * (1.0 - q).powf(f64::from(depth - k)))
            .sum::<f64>()
    };
    for eps in [0.5, 0.1, 0.03, 0.001] {
        for delta in [0.5, 0.3, 0.1, 0.01, 1e-3, 1e-6, 1e-9] {
            let params = match CountSketchParams::for_error(eps, delta) {
                // Where pointers have 32 bits, some tables are beyond them.
                Err(Error::Parameter { name: "eps", .. }) if usize::BITS < 64 && eps < 0.01 => continue,
                params => params.unwrap(),
            };
            let failure = |width: f64| 2.0 * tail(params.depth(), 1.0 / (2.0 * width * eps * eps));
            let width = params.width() as f64;
            // What keys of a shared hash leave of the chance.
            let own_share = delta - 1.0 / (eps * eps * 2.0f64.powi(64));
            assert!(failure(width) <= own_share * (1.0 + 1e-9));
            assert!(failure(width - 1.0) > own_share * (1.0 - 1e-9), "{eps} {delta} {params:?}");
            assert!(params.epsilon() <= eps * (1.0 + 1e-12) && params.delta().to_bits() == delta.to_bits());
        }
    }
    let raw = shape(10_000, 5);
    assert!((raw.epsilon() - 0.02).abs() < 1e-12, "two deviations of a row");
    assert!((raw.delta() - 2.0 * tail(5, 0.125)).abs() < 1e-12);
}

#[test]
fn what_is_out_of_range_is_refused_by_name() {
    let name = |result: Result<CountSketchParams, Error>| match result {
        Err(Error::Parameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    for bad in [f64::NAN, f64::INFINITY, -0.1, -0.0, 0.0, 1.0, 1.5] {
        assert_eq!(name(CountSketchParams::for_error(bad, 0.01)), "eps");
        assert_eq!(name(CountSketchParams::for_error(0.01, bad)), "delta");
    }
    for tiny in [1e-10, 1e-19, 1e-300, f64::from_bits(1)] {
        assert_eq!(name(CountSketchParams::for_error(tiny, 0.01)), "eps", "{tiny}");
    }
    assert_eq!(name(CountSketchParams::for_error(0.01, 1e-17)), "delta");
    for depth in [0, 2, 4, 16, 17, u32::MAX] {
        assert_eq!(name(CountSketchParams::with_shape(5, depth)), "depth");
    }
    assert_eq!(name(CountSketchParams::with_shape(0, 5)), "width");
    assert_eq!(name(CountSketchParams::with_shape(u64::MAX, 15)), "width");
}
