//! Laws of the t-digest at counts beyond 2^53, where a number of values is no float any more.

// Helpers are tests too; what is exact is compared exactly.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

use pds_quantiles::prelude::*;
use pds_quantiles::{Centroid, Quantiles, TDigestSnapshot};
use pds_testkit::SplitMix64;
use proptest::prelude::*;

fn empty(compression: u32) -> TDigest {
    TDigest::new(TDigestParams::with_compression(compression).unwrap())
}

/// Units 1 to `below`, one value of a great weight, and `above` units more, in an order that is none; the great weight comes
/// behind a share of them.
fn units_beside(weight: u64, below: u64, above: u64, share: f64, compression: u32) -> TDigest {
    let heavy = below + 1;
    let mut values: Vec<u64> = (1..=below).chain(heavy + 1..=heavy + above).collect();
    let mut random = SplitMix64::new(below ^ above << 20);
    for i in (1..values.len()).rev() {
        values.swap(i, random.below(i as u64 + 1) as usize);
    }
    let mut digest = empty(compression);
    for (i, &value) in values.iter().enumerate() {
        if i == (values.len() as f64 * share) as usize {
            digest.insert_n(heavy as f64, weight).unwrap();
        }
        digest.insert(value as f64);
    }
    digest
}

fn centroid_of(snapshot: &TDigestSnapshot, value: f64) -> Option<&Centroid> {
    snapshot.centroids().iter().find(|centroid| centroid.mean() == value)
}

/// The units beside an atom, in number and centroids; on the lower or on the upper side.
fn side(snapshot: &TDigestSnapshot, heavy: f64, low: bool) -> (usize, u64) {
    let there = |c: &&Centroid| if low { c.mean() < heavy } else { c.mean() > heavy };
    let weights = snapshot.centroids().iter().filter(there).map(Centroid::weight);
    weights.fold((0, 0), |(n, sum), weight| (n + 1, sum + weight))
}

/// One of 2^60 among thousands of units was swallowed, or they were.
#[test]
fn an_atom_heavier_than_any_centroid_joins_no_neighbour() {
    for (compression, share) in
        [20, 21, 50, 100, 200, 1000].iter().flat_map(|&c| [(c, 0.0), (c, 0.3), (c, 0.8)])
    {
        for (below, above) in [(3000, 3000), (1, 5000), (5000, 1), (2000, 9000), (9000, 2000), (150, 20_000)]
        {
            let total = below + above;
            for weight in [1 << 40, 1 << 52, 1 << 53, 1 << 60, 1 << 63, u64::MAX - total] {
                let digest = units_beside(weight, below, above, share, compression);
                let (snapshot, heavy) = (digest.snapshot(), (below + 1) as f64);
                let name = format!("{below} units, {weight}, {above} units at {compression}, {share}");
                assert_eq!(digest.count(), weight + total, "{name}");
                assert!(snapshot.centroids().len() <= compression as usize, "{name}");
                let atom = centroid_of(&snapshot, heavy).unwrap_or_else(|| panic!("no atom: {name}"));
                assert_eq!((atom.is_atom(), atom.weight()), (true, weight), "{name}");
                // Neither side is one lump: from either end centroids grow by a factor.
                let (low, high) = (side(&snapshot, heavy, true), side(&snapshot, heavy, false));
                for (parts, units) in [low, high] {
                    assert!(parts > units.ilog(10) as usize, "{parts} centroids of {units}: {name}");
                }
                // What came behind the atom stays on its side.
                if share == 0.0 {
                    assert_eq!((low.1, high.1), (below, above), "{name}");
                }
                let ends = snapshot.centroids().first().zip(snapshot.centroids().last()).unwrap();
                let single = |end: &Centroid| end.weight() == 1 && end.is_atom();
                assert!(single(ends.0) && single(ends.1), "{name}");
                assert_eq!(TDigest::from_bytes(&digest.to_bytes()).unwrap(), digest, "{name}");
            }
        }
    }
}

/// A centroid of the units next to an end is as heavy as what lies between it and that end, times a slope below 10: so far off
/// may a rank be. It was off by all of the units above, or by the heavy value.
#[test]
fn ranks_next_to_either_end_are_resolved_beside_any_weight() {
    const GROWTH: u64 = 10;
    let units = 4000;
    for compression in [20, 100] {
        for weight in [1 << 53, 1 << 60, u64::MAX - 2 * units] {
            let digest = units_beside(weight, units, units, 0.0, compression);
            let (snapshot, last) = (digest.snapshot(), 2 * units + 1);
            for rank in [1, 2, 5, 10, 50, 200, 1000, 3000] {
                let (low, high) = (rank as f64, (last + 1 - rank) as f64);
                let up_to = |there: &dyn Fn(f64) -> bool| -> u64 {
                    let centroids = snapshot.centroids().iter();
                    centroids.filter(|centroid| there(centroid.mean())).map(Centroid::weight).sum()
                };
                for (name, found) in
                    [("up to", up_to(&|mean| mean <= low)), ("from", up_to(&|mean| mean >= high))]
                {
                    assert!(
                        found <= GROWTH * rank && GROWTH * found >= rank,
                        "{found} units {name} that of rank {rank}, beside {weight} at {compression}"
                    );
                }
                let share = snapshot.cdf(low).unwrap() * digest.count() as f64;
                assert!(
                    (share - low).abs() <= low,
                    "{share} units up to {low}, beside {weight} at {compression}"
                );
            }
        }
    }
}

