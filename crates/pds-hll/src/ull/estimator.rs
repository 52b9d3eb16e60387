//! From the counts of registers to the number of distinct keys, by maximum likelihood.

use libm::{expm1, log1p, sqrt};

use super::counts::{Counts, Evidence};
use crate::histogram::MAX_ZEROS;

/// The number of keys under which the registers are most likely, corrected for their number being finite. 0 if every
/// register is empty, infinite if every register is saturated: if it has seen the last three values.
///
/// Let keys arrive at a register at the rate x = n/m. Each value arrives on its own, at the rate x s with its share s of
/// hashes, so that a register has seen it with the probability 1 - e^(-xs). With B_s registers known to have seen a value
/// and A the sum of the shares of values known not to have been seen, the logarithm of the likelihood is
///
/// ```text
/// sum_s B_s ln(1 - e^(-xs)) - A x
/// ```
///
/// and its maximum the root of the decreasing function that [`rate`] finds. Then n = m x / (1 + c/m).
///
/// # Source
///
/// `[Ertl23]`, section 3.3.
pub(super) fn estimate(counts: &Counts) -> f64 {
    let m = counts.registers();
    if counts.in_use() == 0.0 {
        return 0.0;
    }
    m * rate(&counts.evidence()) / (1.0 + finite_registers(counts.in_use() / m) / m)
}

/// The constant c of the correction for finitely many registers, by the share of them in use.
///
/// The limit of many keys is known. That of few, and the way from one to the other, were fitted for this crate: the
/// half-way rate of arrivals, e^(-x/2) being the root of the share of registers that are empty, to the power 3/2.
fn finite_registers(in_use: f64) -> f64 {
    /// The limit of n much below m.
    const FEW: f64 = 0.25;
    /// 1.5 ln 2 zeta(3, 5/4) / zeta(2, 5/4)^2, the limit of n much above m `[Ertl23]`.
    const MANY: f64 = 0.481_473_765_277_200_65;
    let along = 1.0 - sqrt(1.0 - in_use);
    FEW + (MANY - FEW) * along * sqrt(along)
}

/// The root of
///
/// ```text
/// h(x) = sum_s B_s xs / (e^(xs) - 1) - A x
/// ```
///
/// by Newton's method. y / (e^y - 1) falls and is convex, and so is h: from the left of the root every step leads nearer
/// and none beyond. By Jensen's inequality h is not below that function with all of B = sum B_s at the mean share, whose
/// root is known: there it starts.
fn rate(evidence: &Evidence) -> f64 {
    /// A step so small, as a share of x, is the last: its square is beyond the precision of numbers.
    const LAST: f64 = 1e-8;
    /// Ends the search in any case: seven steps are usual.
    const MOST_STEPS: usize = 64;
    let Evidence { seen, unseen } = evidence;
    let (mut total, mut shares) = (0.0, 0.0);
    let mut share = 1.0;
    for count in seen {
        share *= 0.5;
        total += count;
        shares += count * share;
    }
    if total == 0.0 {
        return 0.0;
    }
    if *unseen == 0.0 {
        return f64::INFINITY;
    }
    let mut x = total / shares * log1p(shares / unseen);
    for _ in 0..MOST_STEPS {
        // From the rarest value on, each twice as likely as the one before: e^(2y) - 1 = (e^y - 1) (e^y + 1). What grows
        // to infinity belongs to values that no register is known to have seen alone.
        let mut y = x / (1u64 << MAX_ZEROS) as f64;
        let mut e = expm1(y);
        // h, and x times its derivative.
        let mut height = -unseen * x;
        let mut slope = height;
        for count in seen.iter().rev() {
            let term = y / e;
            height += count * term;
            slope += count * term * (1.0 - y - term);
            y += y;
            e *= e + 2.0;
        }
        let step = -height / slope;
        // At the root rounding may point back.
        if step > 0.0 {
            x += x * step;
        }
        if step < LAST {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::counts::share;
    use super::super::register::{REGISTERS, is_reachable};
    use super::*;
    use crate::histogram::MAX_VALUE;

    /// What is to vanish, spelled out.
    fn height(evidence: &Evidence, x: f64) -> f64 {
        let seen = evidence.seen.iter().zip(1u8..).map(|(count, value)| {
            let y = x * share(value);
            count * y / expm1(y)
        });
        seen.sum::<f64>() - evidence.unseen * x
    }

    /// Registers that some hashes lead to: any, or those near one value.
    fn registers() -> impl Strategy<Value = Vec<u8>> {
        let any = (0..REGISTERS as u8).prop_filter("reachable", |&register| is_reachable(register));
        let near = (0..=MAX_VALUE).prop_flat_map(|value| {
            let near = (4 * value.saturating_sub(3)..=(4 * value + 15).min(191))
                .prop_filter("reachable", |&register| is_reachable(register));
            vec(near, 16..100)
        });
        prop_oneof![vec(any, 16..100), near]
    }

    proptest! {
        /// The function falls: below the root it is positive, above negative.
        #[test]
        fn the_rate_is_the_root_to_the_last_digits(registers in registers()) {
            let evidence = Counts::of(&registers).evidence();
            let x = rate(&evidence);
            if x > 0.0 && x < f64::INFINITY {
                prop_assert!(height(&evidence, x * (1.0 - 1e-12)) >= 0.0);
                prop_assert!(height(&evidence, x * (1.0 + 1e-12)) <= 0.0);
            } else if x == 0.0 {
                prop_assert!(registers.iter().all(|&register| register == 0));
            } else {
                prop_assert!(registers.iter().all(|&register| register == 191));
            }
        }

        #[test]
        fn any_bytes_have_an_estimate(registers in vec(any::<u8>(), 0..100)) {
            let estimate = estimate(&Counts::of(&registers));
            prop_assert!(estimate >= 0.0);
        }
    }

    /// One register in use is one key; one that is not saturated makes the estimate finite.
    #[test]
    fn the_ends_of_the_range_are_met() {
        for m in [16, 1 << 12, 1 << 18] {
            let mut registers = alloc::vec![0u8; m];
            assert_eq!(estimate(&Counts::of(&registers)).to_bits(), 0);
            registers[3] = 4;
            assert!((estimate(&Counts::of(&registers)) - 1.0).abs() < 0.05);
            registers.fill(191);
            assert!(estimate(&Counts::of(&registers)).is_infinite());
            registers[m - 1] = 190;
            let greatest = estimate(&Counts::of(&registers));
            assert!(greatest.is_finite() && greatest > (1u64 << MAX_ZEROS) as f64 * m as f64);
        }
    }
}
