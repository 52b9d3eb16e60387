//! A view has the measures of its owner.

use pds_theta::prelude::*;

macro_rules! same {
    ($owned:expr, $view:expr; $($measure:ident),*) => {$(
        // As text: floats to their last bit.
        let (owned, view) = (format!("{:?}", $owned.$measure()), format!("{:?}", $view.$measure()));
        assert_eq!(owned, view, stringify!($measure));
    )*};
}

#[test]
fn a_view_measures_as_its_owner() -> Result<(), Error> {
    let mut sketch = ThetaSketch::new(ThetaParams::with_lg_k(6)?);
    for keys in [0u64, 1, 5000] {
        sketch.extend(0..keys);
        sketch.trim();
        let bytes = sketch.to_bytes();
        let view = ThetaSketch::view(&bytes)?;
        same!(sketch, view; params, hasher, is_empty, is_exact, theta, retained, estimate);
        assert!(view.size_bytes() < bytes.len() && (view.size_bytes() == 0) == view.is_empty());
    }
    Ok(())
}
