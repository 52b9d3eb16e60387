//! Bloom filters.

use alloc::string::ToString;
use alloc::vec;

use pds_bloom::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, ScalableBloomFilter, SplitBlockBloomFilter,
    WindowedBloomFilter,
};
use pds_core::wire::Kind;

use super::display::exact;
use super::held::{Held, Parameters, hashed_elsewhere};
use super::{Answer, MergeLaw, Stated};
use crate::{Error, Merge, Prehashed};

/// The rate of a filter that was designed for one.
fn designed(fpr: Option<f64>) -> (&'static str, alloc::string::String) {
    ("design_fpr", fpr.map_or_else(|| "none".into(), exact))
}

fn bits_and_probes(bits: u64, k: u32, fpr: Option<f64>) -> Parameters {
    vec![("bits", bits.to_string()), ("k", k.to_string()), designed(fpr)]
}

/// What all of them answer alike.
macro_rules! hold_filter {
    ($filter:ident $kind:ident $law:ident, $keys:expr, $parameters:expr, $stated:expr) => {
        impl Held for $filter<Prehashed> {
            const KIND: Kind = Kind::$kind;
            const NAME: &'static str = stringify!($filter);

            hashed_elsewhere! {}

            fn law(&self) -> MergeLaw {
                MergeLaw::$law
            }

            fn take(&mut self, other: &Self) -> Result<(), Error> {
                self.merge(other)
            }

            fn ask(&self) -> Answer {
                let keys = $keys(self);
                Answer::Membership { keys, fpr: self.estimated_fpr(), saturated: self.is_saturated() }
            }

            fn has(&self, hash: u64) -> Option<bool> {
                Some(self.contains_hash(hash))
            }

            fn parameters(&self) -> Parameters {
                $parameters(self)
            }

            fn fill(&self) -> Option<f64> {
                Some(self.fill_ratio())
            }

            fn stated(&self) -> Option<Stated> {
                let rate: Option<f64> = $stated(self);
                rate.map(Stated::FalsePositiveRate)
            }
        }
    };
}

hold_filter! {
    BloomFilter BLOOM Exact,
    |filter: &Self| Some(filter.estimated_len()),
    |filter: &Self| {
        let params = filter.params();
        bits_and_probes(params.bits(), params.k(), params.design_fpr())
    },
    |filter: &Self| filter.params().design_fpr()
}

hold_filter! {
    SplitBlockBloomFilter SPLIT_BLOCK_BLOOM Exact,
    |filter: &Self| Some(filter.estimated_len()),
    |filter: &Self| {
        let params = filter.params();
        vec![("blocks", params.blocks().to_string()), designed(params.design_fpr())]
    },
    |filter: &Self| filter.params().design_fpr()
}

hold_filter! {
    BlockedBloomFilter BLOCKED_BLOOM Exact,
    |filter: &Self| Some(filter.estimated_len()),
    |filter: &Self| {
        let params = filter.params();
        bits_and_probes(params.bits(), params.k(), params.design_fpr())
    },
    |filter: &Self| filter.params().design_fpr()
}

hold_filter! {
    CountingBloomFilter COUNTING_BLOOM Exact,
    |filter: &Self| Some(filter.estimated_len()),
    |filter: &Self| {
        let params = filter.params();
        bits_and_probes(params.bits(), params.k(), params.design_fpr())
    },
    |filter: &Self| filter.params().design_fpr()
}

hold_filter! {
    ScalableBloomFilter SCALABLE_BLOOM Bounded,
    |filter: &Self| Some(filter.estimated_len()),
    |filter: &Self| {
        let params = filter.params();
        vec![
            ("keys", params.keys().to_string()),
            designed(Some(params.design_fpr())),
            ("growth", params.growth().to_string()),
            ("shares", params.shares().to_string()),
            ("max_bytes", params.max_bytes().to_string()),
            ("layers", filter.layers().to_string()),
        ]
    },
    |filter: &Self| Some(filter.params().design_fpr())
}

hold_filter! {
    WindowedBloomFilter WINDOWED_BLOOM Exact,
    |_: &Self| None,
    |filter: &Self| {
        let params = filter.params();
        vec![
            ("bits", params.bits_per_generation().to_string()),
            ("k", params.k().to_string()),
            ("generations", params.generations().to_string()),
            ("generation", filter.generation().to_string()),
            designed(params.design_fpr()),
        ]
    },
    |filter: &Self| filter.params().design_fpr()
}
