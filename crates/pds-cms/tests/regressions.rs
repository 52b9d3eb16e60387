//! Faults that users of other libraries reported, each with the right value.

use pds_cms::WyHasher;
use pds_cms::prelude::*;
use pds_testkit::refused_merge_law;

const GREATEST: u64 = u32::MAX as u64;

fn sketch(width: u64, depth: u32) -> CountMinSketch {
    CountMinSketch::new(CountMinParams::with_shape(width, depth).expect("a legal shape"))
}

/// datasketches (Rust 0.6.0, C++ 5.2.0): `lower_bound` returned the over-estimate, 10 or 11 for keys that occurred once.
#[test]
fn a_lower_bound_is_not_the_over_estimate() {
    let mut sketch = sketch(8, 3);
    sketch.extend(0..100u64);
    for key in 0..100u64 {
        let (lower, upper) = sketch.bounds(&key);
        assert!(lower <= 1 && 1 <= upper, "key {key}: {lower} to {upper}");
        assert_eq!(upper, sketch.estimate(&key));
    }
}

/// datasketches 0.6.0: a total beyond the range of a cell panicked, though no cell was near its own.
#[test]
fn the_total_does_not_depend_on_the_cells() {
    let mut sketch = sketch(2048, 4);
    for key in 0..300u64 {
        sketch.insert_n(&key, 1 << 25);
    }
    assert_eq!(sketch.total(), 300 << 25);
    assert!(sketch.total() > GREATEST && !sketch.is_saturated());
    for key in 0..300u64 {
        assert_eq!(sketch.estimate(&key), 1 << 25);
    }
}

/// `asap_sketchlib` 0.4.0: i32::MAX and 10 more gave -2,147,483,639.
/// Eignex/kumulant PR #79: a wrapped count fell out of a filter for positive ones.
#[test]
fn a_count_beyond_the_signed_range_stays_positive() {
    let mut sketch = sketch(64, 4);
    sketch.insert_n("key", i32::MAX as u64);
    sketch.insert_n("key", 10);
    assert_eq!(sketch.estimate("key"), 2_147_483_657);
    let mut wide = CountMinSketch::<u64>::with_hasher(sketch.params(), WyHasher::default());
    wide.insert_n("key", i64::MAX as u64);
    wide.insert_n("key", 10);
    assert_eq!(wide.estimate("key"), 9_223_372_036_854_775_817);
}

/// `sketch_oxide` 0.1.6 chose 256 x 5 for eps = 2/256 at delta = 0.01, which fails 3.1% of the time; `count-min-sketch`
/// 0.2 rounded the depth down, and failed 1.56% of the time for 1%.
#[test]
fn the_shape_keeps_the_promise() {
    let (eps, delta) = (2.0 / 256.0, 0.01);
    let params = CountMinParams::for_error(eps, delta).unwrap();
    assert!((1.0 / (params.width() as f64 * eps)).powf(f64::from(params.depth())) <= delta);
    let published = CountMinParams::textbook(eps, delta).unwrap();
    assert!((1.0 / (published.width() as f64 * eps)).powf(f64::from(published.depth())) <= delta);
}

/// RedisBloom #295, #418: counts passed 2^32 and went on from 0. ProjectASAP/ASAPQuery #532: cells clipped silently.
/// dnbaker/sketch PR #31: beyond four thousand million.
#[test]
fn a_full_cell_says_so_and_never_under_counts() {
    let mut sketch = sketch(64, 4);
    sketch.insert_n("hot", GREATEST);
    assert_eq!((sketch.estimate("hot"), sketch.is_saturated()), (GREATEST, false));
    assert!(sketch.insert("hot"));
    assert!(sketch.is_saturated());
    assert_eq!(sketch.saturated_cells(), 4);
    assert_eq!(sketch.estimate("hot"), GREATEST + 1);
    sketch.insert_n("hot", 5 * GREATEST);
    let (lower, upper) = sketch.bounds("hot");
    let truth = 6 * GREATEST + 1;
    assert!(lower <= truth && truth <= upper);
    // Other keys are as they were.
    sketch.insert_n("cold", 3);
    assert_eq!(sketch.estimate("cold"), 3);
}

