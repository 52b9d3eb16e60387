//! What bounds of computed numbers promise.

use pds_merge::propagate::{
    all_dependent, all_independent, any_dependent, any_independent, difference, difference_independent,
    inclusion_exclusion, ratio, ratio_independent, sum, sum_independent,
};
use pds_merge::{Bounded, Error};
use pds_testkit::{SplitMix64, laws, seed_for};
use proptest::collection::vec;
use proptest::prelude::*;

fn bounded(estimate: f64, low: f64, high: f64) -> Bounded {
    Bounded::new(estimate, low, high).expect("in order")
}

/// An interval within these numbers, an estimate and a truth in it.
fn with_truth(least: f64, greatest: f64) -> impl Strategy<Value = (Bounded, f64)> {
    let number = least..=greatest;
    (number.clone(), number, 0.0..=1.0f64, 0.0..=1.0f64).prop_map(|(x, y, at, truth)| {
        let (low, high) = (x.min(y), x.max(y));
        let within = |share: f64| (low + share * (high - low)).clamp(low, high);
        (bounded(within(at), low, high), within(truth))
    })
}

/// Rounding of a few operations.
fn holds(bounds: Bounded, truth: f64) -> bool {
    const OPERATIONS: f64 = 8.0;
    let scale = bounds.low().abs().max(bounds.high().abs()).max(truth.abs());
    let slack = OPERATIONS * f64::EPSILON * scale;
    bounds.low() - slack <= truth && truth <= bounds.high() + slack
}

proptest! {
    #[test]
    fn a_sum_holds_the_sum_of_any_truths(terms in vec(with_truth(-1e6, 1e6), 0..20)) {
        // Exactly: rounding keeps the order, if the truths are added in the order of the terms.
        let truth = terms.iter().fold(0.0, |sum, (_, truth)| sum + truth);
        let all = sum(terms.iter().map(|(term, _)| *term)).unwrap();
        prop_assert!(all.contains(truth));
        let independent = sum_independent(terms.iter().map(|(term, _)| *term)).unwrap();
        prop_assert_eq!(independent.estimate().to_bits(), all.estimate().to_bits());
        prop_assert!(all.contains(independent.low()) && all.contains(independent.high()), "never wider");
    }

    #[test]
    fn a_difference_and_a_ratio_hold_those_of_any_truths(
        (a, x) in with_truth(-1e6, 1e6),
        (b, y) in prop_oneof![with_truth(1e-3, 1e6), with_truth(-1e6, -1e-3)],
    ) {
        prop_assert!(difference(a, b).unwrap().contains(x - y));
        prop_assert!(ratio(a, b).unwrap().contains(x / y));
    }

    #[test]
    fn independent_bounds_are_never_wider((a, _) in with_truth(1e-3, 1e6), (b, _) in with_truth(1e-3, 1e6)) {
        let (wide, narrow) = (ratio(a, b).unwrap(), ratio_independent(a, b).unwrap());
        prop_assert!(wide.contains(narrow.low()) && wide.contains(narrow.high()));
        let (wide, narrow) = (difference(a, b).unwrap(), difference_independent(a, b).unwrap());
        prop_assert!(wide.contains(narrow.low()) && wide.contains(narrow.high()));
    }

    #[test]
    fn inclusion_and_exclusion_hold_the_intersection_of_any_sets(
        only_a in 0..1000u32, only_b in 0..1000u32, both in 0..1000u32, errors in vec(0.0..0.5f64, 6)
    ) {
        let of = |size: u32, below: f64, above: f64| {
            let size = f64::from(size);
            bounded(size, size * (1.0 - below), size * (1.0 + above))
        };
        let a = of(only_a + both, errors[0], errors[1]);
        let b = of(only_b + both, errors[2], errors[3]);
        let union = of(only_a + only_b + both, errors[4], errors[5]);
        let intersection = inclusion_exclusion(a, b, union).unwrap();
        prop_assert!(holds(intersection, f64::from(both)), "{:?}", intersection);
        prop_assert!(intersection.low() >= 0.0 && intersection.high() <= a.high().min(b.high()));
    }

    #[test]
    fn independent_rates_lie_within_those_of_any_dependence(rates in vec(0.0..=1.0f64, 0..8)) {
        let within = |(low, high): (f64, f64), rate: f64| holds(bounded(low, low, high), rate);
        prop_assert!(within(all_dependent(&rates).unwrap(), all_independent(&rates).unwrap()));
        prop_assert!(within(any_dependent(&rates).unwrap(), any_independent(&rates).unwrap()));
    }

    /// Events over eight equally likely outcomes, each event a set of them.
    #[test]
    fn rates_of_any_dependence_hold_those_of_any_events(events in vec(any::<u8>(), 1..6)) {
        let rate = |outcomes: u8| f64::from(outcomes.count_ones()) / f64::from(u8::BITS);
        let rates: Vec<f64> = events.iter().map(|&event| rate(event)).collect();
        // Eighths add up without rounding.
        let (low, high) = all_dependent(&rates).unwrap();
        let all = rate(events.iter().fold(u8::MAX, |all, event| all & event));
        prop_assert!(low <= all && all <= high);
        let (low, high) = any_dependent(&rates).unwrap();
        let any = rate(events.iter().fold(0, |any, event| any | event));
        prop_assert!(low <= any && any <= high);
    }
}

