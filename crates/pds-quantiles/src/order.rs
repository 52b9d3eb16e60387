//! Which order statistic a question asks for: the definitions of quantile and rank, in exact arithmetic.

/// Which number is called the quantile `q` of `n` values in ascending order, x(1) to x(n).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum QuantileRule {
    /// The inverse of the distribution function, a step function: x(ceil(q n)), and x(1) at 0. Always a value that
    /// occurred, as far as the sketch can tell.
    ///
    /// `q` stands for every real number that rounds to it, of which the least counts: so the quantile `k as f64 / n as
    /// f64` is x(k), as it is for the fraction itself, though 0.1 in binary is above a tenth. Products are in integers.
    #[default]
    Step,
    /// Linear interpolation between the values next to position 1 + q (n - 1): type 7 of `[HyndmanFan96]`, the default of
    /// spreadsheets.
    Linear,
}

/// Which share of the values is called the rank of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RankRule {
    /// Values less than it.
    Exclusive,
    /// Values less than it, and half of those equal to it.
    #[default]
    Middle,
    /// Values at most it.
    Inclusive,
}

impl RankRule {
    /// The share of `n` values, `below` of which are less and `equal` are equal.
    ///
    /// `below + equal <= n`, and `n` is not 0.
    pub(crate) fn share(self, below: u64, equal: u64, n: u64) -> f64 {
        let halves = 2 * u128::from(below)
            + match self {
                Self::Exclusive => 0,
                Self::Middle => u128::from(equal),
                Self::Inclusive => 2 * u128::from(equal),
            };
        // Both roundings are monotone, and n of n is 1.
        halves as f64 / (2 * u128::from(n)) as f64
    }
}

/// The number of [`QuantileRule::Step`] among `n` values in ascending order, counted from 0. None if `q` is not in
/// [0, 1], or if there are no values.
pub(crate) fn step_index(q: f64, n: u64) -> Option<u64> {
    let q = Fraction::of(q).filter(|_| n > 0)?;
    if q.is_one() {
        return Some(n - 1);
    }
    // The least real number that rounds to q lies half a unit of its last place below, and half of that where the
    // numbers below are twice as dense.
    let gap = if q.mantissa == 1 << 52 { 1 } else { 2 };
    let product = (4 * u128::from(q.mantissa)).saturating_sub(gap) * u128::from(n);
    let rank = match q.shift + 2 {
        shift @ 0..128 => {
            let whole = product >> shift;
            if whole << shift == product { whole } else { whole + 1 }
        }
        // Below 1: the least rank.
        _ => 1,
    };
    // In range: q is at most 1.
    Some((rank.max(1) - 1) as u64)
}

/// The position of [`QuantileRule::Linear`] among `n` values in ascending order: the number of the value below it,
/// counted from 0, and how far behind that value it is, in [0, 1). As [`step_index`] for what has none.
pub(crate) fn linear_position(q: f64, n: u64) -> Option<(u64, f64)> {
    let position = scaled_rank(q, n.checked_sub(1)?)?;
    let (whole, rest) = (position >> RANK_BITS, position & (RANK_ONE - 1));
    Some((whole as u64, rest as f64 / RANK_ONE as f64))
}

/// Digits behind the point of a rank in integers, which is below 2^117 then: its fraction is a float.
pub(crate) const RANK_BITS: u32 = 53;

/// One value, as a rank.
pub(crate) const RANK_ONE: u128 = 1 << RANK_BITS;

/// The rank `q n`, 0 to `n`, in units of 1 / [`RANK_ONE`], cut off: rounded up, a share below 1 might become 1. None if `q`
/// is not in [0, 1].
#[inline]
pub(crate) fn scaled_rank(q: f64, n: u64) -> Option<u128> {
    let q = Fraction::of(q)?;
    let product = u128::from(q.mantissa) * u128::from(n);
    Some(match q.shift.checked_sub(RANK_BITS) {
        Some(shift @ 0..128) => product >> shift,
        Some(_) => 0,
        // 1 alone: all other shares are below.
        None => product << 1,
    })
}

/// The value a share `t` of the way from `from` to `to`, `from <= to`; monotone in `t`, never outside, no overflow.
pub(crate) fn between(from: f64, to: f64, t: f64) -> f64 {
    if from >= to || t <= 0.0 {
        return from;
    }
    // In halves, since the distance of two finite numbers may overflow.
    let half = (0.5 * to - 0.5 * from) * t;
    (from + half + half).clamp(from, to)
}

/// Digits behind the point of a number of exponent 1, the least.
const SUBNORMAL_SHIFT: u32 = 1074;

/// A number of [0, 1]: `mantissa / 2^shift`.
struct Fraction {
    mantissa: u64,
    shift: u32,
}

