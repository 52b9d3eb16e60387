//! Cuckoo filters.

use alloc::string::ToString;
use alloc::vec;

use pds_core::wire::Kind;
use pds_cuckoo::{CuckooFilter, GrowableCuckooFilter};

use super::held::{Held, Parameters, hashed_elsewhere};
use super::{Answer, MergeLaw, Stated};
use crate::{Error, Prehashed};

/// What both answer alike.
macro_rules! hold_filter {
    ($filter:ident $kind:ident, $parameters:expr) => {
        impl Held for $filter<Prehashed> {
            const KIND: Kind = Kind::$kind;
            const NAME: &'static str = stringify!($filter);

            hashed_elsewhere! {}

            fn law(&self) -> MergeLaw {
                MergeLaw::Absorb
            }

            fn take_entries(&mut self, other: &Self) -> Result<(), Error> {
                self.absorb(other)
            }

            fn ask(&self) -> Answer {
                let (fpr, saturated) = (self.estimated_fpr(), self.is_saturated());
                Answer::Membership { keys: Some(self.len() as f64), fpr, saturated }
            }

            fn has(&self, hash: u64) -> Option<bool> {
                Some(self.contains_hash(hash))
            }

            fn parameters(&self) -> Parameters {
                $parameters(self)
            }

            fn fill(&self) -> Option<f64> {
                Some(self.load())
            }

            fn stated(&self) -> Option<Stated> {
                let params = self.params();
                Some(Stated::FalsePositiveRate(params.fpr(params.capacity())))
            }
        }
    };
}

hold_filter! { CuckooFilter CUCKOO, |filter: &Self| {
    let params = filter.params();
    vec![
        ("buckets", params.buckets().to_string()),
        ("fingerprint_bits", params.fingerprint_bits().to_string()),
        ("entries", filter.len().to_string()),
    ]
} }

hold_filter! { GrowableCuckooFilter GROWABLE_CUCKOO, |filter: &Self| {
    let params = filter.params();
    vec![
        ("first_buckets", params.first_buckets().to_string()),
        ("doublings", params.doublings().to_string()),
        ("fingerprint_bits", params.fingerprint_bits().to_string()),
        ("doubled", filter.doublings().to_string()),
        ("entries", filter.len().to_string()),
    ]
} }
