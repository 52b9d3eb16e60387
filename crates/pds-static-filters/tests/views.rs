//! A view has the measures of its owner.

use pds_static_filters::prelude::*;

macro_rules! same {
    ($owned:expr, $view:expr; $($measure:ident),*) => {$(
        // As text: floats to their last bit.
        let (owned, view) = (format!("{:?}", $owned.$measure()), format!("{:?}", $view.$measure()));
        assert_eq!(owned, view, stringify!($measure));
    )*};
}

#[test]
fn a_view_measures_as_its_owner() -> Result<(), Error> {
    for keys in [0u64, 1, 5000] {
        let fuse = BinaryFuseFilter8::from_keys(0..keys)?;
        let ribbon = RibbonFilter::from_keys(RibbonParams::for_fpr(0.01)?, 0..keys)?;
        let bytes = (fuse.to_bytes(), ribbon.to_bytes());
        let view = BinaryFuseFilter8::view(&bytes.0)?;
        same!(fuse, view; params, hasher, len, is_empty, size_bytes, bits_per_key, estimated_fpr, attempts);
        let view = RibbonFilter::view(&bytes.1)?;
        same!(ribbon, view; params, hasher, len, is_empty, size_bytes, bits_per_key, estimated_fpr);
        let hashes: Vec<u64> = (0..keys).map(|key| view.hasher().hash_key(&key)).collect();
        assert!(view.contains_all(&hashes));
    }
    Ok(())
}
