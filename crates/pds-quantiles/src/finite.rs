//! Finite numbers with a total order.

use core::fmt;

use crate::Error;

/// A finite `f64`: neither NaN nor infinite, and ordered like an integer, which sorting profits from.
///
/// -0.0 is taken as 0.0, so that equal numbers have equal bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Finite(
    /// The bits, those of a negative number's magnitude inverted: in the order of the numbers.
    i64,
);

impl Finite {
    /// The number, if it is finite.
    #[inline]
    pub const fn new(value: f64) -> Option<Self> {
        if value.is_finite() { Some(Self(ordered((value + 0.0).to_bits().cast_signed()))) } else { None }
    }

    /// The number.
    #[inline]
    pub const fn get(self) -> f64 {
        f64::from_bits(ordered(self.0).cast_unsigned())
    }
}

/// Inverts the magnitude of what is negative. Its own inverse.
#[inline]
const fn ordered(bits: i64) -> i64 {
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

/// # Errors
///
/// [`Error::NonFinite`].
impl TryFrom<f64> for Finite {
    type Error = Error;

    fn try_from(value: f64) -> Result<Self, Error> {
        Self::new(value).ok_or(Error::NonFinite)
    }
}

impl From<Finite> for f64 {
    fn from(value: Finite) -> Self {
        value.get()
    }
}

impl fmt::Debug for Finite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl fmt::Display for Finite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn zero_has_one_form_and_what_is_not_finite_has_none() {
        assert_eq!(Finite::new(-0.0), Finite::new(0.0));
        assert_eq!(Finite::new(-0.0).map(|zero| zero.get().to_bits()), Some(0));
        assert_eq!(Finite::default().get().to_bits(), 0);
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Finite::new(value), None);
            assert_eq!(Finite::try_from(value), Err(Error::NonFinite));
        }
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_the_numbers(a: f64, b: f64) {
            let pair = Finite::new(a).zip(Finite::new(b));
            prop_assume!(pair.is_some());
            let (x, y) = pair.unwrap();
            prop_assert_eq!(Some(x.cmp(&y)), a.partial_cmp(&b));
            prop_assert_eq!(x.get().to_bits(), (a + 0.0).to_bits());
        }
    }
}
