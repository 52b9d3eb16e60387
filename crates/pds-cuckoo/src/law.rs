//! The laws of a table: pure functions of a shape, apart from any table.

use libm::{exp, expm1, log1p, sqrt};

use crate::lanes::SLOTS;

/// Chance that a shape does not take as many keys as [`capacity`] says. The law is made for half of it.
pub(crate) const FAILURE: f64 = 1e-6;

/// The highest load that is promised, at any size.
pub(crate) const MAX_LOAD: f64 = 0.95;

/// The load above which a filter raises the alarm.
pub(crate) const ALARM: f64 = 0.9;

/// Slots of both buckets of a key: as many equal entries there can be.
const COPIES: u64 = 2 * SLOTS as u64;

/// Terms of a sum below this share of it are left out.
const NEGLIGIBLE: f64 = 1e-9;

/// Expected rate of false positives with `keys` distinct keys in tables of `buckets` buckets (indices, if it grows)
/// and `fingerprints` fingerprints.
///
/// Where an entry lies does not matter: a stranger is taken for a member iff it has the fingerprint and the pair of
/// buckets of a key. Of the fingerprints and pairs, a key has any one with a chance of 2 / (buckets fingerprints).
/// With an odd number of buckets, one key in `buckets` has both buckets in one, and half that chance.
pub(crate) fn rate(buckets: f64, odd: bool, fingerprints: f64, keys: f64) -> f64 {
    let met = |share: f64| -expm1(keys * log1p(-share.min(1.0)));
    let kinds = buckets * fingerprints;
    let single = if odd { 1.0 / buckets } else { 0.0 };
    // Both terms are 0 without a key, though the first is 0 * infinity where there is but one kind.
    if keys <= 0.0 {
        return 0.0;
    }
    let in_two = if single < 1.0 { (1.0 - single) * met(2.0 / kinds) } else { 0.0 };
    (in_two + single * met(1.0 / kinds) + hash_collision_rate(keys)).min(1.0)
}

/// Chance that an absent key has the 64-bit hash of one of `keys` keys: no filter over 64-bit hashes gets below.
pub(crate) fn hash_collision_rate(keys: f64) -> f64 {
    /// 2^64 hashes.
    const HASHES: f64 = 18_446_744_073_709_551_616.0;
    -expm1(-keys / HASHES)
}

/// Most distinct keys that all find room, but for a chance of [`FAILURE`].
///
/// Three things can go wrong. The table as a whole: a random assignment of keys to two buckets of four is possible up
/// to a load of 0.980 `[CainSandersWormald07]`, less a deviation in the square root of the number of buckets, which
/// decides in tables of some hundred keys. Single pairs of buckets ([`crowding`]): in tiny tables, and where there are
/// so few fingerprints that more than eight keys come to look the same. And the bounded search, for which loads above
/// [`MAX_LOAD`] are not promised.
pub(crate) fn capacity(buckets: u64, fingerprints: u64) -> u64 {
    /// The load at which the last key finds no room in large tables.
    const THRESHOLD: f64 = 0.980;
    /// Keys by which tables fall short of it in one of two million cases, for the square root of the buckets and for
    /// every table: fitted to simulations of tables of 16 to 1,000 buckets, and rounded up.
    const DEVIATION: f64 = 1.6;
    const SHORTFALL: f64 = 14.0;
    let slots = (buckets * u64::from(SLOTS)) as f64;
    let likely = THRESHOLD * slots - DEVIATION * sqrt(buckets as f64) - SHORTFALL;
    // Eight keys always fit into two buckets that differ.
    let most = (MAX_LOAD * slots).min(likely.max(COPIES as f64)) as u64;
    let fits = |keys: u64| crowding(buckets, fingerprints, keys) <= FAILURE / 2.0;
    last(most, fits)
}

/// Chance that the keys of some pair of buckets do not fit into the eight slots of the pair (those of some bucket into
/// its four, where both buckets of a key can be one), by the sum over all pairs.
///
/// Fingerprints lead from a bucket to another one at random, `k` of them to the same: binomial, as good as Poisson, of
/// mean 2 fingerprints / buckets. Of the keys each belongs to the pair with a chance of `2 k / (buckets
/// fingerprints)`.
fn crowding(buckets: u64, fingerprints: u64, keys: u64) -> f64 {
    /// Above this mean, the number of fingerprints of a pair is as good as its mean.
    const CONCENTRATED: f64 = 100.0;
    let (m, f) = (buckets as f64, fingerprints as f64);
    let single = if buckets % 2 == 1 { m * tail(keys, COPIES / 2, 1.0 / (m * m)) } else { 0.0 };
    if buckets == 1 {
        return single;
    }
    let pairs = m * m / 4.0;
    let mean = 2.0 * f / m;
    let of_pair = |k: f64| tail(keys, COPIES, (2.0 * k / (m * f)).min(1.0));
    if mean > CONCENTRATED {
        return single + pairs * of_pair(mean);
    }
    let (mut weight, mut sum) = (exp(-mean), 0.0);
    let mut k = 0.0;
    loop {
        k += 1.0;
        weight *= mean / k;
        let term = weight * of_pair(k);
        sum += term;
        if k > mean && term <= sum * NEGLIGIBLE {
            break;
        }
    }
    single + pairs * sum
}

