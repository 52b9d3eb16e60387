//! What a KLL sketch may hold: floats, and any ordered type.

use alloc::string::String;
use alloc::vec::Vec;

use crate::Finite;

/// A type whose values a [`KllSketch`](crate::KllSketch) can order and keep.
///
/// Floats, integers, `String` and `Vec<u8>` are; any other type with a total order is within [`Ordered`], or by
/// an implementation of its own with `Stored = Self`.
pub trait KllItem: Clone {
    /// How a value is kept: with a total order, which for floats is not that of the type itself.
    type Stored: Ord + Clone;

    /// The value as it is kept; `None` if it has no place in the order.
    fn store(self) -> Option<Self::Stored>;

    /// The value that is kept.
    fn load(stored: &Self::Stored) -> Self;
}

/// Finite numbers. -0.0 is kept as 0.0.
impl KllItem for f64 {
    type Stored = Finite;

    #[inline]
    fn store(self) -> Option<Finite> {
        Finite::new(self)
    }

    #[inline]
    fn load(stored: &Finite) -> Self {
        stored.get()
    }
}

/// Types whose own order is total: kept as they are.
macro_rules! kept_as_they_are {
    ($($(#[$doc:meta])* $item:ty),+) => { $(
        $(#[$doc])*
        impl KllItem for $item {
            type Stored = Self;

            #[inline]
            fn store(self) -> Option<Self> {
                Some(self)
            }

            #[inline]
            fn load(stored: &Self) -> Self {
                stored.clone()
            }
        }
    )+ };
}

kept_as_they_are! {
    u64,
    i64,
    /// By code points, which is by bytes.
    String,
    /// By bytes.
    Vec<u8>
}

/// A value of any type with a total order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ordered<T>(
    /// The value.
    pub T,
);

impl<T: Ord + Clone> KllItem for Ordered<T> {
    type Stored = Self;

    fn store(self) -> Option<Self> {
        Some(self)
    }

    fn load(stored: &Self) -> Self {
        stored.clone()
    }
}
