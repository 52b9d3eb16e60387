//! The claims of the sketch, as properties.

use pds_cms::prelude::*;
use pds_cms::{Cell, Prehashed, WyHasher};
use pds_testkit::{ExactFrequencies, WireLaws, key_lists, refused_merge_law};
use proptest::prelude::*;

fn shape(width: u64, depth: u32) -> CountMinParams {
    CountMinParams::with_shape(width, depth).expect("a legal shape")
}

fn empty<C: Cell>(params: CountMinParams) -> CountMinSketch<C> {
    CountMinSketch::with_hasher(params, WyHasher::default())
}

fn counted<C: Cell>(params: CountMinParams, stream: &[(u64, u64)]) -> CountMinSketch<C> {
    let mut sketch = empty(params);
    for &(key, n) in stream {
        sketch.insert_n(&key, n);
    }
    sketch
}

fn shapes() -> impl Strategy<Value = CountMinParams> {
    (1..40u64, 1..=CountMinParams::MAX_DEPTH).prop_map(|(width, depth)| shape(width, depth))
}

/// Counts of every size: most are small, some are next to the greatest of a cell or of a total.
fn weights() -> impl Strategy<Value = u64> {
    let next_to = |edge: u64| edge - 2..=edge;
    prop_oneof![4 => 0..5u64, 1 => next_to(256), 1 => next_to(1 << 16), 2 => next_to(1 << 31), 2 => next_to(1 << 32), 1 => next_to(1 << 63), 1 => next_to(u64::MAX)]
}

fn streams() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((0..30u64, weights()), 0..40)
}

/// Each key's true count; a sum of `u64` fits into `u128` whatever the stream.
fn truth(stream: &[(u64, u64)], key: u64) -> u128 {
    stream.iter().filter(|&&(counted, _)| counted == key).map(|&(_, n)| u128::from(n)).sum()
}

/// The cells of an unbounded count-min sketch.
fn true_cells(params: CountMinParams, stream: &[(u64, u64)]) -> Vec<u128> {
    let mut cells = vec![0; params.cells() as usize];
    for &(key, n) in stream {
        let hash = WyHasher::default().hash_key(&key);
        for row in 0..params.depth() as usize {
            let column = pds_hash::column(hash, row, params.width());
            cells[row * params.width() as usize + column as usize] += u128::from(n);
        }
    }
    cells
}

/// Everything that a sketch says, against unbounded counters.
fn check_against_unbounded_counters<C: Cell>(params: CountMinParams, stream: &[(u64, u64)]) {
    let sketch = counted::<C>(params, stream);
    let cells = true_cells(params, stream);
    let (greatest, total) =
        (u128::from(C::MAX.into()), stream.iter().map(|&(_, n)| u128::from(n)).sum::<u128>());
    let clipped = |count: u128| u64::try_from(count).unwrap_or(u64::MAX);
    let cells_saturated = cells.iter().any(|&cell| cell > greatest);
    assert_eq!(sketch.total(), clipped(total));
    assert_eq!(sketch.is_empty(), total == 0);
    assert_eq!(sketch.is_saturated(), cells_saturated || total > u128::from(u64::MAX));
    let full = cells.iter().filter(|&&cell| cell >= greatest).count() as u64;
    assert_eq!(sketch.saturated_cells(), if cells_saturated { full } else { 0 });

    let bytes = sketch.to_bytes();
    let view = CountMinSketch::<C>::view_with(&bytes, WyHasher::default()).expect("its own bytes");
    assert_eq!(view.verify(), Ok(()));
    assert!(view.to_owned().is_ok_and(|owned| owned == sketch));
    for key in 0..35u64 {
        let hash = WyHasher::default().hash_key(&key);
        let (estimate, (lower, upper)) = (sketch.estimate(&key), sketch.bounds(&key));
        assert!(
            u128::from(upper) >= truth(stream, key).min(u128::from(u64::MAX)),
            "key {key} is under-counted"
        );
        assert_eq!(upper, estimate);
        assert!(lower <= upper);
        let least = (0..params.depth() as usize)
            .map(|row| {
                cells[row * params.width() as usize + pds_hash::column(hash, row, params.width()) as usize]
            })
            .fold(u128::MAX, u128::min);
        if least < greatest || !cells_saturated {
            assert_eq!(estimate, clipped(least));
        } else {
            assert_eq!(estimate, sketch.total());
        }
        if total > u128::from(u64::MAX) {
            assert_eq!(lower, 0);
        } else {
            let bound = params.error_bound(sketch.total());
            assert_eq!(lower, clipped(least.min(greatest)).saturating_sub(bound));
        }
        assert_eq!((sketch.estimate_hash(hash), sketch.bounds_hash(hash)), (estimate, (lower, upper)));
        assert_eq!((view.estimate(&key), view.bounds(&key)), (estimate, (lower, upper)));
    }
    assert_eq!(
        (view.total(), view.is_saturated(), view.params()),
        (sketch.total(), sketch.is_saturated(), params)
    );
}

