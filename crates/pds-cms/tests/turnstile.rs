//! Counting with errors, taking back, halving, and what the cells say of streams.

use pds_cms::prelude::*;
use pds_cms::{Cell, WyHasher};
use pds_testkit::{ExactFrequencies, Zipf, laws};
use proptest::prelude::*;

fn shape(width: u64, depth: u32) -> CountMinParams {
    CountMinParams::with_shape(width, depth).expect("a legal shape")
}

fn empty<C: Cell>(params: CountMinParams) -> CountMinSketch<C> {
    CountMinSketch::with_hasher(params, WyHasher::default())
}

fn shapes() -> impl Strategy<Value = CountMinParams> {
    (1..40u64, 1..=6u32).prop_map(|(width, depth)| shape(width, depth))
}

fn weights() -> impl Strategy<Value = u64> {
    let next_to = |edge: u64| edge - 2..=edge;
    prop_oneof![8 => 0..9u64, 2 => next_to(256), 1 => next_to(1 << 16), 1 => next_to(1 << 32), 1 => next_to(u64::MAX)]
}

fn streams() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((0..30u64, weights()), 0..40)
}

fn small_streams() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((0..30u64, 0..7u64), 0..40)
}

/// Its bytes are read as it is, by owner and view.
fn check_bytes<C: Cell>(sketch: &CountMinSketch<C>) {
    let bytes = sketch.to_bytes();
    let view = CountMinSketch::<C>::view_with(&bytes, WyHasher::default()).expect("its own bytes");
    assert_eq!(view.verify(), Ok(()));
    assert!(view.to_owned().is_ok_and(|owned| owned == *sketch));
}

/// A checked count is what saturates nothing, and else an error that changes nothing.
fn check_try_insert<C: Cell>(params: CountMinParams, stream: &[(u64, u64)]) {
    let mut checked = empty::<C>(params);
    for (key, n) in stream {
        let before = checked.clone();
        let mut saturating = checked.clone();
        saturating.insert_n(key, *n);
        match checked.try_insert_n(key, *n) {
            Ok(changed) => assert!(changed == (*n > 0) && checked == saturating),
            Err(error) => {
                assert_eq!(error, Error::Overflow);
                assert!(saturating.is_saturated() && checked == before);
            }
        }
        assert!(!checked.is_saturated());
    }
    check_bytes(&checked);
}

/// Against counts in units of 2^-32, which take up to 32 halvings exactly.
fn check_halving<C: Cell>(params: CountMinParams, rounds: &[Vec<(u64, u64)>]) {
    const UNIT: u32 = 32;
    let (mut sketch, mut counts) = (empty::<C>(params), [0u128; 30]);
    for round in rounds {
        for (key, n) in round {
            sketch.insert_n(key, *n);
            counts[*key as usize] += u128::from(*n) << UNIT;
        }
        sketch.halve();
        counts = counts.map(|count| count / 2);
        for (key, count) in (0u64..).zip(counts) {
            let (lower, upper) = sketch.bounds(&key);
            let floor = u64::try_from(count >> UNIT).unwrap_or(u64::MAX);
            assert!(floor <= upper && lower <= upper, "key {key}: {floor} not within {lower}..={upper}");
            assert_eq!(upper, sketch.estimate(&key));
        }
        check_bytes(&sketch);
        let mut more = sketch.clone();
        more.merge(&sketch).expect("sketches of one shape");
        check_bytes(&more);
    }
}