/// Chance that more than `most` of `keys` trials of a chance of `share` succeed.
fn tail(keys: u64, most: u64, share: f64) -> f64 {
    if keys <= most {
        return 0.0;
    }
    let n = keys as f64;
    // Near or above the mean there is nothing left to tell apart, and the first term would vanish.
    if n * share >= most as f64 {
        return 1.0;
    }
    let odds = share / (1.0 - share);
    let (mut term, mut sum) = (exp(n * log1p(-share)), 0.0);
    for i in 0..keys {
        term *= (n - i as f64) / (i + 1) as f64 * odds;
        if i >= most {
            sum += term;
            if term <= sum * NEGLIGIBLE {
                break;
            }
        }
    }
    sum
}

/// The fewest buckets, an even number, that take `keys` keys; none above `most`.
pub(crate) fn buckets_for(keys: u64, fingerprints: u64, most: u64) -> Option<u64> {
    let enough = |pairs: u64| capacity(2 * pairs, fingerprints) >= keys;
    // One less than the highest load asks for, which may be enough exactly.
    let mut low = ((keys as f64 / (2.0 * MAX_LOAD * f64::from(SLOTS))) as u64).saturating_sub(1);
    let mut high = low + 1;
    let mut step = 1;
    while !enough(high) {
        if high > most / 2 {
            return None;
        }
        (low, high) = (high, high.checked_add(step)?);
        step *= 2;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle) { high = middle } else { low = middle }
    }
    Some(2 * high).filter(|&buckets| buckets <= most)
}

/// The largest number up to `most` that is good; smaller ones than a good one are good, and 0 is.
fn last(most: u64, good: impl Fn(u64) -> bool) -> u64 {
    if good(most) {
        return most;
    }
    let (mut low, mut high) = (0, most);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if good(middle) { low = middle } else { high = middle }
    }
    low
}

/// Rate of false positives of a large table at the highest load, and of a shared hash.
pub(crate) fn full_rate(fingerprints: f64, keys: f64) -> f64 {
    // Kinds of keys are slots fingerprints / 8.
    -expm1(-8.0 * MAX_LOAD / fingerprints) + hash_collision_rate(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tail by all of its terms.
    fn exact_tail(keys: u64, most: u64, share: f64) -> f64 {
        let term = |i: u64| {
            let choose = (0..i).fold(1.0, |product, j| product * (keys - j) as f64 / (j + 1) as f64);
            choose * libm::pow(share, i as f64) * libm::pow(1.0 - share, (keys - i) as f64)
        };
        (most + 1..=keys).map(term).sum()
    }

    #[test]
    fn a_tail_is_the_sum_of_its_terms() {
        for (keys, most, share) in [(9, 8, 0.3), (30, 8, 0.1), (100, 8, 0.02), (40, 4, 0.01), (8, 8, 0.5)] {
            let exact = exact_tail(keys, most, share);
            let error = (tail(keys, most, share) - exact).abs();
            assert!(error <= 1e-6 * exact, "{keys} {most} {share}");
        }
        assert!(tail(1 << 60, 8, 1e-3) >= 1.0 && tail(u64::MAX, 8, 1e-25) < 1e-9);
    }

    #[test]
    fn the_rate_without_keys_is_0_and_the_rate_of_one_kind_is_certain() {
        assert!(rate(1.0, true, 15.0, 0.0) <= 0.0 && rate(1.0, true, 15.0, 1e9) >= 1.0);
        // One key of one bucket: one fingerprint of 15.
        assert!((rate(1.0, true, 15.0, 1.0) * 15.0 - 1.0).abs() < 1e-9);
        // One key of two buckets: the same.
        assert!((rate(2.0, false, 15.0, 1.0) * 15.0 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_fewest_buckets_are_enough_and_fewer_are_not() {
        for fingerprints in [15, 63, 255, 4095] {
            for keys in (0..400).chain([1000, 5000, 100_000]) {
                let buckets = buckets_for(keys, fingerprints, 1 << 40).expect("so few fit");
                assert!(capacity(buckets, fingerprints) >= keys);
                assert!(buckets == 2 || capacity(buckets - 2, fingerprints) < keys);
            }
            assert_eq!(buckets_for(1000, fingerprints, 20), None);
        }
    }
}
