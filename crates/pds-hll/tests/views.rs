//! A view has the measures of its owner.

use pds_hll::prelude::*;

macro_rules! same {
    ($owned:expr, $view:expr; $($measure:ident),*) => {$(
        // As text: floats to their last bit.
        let (owned, view) = (format!("{:?}", $owned.$measure()), format!("{:?}", $view.$measure()));
        assert_eq!(owned, view, stringify!($measure));
    )*};
}

#[test]
fn a_view_measures_as_its_owner() -> Result<(), Error> {
    let mut hll = HyperLogLog::new(HllParams::with_precision(8)?);
    let mut ull = UltraLogLog::new(UllParams::with_precision(8)?);
    for keys in [0u64, 1, 5000] {
        hll.extend(0..keys);
        ull.extend(0..keys);
        let bytes = (hll.to_bytes(), ull.to_bytes());
        let view = HyperLogLog::view(&bytes.0)?;
        same!(hll, view; params, hasher, is_empty, is_sparse, estimate);
        assert!(view.size_bytes() < bytes.0.len() && (view.size_bytes() == 0) == view.is_empty());
        let view = UltraLogLog::view(&bytes.1)?;
        same!(ull, view; params, hasher, is_empty, is_sparse, estimate);
        assert!(view.size_bytes() < bytes.1.len() && (view.size_bytes() == 0) == view.is_empty());
    }
    Ok(())
}
