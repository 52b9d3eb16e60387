//! What the sketch promises on average: bias, spread and coverage, by laws with fixed seeds.

use pds_testkit::{SplitMix64, laws, seed_for};
use pds_theta::prelude::*;
use pds_theta::{difference, intersection, jaccard, union};

type Loose = ThetaSketch<Prehashed>;

fn empty(lg_k: u8) -> Loose {
    let hasher = Prehashed(std::num::NonZeroU64::MIN);
    ThetaSketch::with_hasher(ThetaParams::with_lg_k(lg_k).expect("5 to 26"), hasher)
}

/// Standard deviations, and the share of a normal error within them.
const NOMINAL: [(f64, f64); 4] = [(0.5, 0.3829), (1.0, 0.6827), (2.0, 0.9545), (3.0, 0.9973)];

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
            for (kappa, nominal) in NOMINAL {
                let bounds = all.iter().map(|sketches| sketches[i].bounds(kappa));
                let hits = bounds.filter(|&(low, high)| low <= truth && truth <= high).count() as u64;
                laws::rate_at_least(hits, trials, nominal).assert(&format!("{case}: coverage {kappa}"));
            }
        }
    }
}

#[test]
fn bounds_of_set_operations_cover_the_truth() {
    const TRIALS: u64 = 2000;
    for (case, (only_a, both, only_b)) in
        // Of some, one is a part of the other, or the same.
        [
            (500, 500, 500),
            (5000, 20, 5000),
            (3000, 0, 3000),
            (50, 10, 20_000),
            (0, 4000, 4000),
            (0, 500, 20_000),
            (9000, 1000, 0),
            (0, 3000, 0),
            (0, 50, 5000),
        ]
        .into_iter()
        .enumerate()
    {
        let mut hits = [[0u64; NOMINAL.len()]; 5];
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
            let common = intersection(&[&a, &b]).unwrap();
            let counts = [
                (union(&[&a, &b]).unwrap(), only_a + both + only_b),
                (difference(&b, &[&a]).unwrap(), only_b),
                (difference(&a, &[&difference(&a, &[&common]).unwrap()]).unwrap(), both),
                (common, both),
            ];
            let alike = jaccard(&a, &b).unwrap();
            let share = f64::from(both) / f64::from(only_a + both + only_b);
            for (i, (kappa, _)) in NOMINAL.into_iter().enumerate() {
                let covers = |(low, high): (f64, f64), truth: f64| u64::from(low <= truth && truth <= high);
                for (hits, (result, truth)) in hits.iter_mut().zip(&counts) {
                    hits[i] += covers(result.bounds(kappa), f64::from(*truth));
                }
                hits[4][i] += covers(alike.bounds(kappa), share);
            }
        }
        let operations = ["union", "difference", "difference of a difference", "intersection", "jaccard"];
        for (operation, hits) in operations.into_iter().zip(hits) {
            for (hits, (kappa, nominal)) in hits.into_iter().zip(NOMINAL) {
                laws::rate_at_least(hits, TRIALS, nominal)
                    .assert(&format!("{operation}, case {case}, {kappa}"));
            }
        }
    }
}

/// The upper bound was the least of those of the sources, and left out the truth as often as all of them together.
#[test]
fn bounds_of_what_is_in_many_supersets_cover_the_truth_and_limited_estimates_are_low() {
    const TRIALS: u64 = 2000;
    const KEYS: u64 = 3000;
    let (mut hits, mut errors) = ([0u64; NOMINAL.len()], Vec::new());
    for trial in 0..TRIALS {
        let mut random = SplitMix64::new(seed_for("theta-supersets", 0, trial));
        let common: Vec<u64> = (0..KEYS).map(|_| random.next_u64()).collect();
        let supersets: Vec<Loose> = (5..=10)
            .map(|lg_k| {
                let mut sketch = empty(lg_k);
                sketch.insert_batch(&common);
                (0..100).for_each(|_| _ = sketch.insert_hash(random.next_u64()));
                sketch
            })
            .collect();
        let sources: Vec<&dyn ThetaSource<Prehashed>> = supersets.iter().map(|sketch| sketch as _).collect();
        let result = intersection(&sources).unwrap();
        errors.push(result.estimate() / KEYS as f64 - 1.0);
        for (hits, (kappa, _)) in hits.iter_mut().zip(NOMINAL) {
            let (low, high) = result.bounds(kappa);
            *hits += u64::from(low <= KEYS as f64 && KEYS as f64 <= high);
        }
    }
    for (hits, (kappa, nominal)) in hits.into_iter().zip(NOMINAL) {
        laws::rate_at_least(hits, TRIALS, nominal).assert(&format!("{kappa}"));
    }
    let (bias, sigma) = (laws::mean(&errors), laws::rmse(&errors));
    assert!(
        bias < 0.0 && !laws::bias_is_zero(bias, sigma, TRIALS, 0.0).pass,
        "limits cut from above: {bias}"
    );
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
