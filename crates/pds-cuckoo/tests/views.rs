//! A view has the measures of its owner.

use pds_cuckoo::prelude::*;

macro_rules! same {
    ($owned:expr, $view:expr; $($measure:ident),*) => {$(
        // As text: floats to their last bit.
        let (owned, view) = (format!("{:?}", $owned.$measure()), format!("{:?}", $view.$measure()));
        assert_eq!(owned, view, stringify!($measure));
    )*};
}

#[test]
fn a_view_measures_as_its_owner() -> Result<(), Error> {
    let mut fixed = CuckooFilter::new(CuckooParams::for_fpr(1000, 0.01)?);
    let mut growable = GrowableCuckooFilter::new(GrowableCuckooParams::for_fpr(100, 1000, 0.01)?);
    for keys in [0u64, 1, 400, 500] {
        for key in 0..keys {
            fixed.insert_unique(&key)?;
            growable.insert_unique(&key)?;
        }
        let bytes = (fixed.to_bytes(), growable.to_bytes());
        let view = CuckooFilter::view(&bytes.0)?;
        same!(fixed, view; params, hasher, len, is_empty, size_bytes, load, estimated_fpr, is_saturated);
        let view = GrowableCuckooFilter::view(&bytes.1)?;
        same!(growable, view; params, hasher, len, is_empty, size_bytes, load, estimated_fpr, is_saturated, doublings);
    }
    assert!(growable.doublings() > 0);
    Ok(())
}