proptest! {
    #[test]
    fn a_key_is_never_under_counted_and_nothing_wraps(params in shapes(), stream in streams()) {
        check_against_unbounded_counters::<u8>(params, &stream);
        check_against_unbounded_counters::<u16>(params, &stream);
        check_against_unbounded_counters::<u32>(params, &stream);
        check_against_unbounded_counters::<u64>(params, &stream);
    }

    #[test]
    fn an_insert_says_whether_the_state_changed(params in shapes(), stream in streams()) {
        fn check<C: Cell>(params: CountMinParams, stream: &[(u64, u64)]) {
            let mut sketch = empty::<C>(params);
            for (key, n) in stream {
                let before = sketch.clone();
                assert_eq!(sketch.insert_n(key, *n), sketch != before);
            }
        }
        check::<u8>(params, &stream);
        check::<u16>(params, &stream);
        check::<u32>(params, &stream);
        check::<u64>(params, &stream);
    }

    #[test]
    fn counting_n_times_is_counting_n(params in shapes(), stream in prop::collection::vec((0..30u64, 0..9u64), 0..40)) {
        let mut sketch = CountMinSketch::new(params);
        for &(key, n) in &stream {
            for _ in 0..n {
                prop_assert!(sketch.insert(&key));
            }
        }
        prop_assert_eq!(sketch, counted(params, &stream));
    }

    #[test]
    fn keys_hashes_and_batches_are_one(params in shapes(), keys in key_lists(), head_room in 0..3000u64) {
        fn check<C: Cell>(params: CountMinParams, keys: &[u64], before: u64) {
            let mut by_key = empty::<C>(params);
            by_key.insert_n("much", before);
            let (mut by_hash, mut by_batch, mut by_iterator) = (by_key.clone(), by_key.clone(), by_key.clone());
            let hashes: Vec<u64> = keys.iter().map(|key| by_key.hasher().hash_key(key)).collect();
            for (key, &hash) in keys.iter().zip(&hashes) {
                assert_eq!(by_key.insert(key), by_hash.insert_hash(hash));
            }
            by_batch.insert_batch(&hashes);
            by_iterator.extend(keys);
            assert!(by_hash == by_key && by_batch == by_key && by_iterator == by_key);

            let mut estimates = vec![7; keys.len() + 1];
            assert_eq!(by_key.estimate_batch(&hashes, &mut estimates), keys.len());
            assert_eq!(estimates.pop(), Some(7));
            assert!(keys.iter().map(|key| by_key.estimate(key)).eq(estimates.iter().copied()));
            estimates.truncate(keys.len() / 2);
            assert_eq!(by_key.estimate_batch(&hashes, &mut estimates), keys.len() / 2);
        }
        check::<u8>(params, &keys, 0);
        check::<u16>(params, &keys, u64::from(u16::MAX) - head_room);
        check::<u32>(params, &keys, 0);
        // The batch crosses the line at which a cell, or the total, may saturate.
        check::<u32>(params, &keys, u64::from(u32::MAX) - head_room);
        check::<u64>(params, &keys, u64::MAX - head_room);
    }

    #[test]
    fn the_estimate_is_the_exact_count_where_no_key_shares_a_row(keys in key_lists()) {
        let sketch = counted::<u32>(shape(1 << 16, 8), &keys.iter().map(|&key| (key, 1)).collect::<Vec<_>>());
        let exact: ExactFrequencies<u64> = keys.iter().copied().collect();
        prop_assert_eq!(sketch.total(), exact.total());
        // At most 2,000 keys in 2^16 columns: a row errs with a chance of 3%, all eight with 1e-12.
        for (key, count) in exact.by_key() {
            prop_assert_eq!(sketch.estimate(key), count);
        }
    }

    #[test]
    fn hostile_bytes_give_an_error_or_a_sketch_that_answers(params in shapes(), stream in streams(), at: prop::sample::Index, value: u8) {
        let bytes = counted::<u32>(params, &stream).to_bytes();
        let start = pds_testkit::payload_start(&bytes).unwrap();
        let mut forged = bytes.clone();
        let at = start + at.index(bytes.len() - start);
        forged[at] = value;
        pds_testkit::reseal(&mut forged, start);
        let view = CountMinSketch::view(&forged).unwrap();
        for key in 0..35u64 {
            let (lower, upper) = view.bounds(&key);
            prop_assert!(lower <= upper);
        }
        // The checksum is right; the sum of the row is not.
        if forged != bytes && !view.is_saturated() {
            prop_assert_eq!(view.verify(), Err(Error::Malformed { field: "row sums" }));
            prop_assert!(CountMinSketch::from_bytes(&forged).is_err());
        }
    }
}