proptest! {
    #[test]
    fn a_checked_count_saturates_nothing_and_is_whole_or_not_at_all(params in shapes(), stream in streams()) {
        check_try_insert::<u8>(params, &stream);
        check_try_insert::<u16>(params, &stream);
        check_try_insert::<u32>(params, &stream);
        check_try_insert::<u64>(params, &stream);
    }

    #[test]
    fn what_is_taken_back_was_never_there(params in shapes(), kept in small_streams(), taken in small_streams()) {
        let mut sketch = empty::<u16>(params);
        for (key, n) in kept.iter().chain(&taken) {
            sketch.insert_n(key, *n);
        }
        for (key, n) in &taken {
            prop_assert_eq!(sketch.try_remove(key, *n), Ok(()));
        }
        let mut expected = empty::<u16>(params);
        for (key, n) in &kept {
            expected.insert_n(key, *n);
        }
        prop_assert!(sketch == expected);
        prop_assert_eq!(sketch.to_bytes(), expected.to_bytes());
    }

    #[test]
    fn a_provably_absent_key_is_not_taken_back(params in shapes(), stream in streams(), key in 0..40u64, n in weights()) {
        let mut sketch = empty::<u32>(params);
        for (key, n) in &stream {
            sketch.insert_n(key, *n);
        }
        let before = sketch.clone();
        match sketch.try_remove(&key, n) {
            Ok(()) => prop_assert!(before.estimate(&key) >= n && sketch.total() == before.total() - n),
            Err(Error::NotPresent) => prop_assert!(before.estimate(&key) < n && sketch == before),
            Err(error) => prop_assert!(error == Error::Overflow && before.is_saturated() && sketch == before),
        }
        check_bytes(&sketch);
    }

    #[test]
    fn halving_rounds_down_and_never_under_counts(
        params in shapes(),
        rounds in prop::collection::vec(streams(), 1..6),
    ) {
        check_halving::<u8>(params, &rounds);
        check_halving::<u16>(params, &rounds);
        check_halving::<u32>(params, &rounds);
        check_halving::<u64>(params, &rounds);
    }

    #[test]
    fn a_halved_count_is_exact_where_no_key_shares_a_cell(rounds in prop::collection::vec(small_streams(), 1..6)) {
        let (mut sketch, mut counts) = (empty::<u32>(shape(1 << 14, 6)), [0u64; 30]);
        for round in &rounds {
            for (key, n) in round {
                sketch.insert_n(key, *n);
                counts[*key as usize] += n << 32;
            }
            sketch.halve();
            counts = counts.map(|count| count / 2);
            for (key, count) in (0u64..).zip(counts) {
                let (lower, upper) = sketch.bounds(&key);
                prop_assert_eq!(upper, count >> 32);
                prop_assert!(lower <= count.div_ceil(1 << 32));
            }
        }
    }

    #[test]
    fn inner_products_are_never_too_low(params in shapes(), left in small_streams(), right in small_streams()) {
        let (mut a, mut b) = (empty::<u32>(params), empty::<u32>(params));
        let (mut x, mut y) = (ExactFrequencies::new(), ExactFrequencies::new());
        for (key, n) in left {
            a.insert_n(&key, n);
            x.insert_n(key, n);
        }
        for (key, n) in right {
            b.insert_n(&key, n);
            y.insert_n(key, n);
        }
        let product: u128 = (0..30u64).map(|key| u128::from(x.count(&key)) * u128::from(y.count(&key))).sum();
        let estimate = a.inner_product(&b).unwrap();
        prop_assert!(product <= estimate && estimate <= u128::from(a.total()) * u128::from(b.total()));
        prop_assert_eq!(b.inner_product(&a), Ok(estimate));
        let (lower, upper) = a.inner_product_bounds(&b).unwrap();
        prop_assert!(lower <= upper && upper == estimate);
        prop_assert_eq!(a.f2(), a.inner_product(&a));
    }

    /// The formula, over cells counted apart.
    #[test]
    fn the_debiased_estimate_is_the_median_of_the_rows_less_their_noise(params in shapes(), stream in small_streams()) {
        let mut sketch = empty::<u32>(params);
        let mut cells = vec![0u64; params.cells() as usize];
        let width = params.width() as usize;
        let at = |key: u64, row: usize| {
            row * width + pds_hash::column(WyHasher::default().hash_key(&key), row, params.width()) as usize
        };
        for &(key, n) in &stream {
            sketch.insert_n(&key, n);
            (0..params.depth() as usize).for_each(|row| cells[at(key, row)] += n);
        }
        let view = sketch.to_bytes();
        let view = CountMinSketch::view(&view).unwrap();
        for key in 0..35u64 {
            let debiased = sketch.estimate_debiased(&key);
            prop_assert!(view.estimate_debiased(&key).to_bits() == debiased.to_bits());
            let mut rows: Vec<f64> = (0..params.depth() as usize).map(|row| {
                let cell = cells[at(key, row)];
                cell as f64 - (sketch.total() - cell) as f64 / (params.width() - 1) as f64
            }).collect();
            rows.sort_unstable_by(f64::total_cmp);
            let half = rows.len() / 2;
            let median = if rows.len() % 2 == 1 { rows[half] } else { f64::midpoint(rows[half - 1], rows[half]) };
            let expected = if width == 1 { f64::INFINITY } else { median };
            prop_assert!(debiased.to_bits() == expected.clamp(0.0, sketch.estimate(&key) as f64).to_bits());
        }
    }
}