impl Fraction {
    fn is_one(&self) -> bool {
        self.shift == 52 && self.mantissa == 1 << 52
    }

    fn of(q: f64) -> Option<Self> {
        if !(0.0..=1.0).contains(&q) {
            return None;
        }
        let bits = q.abs().to_bits();
        let (exponent, mantissa) = ((bits >> 52) as u32, bits & ((1 << 52) - 1));
        Some(if exponent == 0 {
            Self { mantissa, shift: SUBNORMAL_SHIFT }
        } else {
            Self { mantissa: mantissa | 1 << 52, shift: SUBNORMAL_SHIFT + 1 - exponent }
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_ends_are_the_extremes() {
        for n in [1, 2, 3, 1 << 53, (1 << 53) + 1, u64::MAX] {
            assert_eq!(step_index(0.0, n), Some(0));
            assert_eq!(step_index(-0.0, n), Some(0));
            assert_eq!(step_index(f64::from_bits(1), n), Some(0));
            assert_eq!(step_index(1e-300, n), Some(0));
            assert_eq!(linear_position(0.0, n), Some((0, 0.0)));
            assert_eq!(step_index(1.0, n), Some(n - 1));
            assert_eq!(linear_position(1.0, n), Some((n - 1, 0.0)));
        }
    }

    #[test]
    fn ranks_are_products_cut_off() {
        for n in [0, 1, 3, (1 << 53) + 1, u64::MAX] {
            assert_eq!(scaled_rank(1.0, n), Some(u128::from(n) << RANK_BITS));
            assert_eq!(scaled_rank(0.5, n), Some(u128::from(n) << (RANK_BITS - 1)));
            assert_eq!(scaled_rank(1.0f64.next_down(), n), Some(u128::from(n) * (RANK_ONE - 1)));
            assert_eq!(scaled_rank(f64::from_bits(1), n), Some(0));
        }
        assert_eq!(scaled_rank(1e-300, 1), Some(0));
        assert_eq!(scaled_rank(1.5, 1), None);
    }

    #[test]
    fn what_is_no_share_has_no_quantile() {
        for q in [-f64::from_bits(1), 1.0f64.next_up(), f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!((step_index(q, 5), linear_position(q, 5)), (None, None));
        }
        assert_eq!((step_index(0.5, 0), linear_position(0.5, 0)), (None, None));
    }

    #[test]
    fn every_fraction_of_n_is_the_value_of_that_rank() {
        for n in 1..300u64 {
            for k in 1..=n {
                assert_eq!(step_index(k as f64 / n as f64, n), Some(k - 1), "{k}/{n}");
            }
        }
    }

    #[test]
    fn counts_beyond_the_integers_of_a_float_are_told_apart() {
        let n = (1 << 60) + 3;
        assert_eq!(step_index(0.5 + 1e-15, n).zip(step_index(0.5, n)).map(|(a, b)| a > b), Some(true));
        assert_eq!(linear_position(0.5, n), Some(((n - 1) / 2, 0.0)));
        assert_eq!(linear_position(0.5, n + 1), Some(((1 << 59) + 1, 0.5)));
    }

    proptest! {
        #[test]
        fn indices_ascend_and_are_in_range(a in 0.0..=1.0f64, b in 0.0..=1.0f64, n in 1..=u64::MAX) {
            let (low, high) = (a.min(b), a.max(b));
            let [x, y] = [low, high].map(|q| step_index(q, n).unwrap());
            prop_assert!(x <= y && y < n);
            let [x, y] = [low, high].map(|q| linear_position(q, n).unwrap());
            prop_assert!(x.0 < y.0 || (x.0 == y.0 && x.1 <= y.1));
            prop_assert!(y.0 < n && (0.0..1.0).contains(&y.1) && (y.1 == 0.0 || y.0 + 1 < n));
        }

        #[test]
        fn the_step_is_the_published_one(q in 0.0..=1.0f64, n in 1..1_000_000u64) {
            let product = q * n as f64;
            // Next to an integer the rounding of the product decides.
            prop_assume!((product - product.round()).abs() > 1e-9 * product);
            prop_assert_eq!(step_index(q, n), Some(product.ceil() as u64 - 1));
        }

        #[test]
        fn a_mixture_lies_between(a: f64, b: f64, s in 0.0..1.0f64, t in 0.0..1.0f64) {
            prop_assume!(a.is_finite() && b.is_finite());
            let (from, to) = (a.min(b), a.max(b));
            let [x, y] = [s.min(t), s.max(t)].map(|t| between(from, to, t));
            prop_assert!(from <= x && x <= y && y <= to);
        }
    }
}