/// Weights that make cells of 4 bytes saturate after a few keys, in some orders before others.
fn nearly_full(keys: &[u64]) -> CountMinSketch {
    counted(
        shape(5, 3),
        &keys.iter().map(|&key| (key % 8, (key >> 32) % (1 << 31) + (1 << 30))).collect::<Vec<_>>(),
    )
}

/// The same for cells and total of 8 bytes.
fn nearly_overflowing(keys: &[u64]) -> CountMinSketch<u64> {
    counted(shape(5, 3), &keys.iter().map(|&key| (key % 8, key >> 1)).collect::<Vec<_>>())
}

fn plain<C: Cell>(keys: &[u64]) -> CountMinSketch<C> {
    counted(shape(17, 4), &keys.iter().map(|&key| (key, 1)).collect::<Vec<_>>())
}

fn ask<C: Cell>(sketch: &CountMinSketch<C>) {
    let (lower, upper) = sketch.bounds(&1u64);
    assert!(lower <= upper);
    let _ = (sketch.estimate("key"), sketch.saturated_cells(), sketch.total());
    let mut more = sketch.clone();
    more.insert_n(&1u64, u64::MAX);
    more.merge(sketch).expect("a sketch merges with its like");
}

fn laws<C: Cell>() -> WireLaws<CountMinSketch<C>> {
    WireLaws {
        decode: <CountMinSketch<C> as Sketch>::from_bytes,
        exercise: ask,
        view: |bytes| {
            if let Ok(view) = CountMinSketch::<C>::view_with(bytes, WyHasher::default()) {
                let _ = (view.bounds(&1u64), view.estimate("key"), view.verify(), view.to_owned());
            }
            let _ = CountMinParams::peek(bytes);
        },
    }
}

pds_testkit::merge_laws! { merging, plain::<u32> }
pds_testkit::merge_laws! { merging_8_byte_cells, plain::<u64> }
pds_testkit::merge_laws! { merging_1_byte_cells, plain::<u8> }
pds_testkit::merge_laws! { merging_2_byte_cells, plain::<u16> }
pds_testkit::merge_laws! { merging_saturated_cells, nearly_full }
pds_testkit::merge_laws! { merging_saturated_totals, nearly_overflowing }
pds_testkit::wire_laws! { bytes, laws::<u32>(), plain::<u32>, canonical }
pds_testkit::wire_laws! { bytes_of_1_byte_cells, laws::<u8>(), plain::<u8>, canonical }
pds_testkit::wire_laws! { bytes_of_2_byte_cells, laws::<u16>(), plain::<u16>, canonical }
pds_testkit::wire_laws! { bytes_of_8_byte_cells, laws::<u64>(), plain::<u64>, canonical }
pds_testkit::wire_laws! { bytes_of_saturated_cells, laws::<u32>(), nearly_full, canonical }
pds_testkit::wire_laws! { bytes_of_saturated_totals, laws::<u64>(), nearly_overflowing, canonical }

#[test]
fn one_state_has_one_byte_form() {
    let heavy: Vec<u64> = (0..20).map(|i| i << 58 | i).collect();
    laws::<u32>().accepts_canonical_bytes_only(&plain::<u32>(&[1, 2, 3]).to_bytes());
    laws::<u32>().accepts_canonical_bytes_only(&nearly_full(&heavy).to_bytes());
    laws::<u64>().accepts_canonical_bytes_only(&nearly_overflowing(&heavy).to_bytes());
}