/// Values of weights up to 2^62 that together are no more than `u64::MAX`, more than fit in as many centroids.
fn heavy_digest(seed: u64, values: u64, compression: u32) -> TDigest {
    let mut random = SplitMix64::new(seed);
    let mut digest = empty(compression);
    let most = 1 + random.below(62) as u32;
    for _ in 0..values {
        let value = random.next_normal();
        let bits = random.below(u64::from(most) + 1);
        let weight = 1 + random.below(1 << bits);
        if digest.insert_n(value, weight).is_err() {
            digest.insert_n(value, 1 + random.below(1 << 20)).ok();
        }
    }
    digest
}

/// A grid, the ranks of all knots of the polyline, and the neighbours of each.
fn dense_shares(snapshot: &TDigestSnapshot) -> Vec<f64> {
    let mut shares: Vec<f64> = (0..=1000).map(|i| f64::from(i) / 1000.0).collect();
    let (n, mut before) = (snapshot.count() as f64, 0u64);
    for centroid in snapshot.centroids() {
        for knot in [before, before + centroid.weight() / 2, before + centroid.weight()] {
            let share = knot as f64 / n;
            let (mut down, mut up) = (share, share);
            shares.push(share);
            for _ in 0..6 {
                (down, up) = (down.next_down(), up.next_up());
                shares.extend([down, up]);
            }
        }
        before += centroid.weight();
    }
    shares.retain(|share| (0.0..=1.0).contains(share));
    shares.sort_by(f64::total_cmp);
    shares
}

fn answers_ascend(snapshot: &TDigestSnapshot) {
    let shares = dense_shares(snapshot);
    for rule in [QuantileRule::Step, QuantileRule::Linear] {
        let quantiles: Vec<f64> = shares.iter().map(|&q| snapshot.quantile_by(q, rule).unwrap()).collect();
        let fall = quantiles.windows(2).position(|pair| pair[0] > pair[1]);
        assert_eq!(fall.map(|i| (shares[i], quantiles[i], quantiles[i + 1])), None, "{rule:?}");
        assert_eq!((quantiles.first().copied(), quantiles.last().copied()), (snapshot.min(), snapshot.max()));
        let mut values: Vec<f64> =
            quantiles.iter().flat_map(|&value| [value.next_down(), value, value.next_up()]).collect();
        values.sort_by(f64::total_cmp);
        for rule in [RankRule::Exclusive, RankRule::Middle, RankRule::Inclusive] {
            let ranks: Vec<f64> =
                values.iter().map(|&value| snapshot.rank_by(value, rule).unwrap()).collect();
            assert!(ranks.is_sorted() && ranks.iter().all(|rank| (0.0..=1.0).contains(rank)), "{rule:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn quantiles_and_ranks_ascend_at_any_count(seed: u64, values in 1..600u64, compression in 20..120u32) {
        answers_ascend(&heavy_digest(seed, values, compression).snapshot());
    }

    #[test]
    fn a_mean_of_all_is_the_sum_over_the_count(seed: u64, values in 1..600u64) {
        let snapshot = heavy_digest(seed, values, 50).snapshot();
        let mean = snapshot.trimmed_mean(0.0, 1.0).unwrap();
        let scale: f64 = snapshot.centroids().iter().map(|c| c.mean().abs() * c.weight() as f64).sum();
        let error = mean * snapshot.count() as f64 - snapshot.sum().unwrap();
        prop_assert!(error.abs() <= 1e-13 * scale, "{} of {}", error, scale);
    }
}

/// Of 2^60 zeros, a part of the units that is cut off is no more than a bit of the rank of what is cut.
#[test]
fn a_trimmed_mean_counts_units_beside_any_weight() {
    let (mut digest, units) = (empty(200), 1 << 10);
    digest.insert_n(0.0, (1 << 60) - units).unwrap();
    digest.insert_n(1.0, units).unwrap();
    let snapshot = digest.snapshot();
    // A half of the units: 2^9 of 2^60 is a double's share of 1, with its last bits.
    let low = 1.0 - 2f64.powi(-51);
    assert_eq!(snapshot.trimmed_mean(low, 1.0), Some(1.0));
    let low = 1.0 - 2f64.powi(-49);
    assert_eq!(snapshot.trimmed_mean(low, 1.0), Some(0.5));
    assert_eq!(snapshot.trimmed_mean(0.0, 1.0), Some(2f64.powi(-50)));
    // An interval of ranks that no unit is resolved in is still a part of some value.
    assert_eq!(snapshot.trimmed_mean(0.0, 1e-300), Some(0.0));
    assert_eq!(snapshot.trimmed_mean(1.0f64.next_down(), 1.0), Some(1.0));
    assert_eq!(snapshot.trimmed_mean(0.25, 0.25f64.next_up()), Some(0.0));
}

/// The values next to 2^60 are told apart: begins and ends of centroids were floats, multiples of 128.
#[test]
fn a_trimmed_mean_cuts_between_units() {
    let (mut digest, units) = (empty(2000), 1023);
    digest.insert_n(0.0, (1 << 60) - units).unwrap();
    digest.extend((1..=units).map(|unit| unit as f64));
    let snapshot = digest.snapshot();
    assert!(snapshot.is_exact());
    // The greatest 512 of them, 512 to 1023.
    assert_eq!(snapshot.trimmed_mean(1.0 - 2f64.powi(-51), 1.0), Some(f64::from(512 + 1023) / 2.0));
    // The 512 before them: 511 units and a zero.
    let mean = snapshot.trimmed_mean(1.0 - 2f64.powi(-50), 1.0 - 2f64.powi(-51));
    assert_eq!(mean, Some(f64::from(511) / 2.0));
}
