//! What the sketch promises on average: bias, spread and coverage, by laws with fixed seeds.

use pds_testkit::{SplitMix64, laws, seed_for};
use pds_theta::prelude::*;
use pds_theta::{difference, intersection, jaccard, union};

type Loose = ThetaSketch<Prehashed>;

fn empty(lg_k: u8) -> Loose {
    let hasher = Prehashed(std::num::NonZeroU64::MIN);
    ThetaSketch::with_hasher(ThetaParams::with_lg_k(lg_k).expect("5 to 26"), hasher)
}

/// Of a normal error within 1, 2 and 3 standard deviations.
const NOMINAL: [f64; 3] = [0.6827, 0.9545, 0.9973];

#[test]
fn estimates_are_unbiased_as_precise_as_predicted_and_within_their_bounds() {
    for (lg_k, trials) in [(5, 4000), (8, 2000), (10, 1000)] {
        let params = ThetaParams::with_lg_k(lg_k).unwrap();
        let k = params.k() as u64;
        let counts = [k / 2, k, k + 1, k + 3, 5 * k / 4, 3 * k / 2, 2 * k, 3 * k, 10 * k, 40 * k];
        let all: Vec<Vec<Loose>> = (0..trials)
            .map(|trial| {
                let mut random = SplitMix64::new(seed_for("theta", lg_k.into(), trial));
                let (mut sketch, mut done) = (empty(lg_k), 0);
                let snapshot = |count: &u64| {
                    (done..*count).for_each(|_| _ = sketch.insert_hash(random.next_u64()));
                    done = *count;
                    sketch.clone()
                };
                counts.iter().map(snapshot).collect()
            })
            .collect();
        for (i, &n) in counts.iter().enumerate() {
            let case = format!("lg_k = {lg_k}, n = {n}");
            let truth = n as f64;
            let errors: Vec<f64> = all.iter().map(|sketches| sketches[i].estimate() / truth - 1.0).collect();
            let sigma = params.predicted_error(n);
            laws::bias_is_zero(laws::mean(&errors), sigma, trials, 0.0).assert(&format!("{case}: bias"));
            // The law of the spread is that of normal errors; these are skewed by 2 / sqrt(k) and more.
            if n >= 2 * k || n <= k {
                laws::rmse_is_within(&errors, sigma, 0.02).assert(&format!("{case}: spread"));
            }
            for (kappa, nominal) in NOMINAL.into_iter().enumerate() {
                let bounds = all.iter().map(|sketches| sketches[i].bounds(kappa as f64 + 1.0));
                let hits = bounds.filter(|&(low, high)| low <= truth && truth <= high).count() as u64;
                laws::rate_at_least(hits, trials, nominal).assert(&format!("{case}: coverage {}", kappa + 1));
            }
        }
    }
}

#[test]
fn bounds_of_set_operations_cover_the_truth() {
    const TRIALS: u64 = 2000;
    for (case, (only_a, both, only_b)) in
        [(500, 500, 500), (5000, 20, 5000), (3000, 0, 3000), (50, 10, 20_000), (0, 4000, 4000)]
            .into_iter()
            .enumerate()
    {
        let mut hits = [[0u64; 3]; 4];
        for trial in 0..TRIALS {
            let mut random = SplitMix64::new(seed_for("theta-sets", case as u64, trial));
            let (mut a, mut b) = (empty(6), empty(7));
            for i in 0..only_a + both + only_b {
                let hash = random.next_u64();
                if i < only_a + both {
                    a.insert_hash(hash);
                }
                if i >= only_a {
                    b.insert_hash(hash);
                }
            }
            let counts = [
                (union(&[&a, &b]).unwrap(), only_a + both + only_b),
                (intersection(&[&a, &b]).unwrap(), both),
                (difference(&b, &[&a]).unwrap(), only_b),
            ];
            let alike = jaccard(&a, &b).unwrap();
            let share = f64::from(both) / f64::from(only_a + both + only_b);
            for kappa in 0..3 {
                let covers = |(low, high): (f64, f64), truth: f64| u64::from(low <= truth && truth <= high);
                let width = kappa as f64 + 1.0;
                for (hits, (result, truth)) in hits.iter_mut().zip(&counts) {
                    hits[kappa] += covers(result.bounds(width), f64::from(*truth));
                }
                hits[3][kappa] += covers(alike.bounds(width), share);
            }
        }
        for (operation, hits) in ["union", "intersection", "difference", "jaccard"].into_iter().zip(hits) {
            for (kappa, nominal) in NOMINAL.into_iter().enumerate() {
                laws::rate_at_least(hits[kappa], TRIALS, nominal)
                    .assert(&format!("{operation}, case {case}, {}", kappa + 1));
            }
        }
    }
}

#[test]
fn the_predicted_error_goes_from_none_to_the_asymptote() {
    /// Relative; n is some thousand k.
    const TOLERANCE: f64 = 0.001;
    for lg_k in ThetaParams::MIN_LG_K..=ThetaParams::MAX_LG_K {
        let params = ThetaParams::with_lg_k(lg_k).unwrap();
        let k = params.k() as u64;
        assert_eq!([0, 1, k].map(|keys| params.predicted_error(keys).to_bits()), [0; 3]);
        let ratio = params.predicted_error(4000 * k) / params.std_error();
        assert!((ratio - 1.0).abs() < TOLERANCE, "lg_k = {lg_k}: {ratio}");
    }
}
