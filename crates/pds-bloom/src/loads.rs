//! How many keys share a block, and means over that number.

/// Terms below this share of the largest are left out: together they are far below what a rate is known to.
const NEGLIGIBLE: f64 = 1e-20;

/// Standard deviations below the mean at which no load is met.
const FAR: f64 = 12.0;

/// The mean of `value(load)` over the number of keys that fall into a block when each of `keys` keys does with a chance
/// of `share`: binomial(keys, share).
///
/// Only sums, products and quotients, so that it is the same on every machine. Weights are relative to that of a likely
/// load, and divided by their sum in the end: no factorial is taken, whatever the number of keys. `value` has to be a
/// probability that rises with the load, and to be 1 from some load on, so that few terms differ.
pub(crate) fn mean_over_loads(keys: u64, share: f64, mut value: impl FnMut(u64) -> f64) -> f64 {
    if share >= 1.0 {
        return value(keys);
    }
    let n = keys as f64;
    let mean = n * share;
    if value((mean - FAR * libm::sqrt(mean) - FAR).max(0.0) as u64) >= 1.0 {
        return 1.0;
    }
    let odds = share / (1.0 - share);
    // P(load + 1) / P(load).
    let up = |load: u64| (n - load as f64) / (load + 1) as f64 * odds;
    let start = (mean as u64).min(keys);
    let (mut weights, mut sum) = (1.0, value(start));
    let (mut load, mut weight) = (start, 1.0);
    while load < keys {
        weight *= up(load);
        if weight < NEGLIGIBLE {
            break;
        }
        load += 1;
        weights += weight;
        sum += weight * value(load);
    }
    (load, weight) = (start, 1.0);
    while load > 0 {
        weight /= up(load - 1);
        if weight < NEGLIGIBLE {
            break;
        }
        load -= 1;
        weights += weight;
        sum += weight * value(load);
    }
    sum / weights
}

#[cfg(test)]
mod tests {
    use super::*;

    /// E q^load = (1 - (1 - q) / blocks)^keys.
    #[test]
    fn the_mean_is_the_binomial_one() {
        for (keys, blocks) in [
            (1u64, 1u64),
            (5, 2),
            (100, 3),
            (3, 100),
            (1 << 20, 1 << 14),
            (1 << 40, 1 << 34),
            (u64::MAX, 1 << 60),
        ] {
            for q in [0.1, 0.9, 0.99] {
                let mean = mean_over_loads(keys, 1.0 / blocks as f64, |load| 1.0 - libm::pow(q, load as f64));
                let right = -libm::expm1(keys as f64 * libm::log1p(-(1.0 - q) / blocks as f64));
                assert!((mean - right).abs() <= 1e-12 * right, "{keys} {blocks} {q}: {mean:e} {right:e}");
            }
        }
    }

    #[test]
    fn blocks_that_are_all_full_take_no_time() {
        for blocks in [1u64, 2, 1000, 1 << 40] {
            let rate =
                mean_over_loads(u64::MAX, 1.0 / blocks as f64, |load| if load > 1000 { 1.0 } else { 0.0 });
            assert!(rate >= 1.0);
        }
    }

    #[test]
    fn no_key_is_load_zero() {
        assert_eq!(
            mean_over_loads(0, 0.1, |load| if load == 0 { 0.5 } else { f64::NAN }).to_bits(),
            0.5f64.to_bits()
        );
    }
}