/// RedisBloom #574: overflow was noticed only where the sum came out as the greatest count; PR #1063: the mark of
/// overflow was itself a legitimate count.
#[test]
fn the_greatest_count_is_a_count_like_others() {
    for (first, second) in [(GREATEST, 0), (GREATEST - 1, 1), (1, GREATEST - 1)] {
        let mut sketch = sketch(64, 4);
        sketch.insert_n("key", first);
        sketch.insert_n("key", second);
        sketch.insert_n("other", 5);
        assert_eq!((sketch.estimate("key"), sketch.is_saturated()), (GREATEST, false));
    }
    for (first, second) in [(GREATEST, 1), (GREATEST, GREATEST), (1 << 31, 1 << 31), (5, u64::MAX - 5)] {
        let mut sketch = sketch(64, 4);
        sketch.insert_n("key", first);
        sketch.insert_n("key", second);
        assert_eq!((sketch.estimate("key"), sketch.is_saturated()), (first + second, true));
    }
}

/// RedisBloom #753, PR #773: a merge of unequal operands crashed, and overflow in a merge went unnoticed.
#[test]
fn a_merge_checks_everything_before_it_starts_and_saturates() {
    let mut left = sketch(64, 4);
    left.insert_n("key", GREATEST - 1);
    assert_eq!(refused_merge_law(left.clone(), &sketch(65, 4)), Error::Incompatible { field: "width" });
    let mut right = sketch(64, 4);
    right.insert_n("key", 2);
    left.merge(&right).unwrap();
    assert_eq!((left.estimate("key"), left.total()), (GREATEST + 1, GREATEST + 1));
    assert!(left.is_saturated() && !right.is_saturated());
}

/// addthis/stream-lib #111: the total overflowed after merges.
#[test]
fn a_total_beyond_its_range_leaves_true_bounds() {
    let mut sketch =
        CountMinSketch::<u64>::with_hasher(CountMinParams::with_shape(64, 4).unwrap(), WyHasher::default());
    sketch.insert_n("a", u64::MAX - 1);
    sketch.insert_n("b", 7);
    assert_eq!((sketch.total(), sketch.is_saturated(), sketch.saturated_cells()), (u64::MAX, true, 0));
    assert_eq!((sketch.bounds("a"), sketch.bounds("b")), ((0, u64::MAX - 1), (0, 7)));
    let twin = sketch.clone();
    sketch.merge(&twin).unwrap();
    assert_eq!((sketch.bounds("a"), sketch.bounds("b")), ((0, u64::MAX), (0, 14)));
    // Nothing is left to change.
    assert!(!sketch.insert("a") && sketch.insert("b"));
}

/// RedisBloom PR #450 froze on a huge increment, and heavykeeper 0.7.2 took one step per unit.
#[test]
fn a_huge_count_takes_no_longer_than_a_small_one() {
    let mut sketch = sketch(64, 4);
    // One step per unit would take centuries.
    for _ in 0..1000 {
        sketch.insert_n("key", u64::MAX / 1000);
    }
    assert_eq!(sketch.total(), u64::MAX / 1000 * 1000);
    assert_eq!(sketch.estimate("key"), sketch.total());
    assert!(!sketch.insert_n("key", 0));
}

/// `asap_sketchlib` #108: more rows than there were seeds made equal rows, silently.
#[test]
fn rows_beyond_what_the_hash_tells_apart_are_refused() {
    assert!(CountMinParams::with_shape(64, 16).is_ok());
    let refused = CountMinParams::with_shape(64, 17);
    assert!(matches!(refused, Err(Error::Parameter { name: "depth", .. })));
}

/// Spark PR #43560, Velox PR #18674: (2/w, 2^-d) against (e/w, e^-d); probabilistic-collections 0.7 gave eps as the
/// confidence and delta as the error.
#[test]
fn epsilon_and_delta_are_those_of_the_shape() {
    let raw = CountMinParams::with_shape(2000, 7).unwrap();
    assert!((raw.delta() / (-7.0f64).exp() - 1.0).abs() < 1e-14);
    assert!((raw.epsilon() * 2000.0 / std::f64::consts::E - 1.0).abs() < 1e-14);
    let asked = CountMinParams::for_error(0.001, 0.05).unwrap();
    assert_eq!(asked.delta().to_bits(), 0.05f64.to_bits());
    assert!(asked.epsilon() <= 0.001 && asked.epsilon() > 0.000_99);
}

