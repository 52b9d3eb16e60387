//! From many centroids to few: neighbours are joined as long as the scale function lets them.
//!
//! The scale is K2 of `[DunningErtl19]`: a centroid that begins behind `w` of `n` values and ends behind `e` has a weight of
//! at most `c w (n - w)` and at most `c e (n - e)`, so that weights fall linearly towards either end. Its first and last
//! centroid are single by that rule. The rule is used as it stands, as the furthest end for a given beginning: there is no
//! logarithm or arcsine per value.
//!
//! Passing from left to right is idempotent, which answers and bytes rely on: what was closed once since it was full
//! is full again.

use alloc::vec::Vec;

use super::Centroid;
use crate::Finite;

/// `c n compression` is `4 ln(n / compression)` and this: in `[DunningErtl19]` 24, which gives fewer centroids than `compression` allows. The
/// number of centroids is held by other means here, and this one spends most of what is allowed.
const NORMALIZER: f64 = 14.0;

/// How much heavier centroids may be after a pass that has left too many.
const RELAX: f64 = 1.25;

/// The greatest count up to which every number of values is a float. Up to it ends are those of the first formula, which bytes
/// depend on.
const WHOLE: u64 = 1 << f64::MANTISSA_DIGITS;

/// The centroids of sorted `units`, `pending` and `sorted`, in order; equal values in one. `pending` is left in disorder.
pub(crate) fn collect(sorted: &[Centroid], pending: &mut Vec<Centroid>, units: &[Finite]) -> Vec<Centroid> {
    let mut all = Vec::with_capacity(sorted.len() + pending.len() + units.len());
    if pending.is_empty() {
        merge(sorted, units, &mut all);
    } else {
        pending.extend_from_slice(sorted);
        // Stable, and fast on the sorted runs that merged digests are.
        pending.sort_by(|a, b| a.mean().total_cmp(&b.mean()));
        merge(pending, units, &mut all);
    }
    all
}

fn merge(centroids: &[Centroid], mut units: &[Finite], all: &mut Vec<Centroid>) {
    let push = |centroid: Centroid, all: &mut Vec<Centroid>| {
        if !all.last_mut().is_some_and(|last| last.coalesce(&centroid)) {
            all.push(centroid);
        }
    };
    for &centroid in centroids {
        while let Some((unit, rest)) = units.split_first().filter(|(unit, _)| unit.get() <= centroid.mean()) {
            push(Centroid::atom(unit.get(), 1), all);
            units = rest;
        }
        push(centroid, all);
    }
    for unit in units {
        push(Centroid::atom(unit.get(), 1), all);
    }
}

/// Joins neighbours until there are at most `compression` centroids, of `count` values in all.
///
/// Nothing is joined where as few values are distinct.
pub(crate) fn compress(centroids: &mut Vec<Centroid>, count: u64, compression: usize) {
    if centroids.len() <= compression && centroids.iter().all(Centroid::is_atom) {
        return;
    }
    let (n, limit) = (count as f64, compression as f64);
    let ratio = n / limit;
    // Below compression values the logarithm would be negative.
    let mut slope = (4.0 * libm::log(if ratio > 1.0 { ratio } else { 1.0 }) + NORMALIZER) / limit;
    loop {
        pass(centroids, count, slope);
        // Three are always enough: at a great slope all between the first and the last are one.
        if centroids.len() <= compression {
            return;
        }
        slope *= RELAX;
    }
}

/// One pass: greedy, from left to right, in place. `slope` is `c n`.
fn pass(centroids: &mut Vec<Centroid>, count: u64, slope: f64) {
    let Some(last) = centroids.last().map(Centroid::weight) else { return };
    let (mut kept, mut next, mut begin) = (0, 0, 0);
    while let Some(&first) = centroids.get(next) {
        let end = furthest_end(begin, count, slope).min(count - last);
        let (group, behind) = (next, begin);
        // In range: no partial sum of the weights exceeds the count.
        begin += first.weight();
        next += 1;
        while let Some(more) = centroids.get(next).filter(|more| more.weight() <= end.saturating_sub(begin)) {
            begin += more.weight();
            next += 1;
        }
        centroids[kept] = join(&centroids[group..next], begin - behind);
        kept += 1;
    }
    centroids.truncate(kept);
}

