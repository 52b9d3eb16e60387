//! Streams of numbers, as quantile sketches meet them.

use crate::SplitMix64;

/// A distribution or pattern of numbers; every stream is endless and the same on every machine.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Values {
    /// Uniform in `[low, high)`.
    Uniform {
        /// The least number.
        low: f64,
        /// The end of the range.
        high: f64,
    },
    /// `e^(mu + sigma Z)` with `Z` standard normal: latencies.
    LogNormal {
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// `P(X > x) = (minimum/x)^shape`: sizes of files and flows.
    Pareto {
        /// How fast the tail falls; the mean is infinite up to 1.
        shape: f64,
        /// The least number.
        minimum: f64,
    },
    /// One number for ever.
    Constant(f64),
    /// `first`, `first + step`, `first + 2 step`, ..: sorted, descending if `step` is negative.
    Sorted {
        /// The first number.
        first: f64,
        /// The difference of neighbours.
        step: f64,
    },
    /// Log-normal numbers of either sign with equal probability, and every sixteenth on average a zero.
    SignMixed {
        /// Mean of the logarithm of the magnitude.
        mu: f64,
        /// Standard deviation of the logarithm of the magnitude.
        sigma: f64,
    },
}

impl Values {
    /// One of each, for a grid: at most 10 orders of magnitude wide in a million numbers.
    pub const ALL: [Self; 7] = [
        Self::Uniform { low: 0.0, high: 1.0 },
        Self::LogNormal { mu: 0.0, sigma: 1.0 },
        Self::Pareto { shape: 1.0, minimum: 1.0 },
        Self::Constant(1.0),
        Self::Sorted { first: 1.0, step: 1.0 },
        Self::Sorted { first: -1.0, step: -1.0 },
        Self::SignMixed { mu: 0.0, sigma: 1.0 },
    ];

    /// Its name in a table.
    pub fn name(&self) -> &'static str {
        match *self {
            Self::Uniform { .. } => "uniform",
            Self::LogNormal { .. } => "log-normal",
            Self::Pareto { .. } => "Pareto",
            Self::Constant(_) => "all equal",
            Self::Sorted { step, .. } if step < 0.0 => "descending",
            Self::Sorted { .. } => "ascending",
            Self::SignMixed { .. } => "sign-mixed",
        }
    }

    /// The stream of a seed. Where no chance is involved the seed changes nothing.
    pub fn stream(self, seed: u64) -> impl Iterator<Item = f64> + Clone {
        /// One in so many sign-mixed numbers is a zero.
        const ZERO_EVERY: u64 = 16;
        let mut random = SplitMix64::new(seed);
        (0u64..).map(move |index| match self {
            Self::Uniform { low, high } => low + (high - low) * random.next_f64(),
            Self::LogNormal { mu, sigma } => log_normal(&mut random, mu, sigma),
            Self::Pareto { shape, minimum } => pareto(&mut random, shape, minimum),
            Self::Constant(value) => value,
            Self::Sorted { first, step } => first + step * index as f64,
            Self::SignMixed { mu, sigma } => {
                let (zero, negative) = (random.below(ZERO_EVERY) == 0, random.below(2) == 0);
                let magnitude = log_normal(&mut random, mu, sigma);
                match (zero, negative) {
                    (true, _) => 0.0,
                    (false, true) => -magnitude,
                    (false, false) => magnitude,
                }
            }
        })
    }
}

/// A Pareto number by the inverse of its distribution function.
pub(crate) fn pareto(random: &mut SplitMix64, shape: f64, minimum: f64) -> f64 {
    // 1 - u lies in (0, 1]: the power is finite, or overflows to infinity.
    minimum * libm::pow(1.0 - random.next_f64(), -1.0 / shape)
}

fn log_normal(random: &mut SplitMix64, mu: f64, sigma: f64) -> f64 {
    libm::exp(mu + sigma * random.next_normal())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws;

    const N: u64 = 100_000;

    /// How many of the first `N` are at most `limit`.
    fn at_most(values: Values, limit: f64) -> u64 {
        values.stream(11).take(N as usize).filter(|&value| value <= limit).count() as u64
    }

    #[test]
    fn each_distribution_has_its_quartiles() {
        /// The upper quartile of a standard normal number.
        const QUARTILE: f64 = 0.674_489_750_196_081_7;
        let quartile = libm::exp(2.0 + 0.5 * QUARTILE);
        laws::rate_is(at_most(Values::Uniform { low: -2.0, high: 6.0 }, 4.0), N, 0.75).assert("uniform");
        laws::rate_is(at_most(Values::LogNormal { mu: 2.0, sigma: 0.5 }, quartile), N, 0.75)
            .assert("log-normal");
        laws::rate_is(at_most(Values::Pareto { shape: 2.0, minimum: 3.0 }, 6.0), N, 0.75).assert("Pareto");
        let mixed = Values::SignMixed { mu: 2.0, sigma: 0.5 };
        laws::rate_is(at_most(mixed, -quartile), N, 15.0 / 32.0 * 0.25).assert("sign-mixed, below");
        laws::rate_is(at_most(mixed, 0.0), N, 17.0 / 32.0).assert("sign-mixed, zeros");
        laws::rate_is(at_most(mixed, quartile), N, 1.0 - 15.0 / 32.0 * 0.25).assert("sign-mixed, above");
    }

    #[test]
    fn patterns_are_what_they_say() {
        let first = |values: Values| values.stream(0).take(3).collect::<Vec<_>>();
        assert_eq!(first(Values::Constant(2.5)), [2.5, 2.5, 2.5]);
        assert_eq!(first(Values::Sorted { first: 1.0, step: 2.0 }), [1.0, 3.0, 5.0]);
        assert_eq!(first(Values::Sorted { first: 1.0, step: -2.0 }), [1.0, -1.0, -3.0]);
    }

    #[test]
    fn every_number_is_finite_and_the_names_are_distinct() {
        let names: std::collections::HashSet<_> = Values::ALL.iter().map(Values::name).collect();
        assert_eq!(names.len(), Values::ALL.len());
        for values in Values::ALL {
            assert!(values.stream(1).take(100_000).all(f64::is_finite), "{}", values.name());
        }
    }

    #[test]
    fn streams_are_the_same_on_every_machine() {
        let bits = |values: Values| {
            values.stream(1).take(1000).fold(0u64, |sum, x| sum.rotate_left(7) ^ x.to_bits())
        };
        assert_eq!(Values::ALL.map(bits), PINNED);
    }

    /// Committed tables depend on them.
    const PINNED: [u64; 7] = [
        6_821_345_890_730_801_912,
        3_221_653_946_375_742_342,
        11_599_482_606_091_991_592,
        10_474_628_043_561_620_552,
        49_266_149_533_203_976,
        549_750_819_889_643_403,
        5_642_871_308_340_381_754,
    ];
}
