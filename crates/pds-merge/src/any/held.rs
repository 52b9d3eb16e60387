//! What every structure does for `AnySketch`.

use alloc::string::String;
use alloc::vec::Vec;

use pds_core::wire::Kind;

use super::{Answer, ListHasher, MergeLaw, Stated};
use crate::fold::each;
use crate::{Error, MergeError};

/// Names and values of parameters.
pub(super) type Parameters = Vec<(&'static str, String)>;

/// A structure as `AnySketch` holds it. What most have not is answered here.
pub(super) trait Held: Sized {
    const KIND: Kind;

    /// The name of the type.
    const NAME: &'static str;

    fn read(bytes: &[u8], lists: &ListHasher) -> Result<Self, Error>;

    fn write(&self) -> Vec<u8>;

    /// 0 where nothing is hashed.
    fn hashed_by(&self) -> u64;

    /// Bytes that it allocates.
    fn bytes(&self) -> usize;

    fn law(&self) -> MergeLaw;

    fn take(&mut self, _other: &Self) -> Result<(), Error> {
        Err(Error::Unmergeable { kind: Self::KIND.0 })
    }

    /// As reading and taking.
    fn take_encoded(&mut self, bytes: &[u8], lists: &ListHasher) -> Result<(), Error> {
        self.take(&Self::read(bytes, lists)?)
    }

    /// One after the other, or at once where that is quicker: with the same bytes, and up to the first that is refused.
    fn take_many(&mut self, others: &[&Self]) -> Result<(), MergeError> {
        each(others, |other| self.take(other))
    }

    fn take_entries(&mut self, _other: &Self) -> Result<(), Error> {
        Err(Error::Unmergeable { kind: Self::KIND.0 })
    }

    fn ask(&self) -> Answer;

    fn has(&self, _hash: u64) -> Option<bool> {
        None
    }

    fn between(&self, _hash: u64) -> Option<(i128, i128)> {
        None
    }

    fn value_at(&self, _q: f64) -> Option<f64> {
        None
    }

    fn parameters(&self) -> Parameters;

    fn fill(&self) -> Option<f64> {
        None
    }

    fn stated(&self) -> Option<Stated> {
        None
    }
}

/// The part of `Held` that is alike in structures which keep hashes of keys alone.
#[cfg(any(
    feature = "bloom",
    feature = "cms",
    feature = "cuckoo",
    feature = "hll",
    feature = "static-filters",
    feature = "theta"
))]
macro_rules! hashed_elsewhere {
    () => {
        fn read(bytes: &[u8], _: &$crate::ListHasher) -> Result<Self, $crate::Error> {
            <Self as $crate::Sketch>::from_bytes_with(bytes, $crate::Prehashed::of_bytes(bytes)?)
        }

        fn write(&self) -> alloc::vec::Vec<u8> {
            $crate::Sketch::to_bytes(self)
        }

        fn hashed_by(&self) -> u64 {
            $crate::Fingerprint::fingerprint(self.hasher())
        }

        fn bytes(&self) -> usize {
            self.size_bytes()
        }
    };
}
#[cfg(any(
    feature = "bloom",
    feature = "cms",
    feature = "cuckoo",
    feature = "hll",
    feature = "static-filters",
    feature = "theta"
))]
pub(super) use hashed_elsewhere;

/// A merge at once that is all or nothing; where it is nothing, those before the refused one are taken one by one.
#[cfg(any(feature = "hll", feature = "quantiles"))]
pub(super) fn at_once<S: crate::Merge>(
    sketch: &mut S,
    others: &[&S],
    all: impl FnOnce(&mut S) -> Result<(), Error>,
) -> Result<(), MergeError> {
    match all(sketch) {
        Ok(()) => Ok(()),
        Err(_) => each(others, |other| sketch.merge(other)),
    }
}

/// A decoding of bytes, with the hasher of lists.
#[cfg(any(feature = "cms", feature = "static-filters", feature = "quantiles"))]
type Reading<T> = fn(&[u8], &ListHasher) -> Result<T, Error>;

