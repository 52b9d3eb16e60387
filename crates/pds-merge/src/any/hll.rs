//! HyperLogLogs and UltraLogLogs.

use alloc::string::ToString;
use alloc::vec;

use pds_core::wire::Kind;
use pds_hll::{HyperLogLog, StreamingHyperLogLog, UltraLogLog};

use super::answer::KAPPA;
use super::held::{Held, Parameters, at_once, hashed_elsewhere};
use super::{Answer, MergeLaw, Stated};
use crate::fold::each;
use crate::{Error, Merge, MergeError, Prehashed};

/// What all of them answer alike.
macro_rules! hold_sketch {
    ($sketch:ident $kind:ident $law:ident, $error:ident, $take:expr, $take_many:expr) => {
        impl Held for $sketch<Prehashed> {
            const KIND: Kind = Kind::$kind;
            const NAME: &'static str = stringify!($sketch);

            hashed_elsewhere! {}

            fn law(&self) -> MergeLaw {
                MergeLaw::$law
            }

            fn take(&mut self, other: &Self) -> Result<(), Error> {
                $take(self, other)
            }

            fn take_many(&mut self, others: &[&Self]) -> Result<(), MergeError> {
                $take_many(self, others)
            }

            fn ask(&self) -> Answer {
                let (low, high) = self.bounds(KAPPA);
                Answer::Distinct { estimate: self.estimate(), low, high, kappa: KAPPA }
            }

            fn parameters(&self) -> Parameters {
                let form = if self.is_sparse() { "sparse" } else { "dense" };
                vec![("precision", self.params().precision().to_string()), ("form", form.to_string())]
            }

            fn stated(&self) -> Option<Stated> {
                Some(Stated::RelativeStandardError(self.params().$error()))
            }
        }
    };
}

hold_sketch! { HyperLogLog HYPER_LOG_LOG Exact, std_error, Self::merge, |sketch: &mut Self, others: &[&Self]| {
    at_once(sketch, others, |sketch| sketch.merge_many(others))
} }

hold_sketch! { UltraLogLog ULTRA_LOG_LOG Exact, std_error, Self::merge, |sketch: &mut Self, others: &[&Self]| {
    each(others, |other| sketch.merge(other))
} }

/// The estimate depends on the order of the stream: no merge has it.
fn refuse<S: Held>(_: &mut S, _: &S) -> Result<(), Error> {
    Err(Error::Unmergeable { kind: S::KIND.0 })
}

hold_sketch! {
    StreamingHyperLogLog STREAMING_HYPER_LOG_LOG None, streaming_std_error, refuse,
    |sketch: &mut Self, others: &[&Self]| each(others, |other| refuse(sketch, other))
}
