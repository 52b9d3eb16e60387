//! Sketches of values.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use pds_core::wire::Kind;
use pds_quantiles::{Contract, DDSketch, KllCodec, KllSketch, QuantileSketch, Quantiles, TDigest};

use super::display::exact;
use super::held::{Held, Parameters, at_once, hold_variants};
use super::{Answer, ListHasher, MergeLaw, Stated, Value};
use crate::{Error, Merge, MergeError, Sketch};

/// A KLL sketch, by its items: those that `pds-quantiles` gives a byte form.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyKll {
    /// Of floating-point numbers.
    F64(KllSketch),
    /// Of unsigned integers.
    U64(KllSketch<u64>),
    /// Of signed integers.
    I64(KllSketch<i64>),
    /// Of texts.
    Text(KllSketch<String>),
    /// Of byte strings.
    Bytes(KllSketch<Vec<u8>>),
}

fn other_items<S>(_: &S, _: &S) -> Result<(), Error> {
    Err(Error::Incompatible { field: "item" })
}

hold_variants! { AnyKll { F64, U64, I64, Text, Bytes } KLL "KllSketch", other_items }

fn stated(contract: Contract) -> Option<Stated> {
    match contract {
        Contract::Rank { epsilon, confidence } => Some(Stated::Rank { epsilon, confidence }),
        Contract::RelativeValue { alpha, valid_from_q, valid_to_q } => {
            Some(Stated::RelativeValue { alpha, valid_from_q, valid_to_q })
        }
        _ => None,
    }
}

fn answer<T: Into<Value>>(
    count: u64,
    min: Option<T>,
    quantile: impl Fn(f64) -> Option<T>,
    max: Option<T>,
) -> Answer {
    let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|q| quantile(q).map(Into::into));
    Answer::Quantiles { count, min: min.map(Into::into), p50, p90, p99, max: max.map(Into::into) }
}

/// An item as `AnyKll` names it.
trait Item: KllCodec + Into<Value> {
    const NAME: &'static str;

    /// Of numbers that are answered as they are.
    fn number(self) -> Option<f64> {
        None
    }
}

impl Item for f64 {
    const NAME: &'static str = "f64";

    fn number(self) -> Option<f64> {
        Some(self)
    }
}

impl Item for u64 {
    const NAME: &'static str = "u64";
}

impl Item for i64 {
    const NAME: &'static str = "i64";
}

impl Item for String {
    const NAME: &'static str = "text";
}

impl Item for Vec<u8> {
    const NAME: &'static str = "bytes";
}

/// What all of them answer alike.
macro_rules! unhashed {
    ($law:ident) => {
        fn read(bytes: &[u8], _: &ListHasher) -> Result<Self, Error> {
            Self::from_bytes_with(bytes, ())
        }

        fn write(&self) -> Vec<u8> {
            self.to_bytes()
        }

        fn hashed_by(&self) -> u64 {
            0
        }

        fn bytes(&self) -> usize {
            self.size_bytes()
        }

        fn law(&self) -> MergeLaw {
            MergeLaw::$law
        }

        fn take(&mut self, other: &Self) -> Result<(), Error> {
            self.merge(other)
        }

        fn take_many(&mut self, others: &[&Self]) -> Result<(), MergeError> {
            at_once(self, others, |sketch| sketch.merge_many(others.iter().copied()))
        }

        fn stated(&self) -> Option<Stated> {
            stated(self.contract())
        }
    };
}

impl<T: Item> Held for KllSketch<T> {
    const KIND: Kind = Kind::KLL;
    const NAME: &'static str = "KllSketch";

    unhashed! { Bounded }

    fn ask(&self) -> Answer {
        let snapshot = self.snapshot();
        answer(self.count(), self.min(), |q| snapshot.quantile(q), self.max())
    }

    fn value_at(&self, q: f64) -> Option<f64> {
        self.quantile(q).and_then(Item::number)
    }

    fn parameters(&self) -> Parameters {
        vec![
            ("item", T::NAME.to_string()),
            ("k", self.params().k().to_string()),
            ("min_k", self.min_params().k().to_string()),
            ("count", self.count().to_string()),
            ("rejected", self.rejected().to_string()),
        ]
    }
}

impl Held for DDSketch {
    const KIND: Kind = Kind::DDSKETCH;
    const NAME: &'static str = "DDSketch";

    unhashed! { Exact }

    fn ask(&self) -> Answer {
        answer(self.count(), self.min(), |q| self.quantile(q), self.max())
    }

    fn value_at(&self, q: f64) -> Option<f64> {
        self.quantile(q)
    }

    fn parameters(&self) -> Parameters {
        let params = self.params();
        vec![
            ("alpha", exact(params.alpha())),
            ("mapping", format!("{:?}", params.mapping())),
            ("scale", params.scale().map_or_else(|| "none".into(), |scale| scale.to_string())),
            ("max_bins", params.max_bins().to_string()),
            ("collapse", format!("{:?}", params.collapse())),
            ("bins", self.occupied_bins().to_string()),
            ("count", self.count().to_string()),
            ("rejected", self.rejected().to_string()),
        ]
    }
}

impl Held for TDigest {
    const KIND: Kind = Kind::T_DIGEST;
    const NAME: &'static str = "TDigest";

    unhashed! { Bounded }

    fn ask(&self) -> Answer {
        let snapshot = self.snapshot();
        answer(self.count(), self.min(), |q| snapshot.quantile(q), self.max())
    }

    fn value_at(&self, q: f64) -> Option<f64> {
        self.quantile(q)
    }

    fn parameters(&self) -> Parameters {
        vec![
            ("compression", self.params().compression().to_string()),
            ("count", self.count().to_string()),
            ("rejected", self.rejected().to_string()),
        ]
    }
}
