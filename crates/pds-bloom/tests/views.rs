//! A view has the measures of its owner.

use pds_bloom::prelude::*;

macro_rules! same {
    ($owned:expr, $view:expr; $($measure:ident),*) => {$(
        // As text: floats to their last bit.
        let (owned, view) = (format!("{:?}", $owned.$measure()), format!("{:?}", $view.$measure()));
        assert_eq!(owned, view, stringify!($measure));
    )*};
}

macro_rules! check {
    ($filter:expr, $type:ty; $($measure:ident),*) => {{
        let mut filter = $filter;
        for keys in [0u64, 1, 5000] {
            for key in 0..keys {
                let _ = filter.insert(&key);
            }
            let bytes = filter.to_bytes();
            let view = <$type>::view(&bytes).expect("its own bytes");
            same!(filter, view; params, hasher, is_empty, size_bytes, fill_ratio, estimated_fpr, is_saturated, $($measure),*);
        }
    }};
}

#[test]
fn a_view_measures_as_its_owner() -> Result<(), Error> {
    check!(BloomFilter::new(BloomParams::for_fpr(1000, 0.01)?), BloomFilter; estimated_len);
    check!(BlockedBloomFilter::new(BlockedBloomParams::for_fpr(1000, 0.01)?), BlockedBloomFilter; estimated_len);
    check!(SplitBlockBloomFilter::new(SplitBlockParams::for_fpr(1000, 0.01)?), SplitBlockBloomFilter; estimated_len);
    check!(
        CountingBloomFilter::new(CountingBloomParams::for_fpr(1000, 0.01)?), CountingBloomFilter;
        estimated_len, saturated_cells
    );
    check!(
        ScalableBloomFilter::new(ScalableBloomParams::for_fpr(100, 0.01)?), ScalableBloomFilter;
        estimated_len, layers, capacity
    );
    check!(
        WindowedBloomFilter::new(WindowedBloomParams::for_fpr(1000, 0.01, 3)?), WindowedBloomFilter; generation
    );
    Ok(())
}
