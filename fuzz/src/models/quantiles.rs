//! Sketches of quantiles beside the sorted values.

use arbitrary::{Result, Unstructured};
use pds_quantiles::prelude::*;

use super::{assert_same, calls, history, recode, weight};
use crate::probe::{SHARES, TOLD_APART};

/// A value: mostly of a few decades, and sometimes any float.
fn value(u: &mut Unstructured<'_>) -> Result<f64> {
    let magnitude = match u.arbitrary::<u8>()? {
        small if small < 100 => f64::from(small),
        255 => return u.arbitrary(),
        254 => f64::MAX,
        253 => f64::MIN_POSITIVE,
        252 => f64::NAN,
        251 => 5e-324,
        step => (f64::from(step) - 175.0).exp2() * f64::from(u.arbitrary::<u8>()?),
    };
    Ok(if u.arbitrary::<u8>()? < 200 { magnitude } else { -magnitude })
}

/// Values and how often each came.
#[derive(Default)]
struct Exact {
    values: Vec<(f64, u64)>,
    count: u64,
    rejected: u64,
}

impl Exact {
    /// As `insert_n`: whether it has to be taken.
    fn add(&mut self, value: f64, n: u64) -> Result<bool, Error> {
        if !value.is_finite() {
            return Err(Error::NonFinite);
        }
        self.count = self.count.checked_add(n).ok_or(Error::Overflow)?;
        // -0.0 is taken as 0.0.
        self.values.push((value + 0.0, n));
        Ok(n > 0)
    }

    fn sort(&mut self) {
        self.values.retain(|&(_, n)| n > 0);
        self.values.sort_by(|a, b| a.0.total_cmp(&b.0));
    }

    /// The quantile of sorted values by the step rule; the values next to it too where rounding may decide.
    fn quantile(&self, q: f64) -> Vec<f64> {
        let rank = q * self.count as f64;
        let slack = 1.0 + self.count as f64 * 4.0 * f64::EPSILON;
        let mut below = 0u128;
        let mut near = Vec::new();
        for &(value, n) in &self.values {
            let above = below + u128::from(n);
            if above as f64 >= rank - slack && below as f64 <= rank + slack {
                near.push(value);
            }
            below = above;
        }
        near
    }

    fn check_counts(&self, sketch: &impl Quantiles) {
        assert_eq!((sketch.count(), sketch.rejected()), (self.count, self.rejected));
        assert_eq!(sketch.min(), self.values.first().map(|value| value.0));
        assert_eq!(sketch.max(), self.values.last().map(|value| value.0));
    }
}

/// One insertion into a sketch and into the exact values.
fn insert(u: &mut Unstructured<'_>, sketch: &mut impl QuantileSketch, exact: &mut Exact) -> Result<()> {
    let value = value(u)?;
    if u.arbitrary()? {
        let n = weight(u)?;
        assert_eq!(sketch.insert_n(value, n), exact.add(value, n));
    } else {
        let taken = exact.add(value, 1);
        assert_eq!(sketch.insert(value), taken.is_ok());
        exact.rejected += u64::from(taken == Err(Error::NonFinite));
    }
    Ok(())
}

/// Another sketch and its values.
fn another<S: QuantileSketch>(u: &mut Unstructured<'_>, mut sketch: S) -> Result<(S, Exact)> {
    let mut exact = Exact::default();
    for _ in 0..u.int_in_range(0..=20)? {
        insert(u, &mut sketch, &mut exact)?;
    }
    Ok((sketch, exact))
}

/// Merges, and asserts that a refusal is of too great a count and changes nothing.
fn merge<S: crate::Subject + Merge>(sketch: &mut S, exact: &mut Exact, (other, theirs): (S, Exact)) {
    let before = sketch.to_bytes();
    match sketch.merge(&other) {
        Ok(()) => {
            exact.count += theirs.count;
            exact.rejected = exact.rejected.saturating_add(theirs.rejected);
            exact.values.extend(theirs.values);
        }
        Err(error) => {
            assert_eq!(error, Error::Overflow);
            assert!(exact.count.checked_add(theirs.count).is_none(), "a merge is refused for nothing");
            assert!(sketch.to_bytes() == before, "a refused merge changes something");
        }
    }
}