const KAPPA: f64 = 2.0;

/// The probability that a normal number lies within `KAPPA` standard deviations.
fn confidence() -> f64 {
    libm::erf(KAPPA / core::f64::consts::SQRT_2)
}

/// Coverage of a combination of five estimates with independent normal errors of different sizes, and bounds of `KAPPA`
/// standard deviations on either side: hits of `TRIALS`.
const TRIALS: u64 = 100_000;

fn coverage(id: &str, sigmas: [f64; 5], combine: fn([Bounded; 5]) -> Bounded, truth: f64) -> u64 {
    let truths = [1_000.0, 2_000.0, 500.0, 4_000.0, 1_500.0];
    (0..TRIALS)
        .filter(|&trial| {
            let mut random = SplitMix64::new(seed_for(id, 0, trial));
            let estimates = std::array::from_fn(|i| {
                let estimate = truths[i] + sigmas[i] * random.next_normal();
                bounded(estimate, estimate - KAPPA * sigmas[i], estimate + KAPPA * sigmas[i])
            });
            combine(estimates).contains(truth)
        })
        .count() as u64
}

#[test]
fn independent_sums_and_differences_have_the_confidence_of_their_terms() {
    let sigmas = [10.0, 30.0, 5.0, 40.0, 20.0];
    let hits = coverage("rss-sum", sigmas, |terms| sum_independent(terms).unwrap(), 9_000.0);
    laws::rate_is(hits, TRIALS, confidence()).assert("sum");
    let hits = coverage("rss-diff", sigmas, |[a, b, ..]| difference_independent(a, b).unwrap(), -1_000.0);
    laws::rate_is(hits, TRIALS, confidence()).assert("difference");
}

#[test]
fn independent_ratios_of_small_errors_have_the_confidence_of_their_terms() {
    // Relative errors of 1% and 1.5%, whose squares are far below what the law can tell.
    let sigmas = [10.0, 30.0, 5.0, 40.0, 20.0];
    let hits = coverage("rss-ratio", sigmas, |[a, b, ..]| ratio_independent(a, b).unwrap(), 0.5);
    laws::rate_is(hits, TRIALS, confidence()).assert("ratio");
}

#[test]
fn plain_sums_have_at_least_the_confidence_that_the_terms_leave() {
    let sigmas = [10.0, 30.0, 5.0, 40.0, 20.0];
    let hits = coverage("interval-sum", sigmas, |terms| sum(terms).unwrap(), 9_000.0);
    laws::rate_at_least(hits, TRIALS, 1.0 - 5.0 * (1.0 - confidence())).assert("sum");
}

#[test]
fn five_filters_at_one_per_cent() {
    let rates = [0.01; 5];
    let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
    assert!(close(any_independent(&rates).unwrap(), 1.0 - 0.99f64.powi(5)));
    assert!((any_independent(&rates).unwrap() - 0.0490).abs() < 0.00005);
    assert!(close(all_independent(&rates).unwrap(), 1e-10));
    let (low, high) = any_dependent(&rates).unwrap();
    assert!(close(low, 0.01) && close(high, 0.05));
    assert_eq!(all_dependent(&rates), Ok((0.0, 0.01)));
    // No digits are lost.
    assert!(close(any_independent(&[1e-18, 1e-18]).unwrap(), 2e-18));
}