/// barrust/pyprobables #61, RedisLabsModules/countminsketch PR #5, piskvorky/bounter #6: instances of random seeds could
/// not be merged.
#[test]
fn sketches_made_apart_merge_and_other_seeds_are_refused() {
    let (mut here, mut there) = (sketch(64, 4), sketch(64, 4));
    here.insert_n("key", 2);
    there.insert_n("key", 3);
    here.merge(&CountMinSketch::from_bytes(&there.to_bytes()).unwrap()).unwrap();
    assert_eq!(here.estimate("key"), 5);
    let seeded = CountMinSketch::<u32>::with_hasher(here.params(), WyHasher::with_seed(9));
    assert!(matches!(refused_merge_law(here, &seeded), Error::Hasher { .. }));
}

/// datasketches 0.6.0: `CountMinSketch<u8>` panicked once the total passed 255, with every cell far below.
/// seiflotfy/count-min-log PR #7: 8-bit registers wrapped.
#[test]
fn small_cells_neither_panic_nor_wrap() {
    let mut small =
        CountMinSketch::<u8>::with_hasher(CountMinParams::with_shape(2048, 4).unwrap(), WyHasher::default());
    small.extend(0..300u64);
    assert_eq!((small.total(), small.is_saturated(), small.estimate(&7u64)), (300, false, 1));
    // RedisBloom PR #1063: 255 is a legitimate count of a 1-byte cell.
    small.insert_n("key", 255);
    assert_eq!((small.estimate("key"), small.is_saturated()), (255, false));
    small.insert("key");
    assert_eq!((small.estimate("key"), small.is_saturated(), small.total()), (556, true, 556));
}

/// RedisBloom #574: a call that overflowed was applied to some rows, and not to others.
#[test]
fn a_checked_count_is_whole_or_not_at_all() {
    let mut checked = sketch(1, 4);
    assert_eq!(checked.try_insert_n("key", GREATEST), Ok(true));
    let before = checked.clone();
    assert_eq!(checked.try_insert_n("key", 1), Err(Error::Overflow));
    assert_eq!(checked.try_insert_n("key", u64::MAX), Err(Error::Overflow));
    assert!(checked == before && !checked.is_saturated());
    // Other rows have room; the row that has not refuses for all.
    let mut uneven = sketch(2, 16);
    uneven.insert_n("a", GREATEST);
    let before = uneven.clone();
    assert_eq!(uneven.try_insert_n("b", 1), Err(Error::Overflow));
    assert!(uneven == before);
}

/// twitter/algebird #393: negative counts were accepted without a word. RedisBloom PR #1063 asks for guarded decrements.
#[test]
fn taking_back_is_a_call_of_its_own_and_guarded() {
    let mut sketch = sketch(64, 4);
    sketch.insert_n("key", 5);
    assert_eq!(sketch.try_remove("key", 6), Err(Error::NotPresent));
    assert_eq!(sketch.try_remove("absent", 1), Err(Error::NotPresent));
    assert_eq!(sketch.try_remove("key", 2), Ok(()));
    assert_eq!((sketch.estimate("key"), sketch.total()), (3, 3));
}

/// gakhov/pdsa #29: a count-sketch gave negative counts of rare keys, to users who had none.
#[test]
fn a_signed_estimate_has_an_unsigned_form() {
    let mut sketch = CountSketch::new(CountSketchParams::with_shape(4, 3).unwrap());
    (0..200u64).for_each(|key| _ = sketch.insert(&key).unwrap());
    let negative: Vec<u64> = (0..200).filter(|key| sketch.estimate(key) < 0).collect();
    assert!(!negative.is_empty());
    assert!(negative.iter().all(|key| sketch.estimate_nonneg(key) == 0));
}

/// `asap_sketchlib` 0.4.0 and Eignex/kumulant PR #79, for signed cells: beyond the range is an error.
#[test]
fn signed_cells_do_not_wrap() {
    let mut sketch = CountSketch::new(CountSketchParams::with_shape(64, 3).unwrap());
    assert_eq!(sketch.insert_n("key", i64::from(i32::MAX)), Ok(true));
    assert_eq!(sketch.insert_n("key", 10), Err(Error::Overflow));
    assert_eq!(sketch.estimate("key"), i64::from(i32::MAX));
}

/// datasketches-rust #70 (foyer): aging by halves, with a rule for odd counts.
#[test]
fn counts_age_by_halves_and_are_rounded_down() {
    let mut sketch = sketch(64, 4);
    sketch.insert_n("odd", 7);
    sketch.insert_n("once", 1);
    sketch.halve();
    assert_eq!((sketch.estimate("odd"), sketch.estimate("once"), sketch.total()), (3, 0, 4));
}
