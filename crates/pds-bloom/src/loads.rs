//! How many keys share a block, and means over that number.

/// Terms below this share of the largest are left out: together they are far below what a rate is known to.
const NEGLIGIBLE: f64 = 1e-20;

/// The mean of `value(load)` over the number of keys that fall into one of `blocks` blocks when `keys` keys fall at
/// random: binomial(keys, 1 / blocks).
///
/// Only sums, products and quotients, so that it is the same on every machine. Weights are relative to that of the most
/// likely load, and divided by their sum in the end: no factorial is taken, whatever the number of keys. `value` is
/// asked for loads upwards from the most likely one, then downwards.
pub(crate) fn mean_over_loads(keys: u64, blocks: u64, mut value: impl FnMut(u64) -> f64) -> f64 {
    if blocks == 1 {
        return value(keys);
    }
    let (n, others) = (keys as f64, (blocks - 1) as f64);
    // P(load + 1) / P(load).
    let up = |load: u64| (n - load as f64) / ((load + 1) as f64 * others);
    // The mode is floor((keys + 1) / blocks).
    let mode = ((u128::from(keys) + 1) / u128::from(blocks)) as u64;
    let (mut weights, mut sum) = (1.0, value(mode));
    let (mut load, mut weight) = (mode, 1.0);
    while load < keys {
        weight *= up(load);
        if weight < NEGLIGIBLE {
            break;
        }
        load += 1;
        weights += weight;
        sum += weight * value(load);
    }
    (load, weight) = (mode, 1.0);
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

    fn near(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-12
    }

    #[test]
    fn the_mean_load_and_its_square_are_the_binomial_ones() {
        for (keys, blocks) in [
            (1u64, 1u64),
            (5, 2),
            (100, 3),
            (3, 100),
            (1 << 20, 1 << 14),
            (1 << 40, 1 << 34),
            (u64::MAX, 1 << 60),
        ] {
            let (n, b) = (keys as f64, blocks as f64);
            assert!(near(mean_over_loads(keys, blocks, |load| load as f64), n / b), "{keys} {blocks}");
            let square = n / b * (1.0 - 1.0 / b) + (n / b) * (n / b);
            assert!(near(mean_over_loads(keys, blocks, |load| (load as f64) * (load as f64)), square));
        }
    }

    #[test]
    fn no_key_is_load_zero() {
        assert_eq!(
            mean_over_loads(0, 7, |load| if load == 0 { 1.0 } else { f64::NAN }).to_bits(),
            1f64.to_bits()
        );
    }
}