/// [`DDSketch`]: the relative error of every quantile that it is promised for, and bytes of the values alone.
pub fn ddsketch(data: &[u8]) {
    history(data, |u| {
        const MAPPINGS: [Mapping; 4] = [Mapping::Log, Mapping::Linear, Mapping::Quadratic, Mapping::Cubic];
        const COLLAPSES: [Collapse; 3] = [Collapse::Lowest, Collapse::Highest, Collapse::Uniform];
        let accuracy = if u.arbitrary()? {
            DDSketchParams::for_accuracy(*u.choose(&[0.01, 0.5, 0.001, 1e-6])?)
        } else {
            DDSketchParams::for_scale(u.int_in_range(0..=18)?)
        };
        let mut params = accuracy.expect("an accuracy").with_collapse(*u.choose(&COLLAPSES)?);
        if u.arbitrary()? {
            params = params.with_mapping(*u.choose(&MAPPINGS)?);
        }
        if u.arbitrary()? {
            params = params.with_max_bins(u.int_in_range(8..=100)?).expect("a limit");
        }
        let (mut sketch, mut exact) = (DDSketch::new(params), Exact::default());
        calls(u, |u, call| {
            match call % 16 {
                0..11 => insert(u, &mut sketch, &mut exact)?,
                11..13 => recode(&mut sketch),
                13..15 => {
                    let other = another(u, DDSketch::new(params))?;
                    merge(&mut sketch, &mut exact, other);
                }
                _ => {
                    sketch.clear();
                    exact = Exact::default();
                }
            }
            Ok(())
        })?;
        exact.sort();
        exact.check_counts(&sketch);
        let mut fresh = DDSketch::new(params);
        for &(value, n) in exact.values.iter().rev() {
            assert_eq!(fresh.insert_n(value, n), Ok(true));
        }
        (0..exact.rejected).for_each(|_| _ = fresh.insert(f64::NAN));
        assert_same(&sketch, &fresh, "the bytes depend on the history");
        if let Contract::RelativeValue { alpha, valid_from_q, valid_to_q } = sketch.contract() {
            for q in SHARES.into_iter().filter(|&q| exact.count > 0 && q >= valid_from_q && q <= valid_to_q) {
                let answer = sketch.quantile(q).expect("there are values");
                let near = exact.quantile(q);
                // Numbers nearer to zero than the least normal float count as zero.
                let close = |x: f64| (answer - x).abs() <= alpha * x.abs() * (1.0 + 1e-9) + f64::MIN_POSITIVE;
                assert!(near.iter().any(|&x| close(x)), "{answer} for the quantile {q}, one of {near:?}");
            }
        }
        for q in SHARES {
            if let Some((low, high)) = sketch.bounds(q) {
                let near = exact.quantile(q);
                assert!(near.iter().any(|&x| low <= x && x <= high), "{low}..={high} for one of {near:?}");
            }
        }
        Ok(())
    });
}

/// [`TDigest`]: weights, ends, order; all that is exact while it is; and decoding changes nothing of what is answered.
pub fn tdigest(data: &[u8]) {
    history(data, |u| {
        let params = TDigestParams::with_compression(u.int_in_range(20..=200)?).expect("a compression");
        let (mut digest, mut exact) = (TDigest::new(params), Exact::default());
        calls(u, |u, call| {
            match call % 16 {
                0..11 => insert(u, &mut digest, &mut exact)?,
                11..13 => recode(&mut digest),
                13..15 => {
                    let other = another(u, TDigest::new(params))?;
                    merge(&mut digest, &mut exact, other);
                }
                _ => {
                    digest.clear();
                    exact = Exact::default();
                }
            }
            Ok(())
        })?;
        exact.sort();
        exact.check_counts(&digest);
        let snapshot = digest.snapshot();
        let weight: u128 = snapshot.centroids().iter().map(|centroid| u128::from(centroid.weight())).sum();
        assert_eq!(weight, u128::from(exact.count));
        let answers: Vec<_> = SHARES.iter().map(|&q| snapshot.quantile(q)).collect();
        let told_apart = exact.count <= TOLD_APART;
        assert!(answers.is_sorted() || !told_apart, "quantiles fall: {answers:?}");
        if digest.is_exact() && exact.count > 0 && told_apart {
            for q in SHARES {
                let answer = snapshot.quantile(q).expect("there are values");
                let near = exact.quantile(q);
                let (low, high) =
                    (near.iter().copied().reduce(f64::min), near.iter().copied().reduce(f64::max));
                assert!(low <= Some(answer) && Some(answer) <= high, "{answer} for {q}, one of {near:?}");
            }
        }
        Ok(())
    });
}

/// [`KllSketch`]: weights, ends, answers that were values; all that is exact while it is; and decoding changes nothing of
/// what follows.
pub fn kll(data: &[u8]) {
    history(data, |u| {
        let params = KllParams::with_k(u.int_in_range(8..=100)?).expect("a k");
        let seed = u.arbitrary()?;
        let (mut sketch, mut exact) = (KllSketch::with_seed(params, seed), Exact::default());
        let mut unrecoded: KllSketch = KllSketch::with_seed(params, seed);
        calls(u, |u, call| {
            match call % 16 {
                0..11 => {
                    let before = exact.values.len();
                    let rejected = exact.rejected;
                    insert(u, &mut sketch, &mut exact)?;
                    if let Some(&(value, n)) = exact.values.get(before) {
                        _ = unrecoded.insert_n(value, n);
                    } else if exact.rejected > rejected {
                        unrecoded.insert(f64::NAN);
                    }
                }
                11..13 => recode(&mut sketch),
                13..15 => {
                    let other = another(u, KllSketch::with_seed(params, 7))?;
                    _ = unrecoded.merge(&other.0);
                    merge(&mut sketch, &mut exact, other);
                }
                _ => {
                    sketch.clear();
                    unrecoded.clear();
                    exact = Exact::default();
                }
            }
            Ok(())
        })?;
        assert_same(&sketch, &unrecoded, "decoding changes what follows");
        exact.sort();
        exact.check_counts(&sketch);
        for q in SHARES {
            let Some(answer) = sketch.quantile(q) else {
                assert_eq!(exact.count, 0);
                break;
            };
            assert!(exact.values.iter().any(|&(value, _)| value == answer), "{answer} was never taken in");
            if sketch.is_exact() {
                let near = exact.quantile(q);
                assert!(near.contains(&answer), "{answer} for {q}, one of {near:?}");
            }
        }
        if let Some(max) = sketch.max() {
            assert_eq!(sketch.cdf(max), Some(1.0), "the weights are not the count");
        }
        Ok(())
    });
}