/// The greatest number of values that a centroid behind `begin` values may end behind.
fn furthest_end(begin: u64, count: u64, slope: f64) -> u64 {
    if count <= WHOLE { end_of_whole(begin, count, slope) } else { end_of_any(begin, count, slope) }
}

/// For counts that are floats, and all up to them.
fn end_of_whole(begin: u64, count: u64, slope: f64) -> u64 {
    let (w, n) = (begin as f64, count as f64);
    let end = w + slope * w * (1.0 - w / n);
    let end = if end <= n - w {
        // The end is nearer to the middle than the beginning is, and less strict.
        end
    } else {
        // The root of `e - w = slope e (1 - e / n)`.
        let b = 1.0 - slope;
        (libm::sqrt(b * b + 4.0 * slope * (w / n)) - b) * n / (2.0 * slope)
    };
    end as u64
}

/// For any count: the same ends, each as far from its side as integers say. Where `w / n` is next to 1, the other form has lost
/// how many values are behind `w`: beside a weight of 2^60 thousands of them.
fn end_of_any(begin: u64, count: u64, slope: f64) -> u64 {
    let behind = count - begin;
    let (w, u, n) = (begin as f64, behind as f64, count as f64);
    let end = begin.saturating_add((slope * w * (u / n)) as u64);
    if end <= behind {
        return end;
    }
    // What is left behind the end, r: the lesser root of `u - r = slope r (1 - r / n)`, without a difference of like numbers.
    let b = 1.0 + slope;
    // Not below (1 - slope)^2, but for rounding.
    let root = libm::sqrt((b * b - 4.0 * slope * (u / n)).max(0.0));
    let left = 2.0 * u / (b + root);
    count.saturating_sub(libm::ceil(left) as u64).max(begin)
}

/// One centroid of neighbours in order, of this weight together.
#[inline]
fn join(group: &[Centroid], weight: u64) -> Centroid {
    let [first, .., last] = group else { return group[0] };
    let base = first.mean();
    // One division a centroid. Relative to the first mean, so that what they have in common costs no digits.
    let excess: f64 = group[1..].iter().map(|more| (more.mean() - base) * more.weight() as f64).sum();
    let mean = if excess.is_finite() { base + excess / weight as f64 } else { mean_of_huge(group, weight) };
    // Rounding must not disturb the order.
    let mean = mean.clamp(base, last.mean());
    if last.has_mean(base) && group.iter().all(Centroid::is_atom) {
        Centroid::atom(base, weight)
    } else {
        // Never -0.0: the sum of a number and its negative is 0.0.
        Centroid::cluster(mean + 0.0, weight)
    }
}

/// The mean where distances or products exceed the range of `f64`.
#[cold]
fn mean_of_huge(group: &[Centroid], weight: u64) -> f64 {
    group.iter().map(|part| part.mean() * (part.weight() as f64 / weight as f64)).sum()
}

#[cfg(test)]
mod tests {
    use pds_testkit::SplitMix64;

    use super::*;

    fn random(n: usize, most_bits: u64, seed: u64) -> Vec<Centroid> {
        let mut random = SplitMix64::new(seed);
        let mut centroids: Vec<_> = (0..n)
            .map(|_| {
                let bits = random.below(most_bits);
                let weight = 1 + random.below(1 << bits);
                let value = random.next_normal();
                if random.below(2) == 0 || weight == 1 {
                    Centroid::atom(value, weight)
                } else {
                    Centroid::cluster(value, weight)
                }
            })
            .collect();
        centroids.push(Centroid::atom(-100.0, 1 + random.below(9)));
        centroids.push(Centroid::atom(100.0, 1 + random.below(9)));
        centroids.sort_by(|a, b| a.mean().total_cmp(&b.mean()));
        centroids
    }

    fn total(centroids: &[Centroid]) -> u64 {
        centroids.iter().map(Centroid::weight).sum()
    }