/// The first reading that does not want another type. Types are told apart by parameters alone: no payload is looked at
/// before that.
#[cfg(any(feature = "cms", feature = "static-filters", feature = "quantiles"))]
pub(super) fn first_fit<T>(bytes: &[u8], lists: &ListHasher, readings: &[Reading<T>]) -> Result<T, Error> {
    let (last, others) = readings.split_last().expect("each enum has variants");
    for reading in others {
        match reading(bytes, lists) {
            Err(Error::Incompatible { .. }) => {}
            read => return read,
        }
    }
    last(bytes, lists)
}

/// Implements `Held` for an enum whose variants are one structure with other types inside. `$differ` names what two
/// variants differ in.
#[cfg(any(feature = "cms", feature = "static-filters", feature = "quantiles"))]
macro_rules! hold_variants {
    ($any:ident { $first:ident $(, $variant:ident)* } $kind:ident $name:literal, $differ:expr) => {
        hold_variants! { @ $any { $first $(, $variant)* }, $kind $name, $differ }
    };
    (@ $any:ident { $($variant:ident),* }, $kind:ident $name:literal, $differ:expr) => {
        impl $crate::any::held::Held for $any {
            const KIND: pds_core::wire::Kind = pds_core::wire::Kind::$kind;
            const NAME: &'static str = $name;

            fn read(bytes: &[u8], lists: &$crate::ListHasher) -> Result<Self, $crate::Error> {
                $crate::any::held::first_fit(bytes, lists, &[
                    $(|bytes, lists| $crate::any::held::Held::read(bytes, lists).map(Self::$variant),)*
                ])
            }

            fn write(&self) -> alloc::vec::Vec<u8> {
                match self { $(Self::$variant(sketch) => sketch.write(),)* }
            }

            fn hashed_by(&self) -> u64 {
                match self { $(Self::$variant(sketch) => sketch.hashed_by(),)* }
            }

            fn bytes(&self) -> usize {
                match self { $(Self::$variant(sketch) => sketch.bytes(),)* }
            }

            fn law(&self) -> $crate::MergeLaw {
                match self { $(Self::$variant(sketch) => sketch.law(),)* }
            }

            fn take(&mut self, other: &Self) -> Result<(), $crate::Error> {
                match (self, other) {
                    $((Self::$variant(sketch), Self::$variant(other)) => sketch.take(other),)*
                    (sketch, other) => $differ(&*sketch, other),
                }
            }

            fn take_many(&mut self, others: &[&Self]) -> Result<(), $crate::MergeError> {
                match self {
                    $(Self::$variant(sketch) => {
                        let alike = others.iter().map_while(|other| match other {
                            Self::$variant(other) => Some(other),
                            _ => None,
                        });
                        let alike: alloc::vec::Vec<_> = alike.collect();
                        sketch.take_many(&alike)?;
                        let index = alike.len();
                        others.get(index).map_or(Ok(()), |other| self.take(other))
                            .map_err(|error| $crate::MergeError { index, error })
                    })*
                }
            }

            fn ask(&self) -> $crate::Answer {
                match self { $(Self::$variant(sketch) => sketch.ask(),)* }
            }

            fn has(&self, hash: u64) -> Option<bool> {
                match self { $(Self::$variant(sketch) => sketch.has(hash),)* }
            }

            fn between(&self, hash: u64) -> Option<(i128, i128)> {
                match self { $(Self::$variant(sketch) => sketch.between(hash),)* }
            }

            fn value_at(&self, q: f64) -> Option<f64> {
                match self { $(Self::$variant(sketch) => sketch.value_at(q),)* }
            }

            fn parameters(&self) -> $crate::any::held::Parameters {
                match self { $(Self::$variant(sketch) => sketch.parameters(),)* }
            }

            fn fill(&self) -> Option<f64> {
                match self { $(Self::$variant(sketch) => sketch.fill(),)* }
            }

            fn stated(&self) -> Option<$crate::Stated> {
                match self { $(Self::$variant(sketch) => sketch.stated(),)* }
            }
        }
    };
}
#[cfg(any(feature = "cms", feature = "static-filters", feature = "quantiles"))]
pub(super) use hold_variants;
