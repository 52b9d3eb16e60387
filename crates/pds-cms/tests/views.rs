//! A view has the measures of its owner.

use pds_cms::prelude::*;

macro_rules! same {
    ($owned:expr, $view:expr; $($measure:ident),*) => {$(
        // As text: floats to their last bit.
        let (owned, view) = (format!("{:?}", $owned.$measure()), format!("{:?}", $view.$measure()));
        assert_eq!(owned, view, stringify!($measure));
    )*};
}

const SHAPE: (u64, u32) = (50, 3);

#[test]
fn a_view_of_counts_measures_as_its_owner() -> Result<(), Error> {
    let params = CountMinParams::with_shape(SHAPE.0, SHAPE.1)?;
    let (mut plain, mut conservative) = (CountMinSketch::new(params), ConservativeCountMin::new(params));
    for count in [0, 1, 70, u64::from(u32::MAX)] {
        for key in 0..count.min(70) {
            plain.insert_n(&key, count);
            conservative.insert_n(&key, count);
        }
        let bytes = (plain.to_bytes(), conservative.to_bytes());
        let view = CountMinSketch::view(&bytes.0)?;
        same!(plain, view; params, hasher, is_empty, size_bytes, total, is_saturated, saturated_cells, fill_ratio,
            row_fill_ratios);
        let view = ConservativeCountMin::view(&bytes.1)?;
        same!(conservative, view; params, hasher, is_empty, size_bytes, total, is_saturated, saturated_cells, fill_ratio,
            row_fill_ratios);
        let (mut owned, mut viewed) = ([7; 9], [7; 9]);
        let hashes = [1, 2, 3].map(|key: u64| view.hasher().hash_key(&key));
        assert_eq!(
            conservative.estimate_batch(&hashes, &mut owned),
            view.estimate_batch(&hashes, &mut viewed)
        );
        assert_eq!(owned, viewed);
    }
    Ok(())
}

#[test]
fn a_view_of_signed_counts_measures_as_its_owner() -> Result<(), Error> {
    let mut sketch = CountSketch::new(CountSketchParams::with_shape(SHAPE.0, SHAPE.1)?);
    for count in [0, 1, -300] {
        for key in 0..70u64 {
            sketch.insert_n(&key, count)?;
        }
        let bytes = sketch.to_bytes();
        let view = CountSketch::view(&bytes)?;
        same!(sketch, view; params, hasher, is_empty, size_bytes, weight, f2, error_bound);
        let (mut owned, mut viewed) = ([7; 9], [7; 9]);
        let hashes = [1, 2, 3].map(|key: u64| view.hasher().hash_key(&key));
        assert_eq!(sketch.estimate_batch(&hashes, &mut owned), view.estimate_batch(&hashes, &mut viewed));
        assert_eq!(owned, viewed);
        for key in 0..100u64 {
            assert_eq!(sketch.bounds(&key), view.bounds(&key));
            assert_eq!(sketch.estimate_nonneg(&key), view.estimate_nonneg(&key));
        }
    }
    Ok(())
}

#[test]
fn a_view_of_any_cells_has_a_second_moment() -> Result<(), Error> {
    let sketch = CountSketch::<i64>::with_hasher(CountSketchParams::with_shape(8, 1)?, WyHasher::default());
    let mut bytes = sketch.to_bytes();
    let payload = bytes.len() - sketch.size_bytes();
    for cell in bytes[payload..].as_chunks_mut().0 {
        *cell = i64::MIN.to_le_bytes();
    }
    let view = CountSketch::<i64>::view_with(&bytes, WyHasher::default())?;
    assert_eq!(view.f2(), u128::MAX);
    let (lower, upper) = view.bounds(&1u64);
    assert!(lower <= upper);
    Ok(())
}

#[test]
fn a_view_of_time_measures_as_its_owner() -> Result<(), Error> {
    let table = CountMinParams::with_shape(SHAPE.0, SHAPE.1)?;
    let mut decaying = DecayingCountMin::new(DecayingCountMinParams::with_half_life(table, 10.0)?);
    let mut sliding = SlidingCountMin::new(SlidingCountMinParams::with_panes(table, 3)?);
    for step in 0..8u64 {
        let bytes = (decaying.to_bytes(), sliding.to_bytes());
        let view = DecayingCountMin::view(&bytes.0)?;
        same!(decaying, view; params, hasher, is_empty, size_bytes);
        let view = SlidingCountMin::<CountMinSketch>::view(&bytes.1)?;
        same!(sliding, view; params, hasher, is_empty, size_bytes, total, generation, is_saturated);
        for (key, newest) in (0..20u64).flat_map(|key| (0..6).map(move |newest| (key, newest))) {
            assert_eq!(sliding.estimate_within(&key, newest), view.estimate_within(&key, newest));
        }
        for key in 0..20u64 {
            decaying.insert(&key, step as f64)?;
            sliding.insert_n(&key, step + key);
        }
        if step > 1 {
            sliding.advance();
        }
    }
    Ok(())
}