    #[test]
    fn compressing_keeps_the_count_the_order_and_the_ends_and_is_idempotent() {
        // A thousand weights of 53 bits are a count beyond 2^53, and below 2^64.
        for (seed, bits) in (0..200).flat_map(|seed| [(seed, 20), (seed, 53)]) {
            for compression in [20, 50, 200] {
                let before = random(1 + seed as usize * 5, bits, seed);
                let mut after = before.clone();
                compress(&mut after, total(&before), compression);
                assert!(after.len() <= compression);
                assert_eq!(total(&after), total(&before));
                assert!(after.is_sorted_by(|a, b| a.mean() <= b.mean()));
                assert_eq!((after.first(), after.last()), (before.first(), before.last()));
                let mut again = after.clone();
                compress(&mut again, total(&before), compression);
                assert_eq!(again, after);
            }
        }
    }

    #[test]
    fn an_end_obeys_the_scale_at_both_sides() {
        for count in [10u64, 1000, 1 << 40, u64::MAX] {
            for slope in [0.05, 0.2, 0.9, 1.0, 1.5, 40.0] {
                for part in 0..=100u64 {
                    let begin = (u128::from(count) * u128::from(part) / 100) as u64;
                    let end = furthest_end(begin, count, slope).min(count);
                    let (w, e, n) = (begin as f64, end as f64, count as f64);
                    let weight = slope * (w * (1.0 - w / n)).min(e * (1.0 - e / n));
                    assert!(e - w <= weight + 1e-9 * n, "{begin}..{end} of {count}, slope {slope}");
                    if end < count && end > begin {
                        let (e, room) = (e + 1.0 + 1e-9 * n, w * (1.0 - w / n));
                        let weight = slope * room.min(e * (1.0 - e / n));
                        assert!(e - w > weight - 1e-9 * n, "{begin}..{end} of {count} can grow");
                    }
                }
            }
        }
    }

    /// So that the first digest beyond 2^53 is that of the last one before.
    #[test]
    fn both_formulas_have_the_same_ends() {
        let mut random = SplitMix64::new(7);
        for _ in 0..200_000 {
            let bits = random.below(44);
            let count = 2 + random.below(2 << bits);
            let begin = random.below(count + 1);
            let slope = libm::exp2(10.0 * random.next_f64() - 6.0);
            let [whole, any] =
                [end_of_whole, end_of_any].map(|end| end(begin, count, slope).clamp(begin, count));
            assert!(whole.abs_diff(any) <= 1, "{begin} of {count}, slope {slope}: {whole}, {any}");
        }
    }

    #[test]
    fn an_end_next_to_either_side_is_as_many_units_away_at_any_count() {
        // Of four digits: no product with fewer than ten thousand units is whole.
        for slope in [0.0571, 0.3137, 1.0171, 2.0453, 9.1317] {
            for units in (0..5000u64).step_by(7) {
                // At a great count the factor `1 - w / n` is 1.
                let end = |count: u64| furthest_end(units, count, slope);
                assert_eq!(end(1 << 62), end(u64::MAX));
                assert_eq!(end(u64::MAX), units + (slope * units as f64) as u64);
                let left = |count: u64| count - furthest_end(count - units, count, slope);
                assert_eq!(left(1 << 62), left(u64::MAX));
                let least = libm::ceil(units as f64 / (1.0 + slope)) as u64;
                assert!(left(u64::MAX).abs_diff(least) <= 1, "{units} at {slope}: {}", left(u64::MAX));
            }
        }
    }

    #[test]
    fn means_of_huge_numbers_do_not_overflow() {
        let huge = 1.7e308;
        let joined = join(&[Centroid::atom(-huge, 1), Centroid::atom(huge, 1)], 2);
        assert_eq!(joined, Centroid::cluster(0.0, 2));
        let heavy =
            join(&[Centroid::atom(1e300, u64::MAX / 2), Centroid::atom(huge, u64::MAX / 2)], u64::MAX - 1);
        assert!((heavy.mean() / (huge / 2.0) - 1.0).abs() < 1e-6);
        assert_eq!(join(&[Centroid::atom(huge, 1); 5], 5), Centroid::atom(huge, 5));
    }
}