#[test]
fn certain_and_no_filters() {
    assert_eq!((all_independent(&[]), any_independent(&[])), (Ok(1.0), Ok(0.0)));
    assert_eq!(any_independent(&[-0.0, 0.0]).map(f64::to_bits), Ok(0));
    assert_eq!((all_dependent(&[]), any_dependent(&[])), (Ok((1.0, 1.0)), Ok((0.0, 0.0))));
    assert_eq!((all_independent(&[0.0, 1.0]), any_independent(&[0.0, 1.0])), (Ok(0.0), Ok(1.0)));
    assert_eq!((all_dependent(&[1.0; 9]), any_dependent(&[1.0; 9])), (Ok((1.0, 1.0)), Ok((1.0, 1.0))));
    for bad in [-0.1, 1.1, f64::NAN] {
        for result in [all_independent(&[0.5, bad]), any_independent(&[bad])] {
            assert!(matches!(result, Err(Error::Parameter { name: "rate", .. })));
        }
        assert!(all_dependent(&[bad]).is_err() && any_dependent(&[bad, 0.1]).is_err());
    }
}

#[test]
fn nonsense_is_refused_by_type() {
    assert_eq!(Bounded::new(f64::NAN, 0.0, 1.0), Err(Error::NonFinite));
    assert_eq!(Bounded::new(1.0, 0.0, f64::INFINITY), Err(Error::NonFinite));
    assert!(matches!(Bounded::new(1.0, 2.0, 3.0), Err(Error::Parameter { name: "low", .. })));
    assert!(matches!(Bounded::new(4.0, 2.0, 3.0), Err(Error::Parameter { name: "high", .. })));
    let huge = Bounded::exact(f64::MAX).unwrap();
    assert_eq!(sum([huge, huge]), Err(Error::NonFinite));
    assert_eq!(sum_independent([huge, huge]), Err(Error::NonFinite));
    let one = Bounded::exact(1.0).unwrap();
    for around_zero in [bounded(1.0, 0.0, 2.0), bounded(0.0, -1.0, 1.0), bounded(-1.0, -2.0, 0.0)] {
        for result in [ratio(one, around_zero), ratio_independent(one, around_zero)] {
            assert!(matches!(result, Err(Error::Parameter { name: "denominator", .. })));
        }
    }
    let (minus, none) = (bounded(-1.0, -2.0, -0.5), Bounded::exact(0.0).unwrap());
    assert!(matches!(ratio_independent(one, minus), Err(Error::Parameter { name: "denominator", .. })));
    assert!(matches!(ratio_independent(none, one), Err(Error::Parameter { name: "numerator", .. })));
}

#[test]
fn half_widths_of_any_scale_add_up_by_their_squares() {
    // Their squares are beyond the least and the greatest number.
    for scale in [1e-300, 1.0, 1e300] {
        let terms = [bounded(0.0, -3.0 * scale, 3.0 * scale), bounded(0.0, -4.0 * scale, 4.0 * scale)];
        let all = sum_independent(terms).unwrap();
        let off = |width: f64| (width / (5.0 * scale) - 1.0).abs();
        assert!(off(all.high()) < 1e-15 && off(-all.low()) < 1e-15, "{all:?}");
        let quotient =
            ratio_independent(bounded(scale, 0.97 * scale, scale), bounded(scale, scale, 1.04 * scale));
        assert!((quotient.unwrap().low() - 0.95).abs() < 1e-15, "{quotient:?}");
    }
    let certain = sum_independent([bounded(1.0, 1.0, 1.0), bounded(0.1, 0.1, 0.1)]).unwrap();
    assert_eq!(certain.half_widths(), (0.0, 0.0));
}

#[test]
fn sizes_that_no_sets_have_are_refused() {
    let of = |size: f64| bounded(size, size - 1.0, size + 1.0);
    let refused = Err(Error::Incompatible { field: "union" });
    assert_eq!(inclusion_exclusion(of(10.0), of(20.0), of(5.0)), refused, "less than a part");
    assert_eq!(inclusion_exclusion(of(10.0), of(20.0), of(40.0)), refused, "more than the parts");
    let (wide, union) = (bounded(10.0, 7.0, 13.0), bounded(15.0, 12.0, 17.0));
    for (a, b) in [(wide, of(20.0)), (of(20.0), wide)] {
        assert_eq!(inclusion_exclusion(a, b, union), refused, "surely less than a part");
    }
}

#[test]
fn an_overlap_is_clamped_to_what_can_be() {
    let overlap =
        inclusion_exclusion(bounded(10.0, 9.0, 11.0), bounded(20.0, 18.0, 22.0), bounded(19.0, 18.0, 21.0));
    assert_eq!(overlap, Ok(bounded(10.0, 6.0, 11.0)));
    let disjoint =
        inclusion_exclusion(bounded(10.0, 9.0, 11.0), bounded(20.0, 18.0, 22.0), bounded(31.0, 29.0, 33.0));
    assert_eq!(disjoint, Ok(bounded(0.0, 0.0, 4.0)));
}