/// Tables beyond the caches are batched with their memory fetched ahead: by other loops.
#[test]
fn a_batch_on_a_large_table_is_the_same_as_one_by_one() {
    let hashes: Vec<u64> = pds_testkit::DistinctKeys::new(3).range(0..5000).chain(0..100).collect();
    for count in [0, 1, 31, 32, 33, 1024, 1025, hashes.len()] {
        let hashes = &hashes[..count];
        let (mut one_by_one, mut batch) = (empty::<u32>(shape(70_001, 3)), empty::<u32>(shape(70_001, 3)));
        for &hash in hashes {
            one_by_one.insert_hash(hash);
        }
        batch.insert_batch(hashes);
        assert!(one_by_one == batch);
        let mut estimates = vec![0; count];
        assert_eq!(batch.estimate_batch(hashes, &mut estimates), count);
        assert!(hashes.iter().zip(&estimates).all(|(&hash, &n)| n == batch.estimate_hash(hash)));
    }
}

#[test]
fn sketches_of_another_shape_or_hasher_do_not_merge() {
    let sketch = |params| counted::<u32>(params, &[(1, 2), (3, 4)]);
    let field = |left, right| refused_merge_law(sketch(left), &sketch(right));
    assert_eq!(field(shape(8, 3), shape(9, 3)), Error::Incompatible { field: "width" });
    assert_eq!(field(shape(8, 3), shape(8, 4)), Error::Incompatible { field: "depth" });
    let sized = CountMinParams::for_error(0.01, 0.01).unwrap();
    let raw = shape(sized.width(), sized.depth());
    assert_eq!(field(sized, raw), Error::Incompatible { field: "delta" });
    let seeded = |seed| CountMinSketch::<u32>::with_hasher(raw, WyHasher::with_seed(seed));
    let refused = refused_merge_law(seeded(1), &seeded(2));
    assert!(matches!(refused, Error::Hasher { .. }));
}

#[test]
fn clearing_makes_a_sketch_new() {
    let mut sketch = nearly_full(&[u64::MAX; 9]);
    assert!(sketch.is_saturated() && sketch.saturated_cells() > 0);
    sketch.clear();
    assert!(sketch.is_empty() && !sketch.is_saturated() && sketch == nearly_full(&[]));
    assert_eq!((sketch.estimate(&7u64), sketch.bounds(&7u64), sketch.size_bytes()), (0, (0, 0), 60));
}

#[test]
fn a_sketch_merges_and_answers_where_its_hasher_is_not() {
    let secret = pds_cms::SipHasher::new(*b"sixteen byte key");
    let mut sketch = CountMinSketch::<u32, _>::with_hasher(shape(64, 4), secret);
    sketch.insert_n("key", 3);
    let bytes = sketch.to_bytes();
    assert!(matches!(CountMinSketch::from_bytes(&bytes), Err(Error::Hasher { .. })));
    assert!(matches!(CountMinSketch::view(&bytes), Err(Error::Hasher { .. })));
    let elsewhere = Prehashed(pds_cms::Fingerprint::fingerprint(&secret).try_into().unwrap());
    let mut relayed = CountMinSketch::<u32, _>::from_bytes_with(&bytes, elsewhere).unwrap();
    let twin = relayed.clone();
    relayed.merge(&twin).unwrap();
    assert_eq!(relayed.estimate_hash(secret.hash_key("key")), 6);
    let back = CountMinSketch::<u32, _>::from_bytes_with(&relayed.to_bytes(), secret).unwrap();
    assert_eq!(back.estimate("key"), 6);
}

#[test]
fn bytes_name_their_shape_and_their_cells() {
    let (narrow, wide) = (plain::<u32>(&[5]).to_bytes(), plain::<u64>(&[5]).to_bytes());
    for bytes in [&narrow, &wide] {
        assert_eq!(CountMinParams::peek(bytes), Ok(shape(17, 4)));
    }
    let other_cells = Some(Error::Incompatible { field: "cell_bytes" });
    assert_eq!(CountMinSketch::from_bytes(&wide).err(), other_cells);
    assert_eq!(CountMinSketch::view(&wide).err(), other_cells);
    assert_eq!(<CountMinSketch<u64> as Sketch>::from_bytes(&narrow).err(), other_cells);
}

#[test]
fn serde_carries_the_envelope() {
    let sketch = plain::<u32>(&[1, 2, 3, 3]);
    let text = serde_json::to_string(&sketch).unwrap();
    assert_eq!(serde_json::from_str::<Vec<u8>>(&text).unwrap(), sketch.to_bytes());
    assert_eq!(serde_json::from_str::<CountMinSketch>(&text).unwrap(), sketch);
    assert!(serde_json::from_str::<CountMinSketch<u64>>(&text).is_err());
}