#[test]
fn rare_keys_lose_the_noise_of_the_table() {
    let mut sketch = empty::<u32>(shape(100, 5));
    sketch.extend(0..20_000u64);
    let (mut plain, mut debiased) = (0.0, 0.0);
    for absent in 20_000..22_000u64 {
        plain += sketch.estimate(&absent) as f64;
        debiased += sketch.estimate_debiased(&absent);
    }
    laws::at_most(debiased, plain / 10.0).assert("the noise that is left");
}

#[test]
fn an_inner_product_errs_beyond_its_bound_no_more_often_than_delta() {
    let params = CountMinParams::for_error(0.02, 0.1).unwrap();
    let (mut outside, mut trials) = (0, 0);
    for seed in 0..400 {
        let mut sketches =
            [0, 1].map(|_| CountMinSketch::<u32>::with_hasher(params, WyHasher::with_seed(seed)));
        let mut exact = [ExactFrequencies::new(), ExactFrequencies::new()];
        for side in 0..2 {
            for rank in Zipf::new(500, 0.8, seed * 2 + side as u64).take(1000) {
                sketches[side].insert(&rank);
                exact[side].insert(rank);
            }
        }
        let truth: u64 = exact[0].by_key().iter().map(|(key, n)| n * exact[1].count(*key)).sum();
        let (lower, upper) = sketches[0].inner_product_bounds(&sketches[1]).unwrap();
        assert!(u128::from(truth) <= upper);
        outside += u64::from(u128::from(truth) < lower);
        trials += 1;
    }
    laws::rate_at_most(outside, trials, params.delta()).assert("products beyond their bounds");
}

#[test]
fn what_saturated_is_not_taken_back_and_has_no_products() {
    let mut sketch = empty::<u8>(shape(64, 4));
    sketch.insert_n("key", 300);
    assert_eq!(sketch.try_remove("key", 1), Err(Error::Overflow));
    assert_eq!(sketch.try_remove("other", 1), Err(Error::Overflow));
    assert_eq!(
        (sketch.f2(), sketch.inner_product_bounds(&sketch)),
        (Err(Error::Overflow), Err(Error::Overflow))
    );
    assert_eq!(sketch.try_insert_n("key", 1), Err(Error::Overflow));
    assert_eq!(sketch.try_insert_n("other", 1), Ok(true));
    // Halved, the cell can hold what it stands for; what it really held is unknown.
    sketch.halve();
    assert!(!sketch.is_saturated());
    assert_eq!((sketch.estimate("key"), sketch.bounds("key"), sketch.total()), (151, (0, 151), 151));
    assert_eq!(sketch.try_remove("key", 1), Err(Error::Overflow));
}

#[test]
fn a_small_cell_stays_saturated_while_the_total_is_beyond_it() {
    let mut sketch = empty::<u8>(shape(64, 4));
    sketch.insert_n("key", 1000);
    sketch.insert_n("other", 100);
    sketch.halve();
    assert_eq!((sketch.is_saturated(), sketch.total()), (true, 550));
    assert_eq!((sketch.estimate("key"), sketch.estimate("other")), (550, 50));
    sketch.halve();
    sketch.halve();
    assert_eq!((sketch.is_saturated(), sketch.estimate("key"), sketch.total()), (false, 138, 138));
    sketch.insert_n("other", 200);
    assert_eq!((sketch.estimate("key"), sketch.estimate("other"), sketch.total()), (138, 212, 338));
}

#[test]
fn halving_often_forgets_everything() {
    let mut sketch = empty::<u32>(shape(64, 4));
    sketch.extend(0..1000u64);
    for _ in 0..32 {
        sketch.halve();
    }
    assert!(sketch.is_empty() && sketch == empty(shape(64, 4)));
    sketch.halve();
    assert!(sketch.is_empty());
}

#[test]
fn the_fill_is_the_share_of_cells_in_use() {
    let mut sketch = empty::<u32>(shape(4000, 3));
    assert_eq!((sketch.fill_ratio().to_bits(), sketch.row_fill_ratios()), (0, vec![0.0; 3]));
    sketch.extend(0..2000u64);
    let expected = 1.0 - (1.0 - 1.0 / 4000.0f64).powi(2000);
    for row in sketch.row_fill_ratios() {
        laws::rate_is((row * 4000.0) as u64, 4000, expected).assert("fill of a row");
    }
    let mean = sketch.row_fill_ratios().iter().sum::<f64>() / 3.0;
    assert!((sketch.fill_ratio() - mean).abs() < 1e-12);
}
