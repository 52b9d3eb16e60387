//! Sketches of quantiles.

use std::fmt::Debug;

use pds_quantiles::prelude::*;
use pds_quantiles::{KllCodec, KllItem};

use crate::probe::{ODD, Probe, SHARES, TOLD_APART, assert_count, assert_within};
use crate::subject::Subject;

/// What `Quantiles` promises of every implementation; `ordered`: that answers to ascending questions ascend, too.
fn ask(sketch: &impl Quantiles, ordered: bool) {
    let empty = sketch.is_empty();
    assert_eq!(empty, sketch.count() == 0);
    assert_eq!((sketch.min().is_none(), sketch.max().is_none()), (empty, empty));
    for rule in [QuantileRule::Step, QuantileRule::Linear] {
        let mut last = sketch.min();
        for q in SHARES {
            let quantile = sketch.quantile_by(q, rule);
            assert_eq!(quantile.is_none(), empty);
            assert!(
                (quantile >= last || !ordered) && quantile <= sketch.max(),
                "{q}: {quantile:?} after {last:?}"
            );
            assert!(quantile.is_none_or(|x| x.is_finite() && x.to_bits() != (-0.0f64).to_bits()));
            last = quantile;
        }
        assert_eq!(sketch.quantile_by(0.0, rule), sketch.min());
        assert_eq!(sketch.quantile_by(1.0, rule), sketch.max());
        for q in ODD {
            let answered = sketch.quantile_by(q, rule).is_some();
            assert_eq!(answered, !empty && (0.0..=1.0).contains(&q), "{q}");
        }
    }
    let many: Vec<_> = SHARES.iter().map(|&q| sketch.quantile(q)).collect();
    assert_eq!(sketch.quantiles(&SHARES), many);
    for q in ODD.into_iter().chain(SHARES) {
        if let Some(bounds) = sketch.bounds(q) {
            assert_within(bounds, sketch.quantile(q).expect("bounds are of a quantile"));
        }
    }
    let mut values = ODD.to_vec();
    values.extend(many.into_iter().flatten());
    values.retain(|value| !value.is_nan());
    values.sort_by(f64::total_cmp);
    for rule in [RankRule::Exclusive, RankRule::Middle, RankRule::Inclusive] {
        let ranks: Vec<_> = values.iter().map(|&value| sketch.rank_by(value, rule)).collect();
        assert!(ranks.iter().all(|rank| rank.is_none() == empty), "{ranks:?}");
        assert!(ranks.iter().flatten().all(|rank| (0.0..=1.0).contains(rank)), "{ranks:?}");
        assert!(ranks.is_sorted() || !ordered, "ranks fall: {ranks:?} of {values:?}");
        assert_eq!(sketch.rank_by(f64::NAN, rule), None);
    }
    if !empty {
        assert_eq!(sketch.cdf(f64::MAX), Some(1.0), "the weights are not the count");
        assert_eq!(sketch.cdf(f64::INFINITY), Some(1.0));
    }
    assert!(sketch.sum().is_none_or(|sum| !sum.is_nan()));
    _ = (sketch.rejected(), sketch.contract());
}

/// Values, weights and refusals.
fn change(sketch: &mut impl QuantileSketch, probe: &Probe) {
    for (i, value) in ODD.into_iter().chain([1e-300, 3.25, 1e18, -7.0]).enumerate() {
        let (count, rejected) = (sketch.count(), sketch.rejected());
        let taken = sketch.insert(value);
        assert_eq!(taken, value.is_finite() && count < u64::MAX);
        assert_eq!(sketch.count(), count + u64::from(taken));
        assert!(value.is_finite() || sketch.rejected() == rejected.saturating_add(1));

        let (count, n) = (sketch.count(), probe.counts[i % probe.counts.len()]);
        match sketch.insert_n(value, n) {
            Ok(changed) => assert_eq!((changed, sketch.count()), (n > 0, count + n)),
            Err(error) => {
                assert_eq!(error, if value.is_finite() { Error::Overflow } else { Error::NonFinite });
                assert_eq!(sketch.count(), count);
            }
        }
    }
    for &hash in &probe.hashes {
        sketch.insert((hash >> 40) as f64);
    }
}

impl Subject for DDSketch {
    fn ask(&self, _probe: &Probe) {
        ask(self, true);
        let snapshot = self.snapshot();
        ask(&snapshot, true);
        for q in SHARES {
            assert_eq!(snapshot.quantile(q), self.quantile(q));
            assert_eq!(snapshot.bounds(q), self.bounds(q));
        }
        let bins: Vec<_> = self.bins().collect();
        assert_eq!(bins.len(), self.occupied_bins());
        assert!(bins.len() <= self.params().max_bins() as usize);
        assert_eq!(bins.iter().map(|(_, count)| u128::from(*count)).sum::<u128>(), u128::from(self.count()));
        assert!(bins.is_sorted_by(|a, b| a.0 <= b.0), "bins are out of order");
        assert!(self.size_bytes() <= self.params().max_size_bytes());
        assert!(self.alpha() >= self.params().alpha() && self.alpha() < 1.0);
        if let Ok(histogram) = self.to_exponential_histogram() {
            DDSketch::from_exponential_histogram(&histogram).expect("a histogram of its own");
        }
        _ = format!("{self:?}");
    }

    fn change(&mut self, probe: &Probe) {
        change(self, probe);
    }

    fn forget(&mut self) {
        self.clear();
        assert!(self.is_empty());
    }

    fn look(bytes: &[u8], decoded: Option<&Self>, _probe: &Probe) {
        _ = DDSketchParams::peek(bytes);
        look!(
            DDSketch,
            bytes,
            decoded,
            |view| if view.verify().is_ok() && view.to_owned().is_ok() {
                ask(&view, true);
                ask(&view.snapshot(), true);
            } else {
                for q in ODD.into_iter().chain(SHARES) {
                    _ = (view.quantile(q), view.bounds(q), view.rank(q));
                }
                _ = (view.count(), view.rejected(), view.min(), view.max(), view.sum(), view.contract());
                _ = (view.bins().count(), view.snapshot(), view.alpha());
            },
            |view, owned| {
                for q in SHARES {
                    assert_eq!(view.quantile(q), owned.quantile(q));
                    assert_eq!(view.bounds(q), owned.bounds(q));
                    assert_eq!(view.rank(q), owned.rank(q));
                }
                assert_eq!((view.count(), view.rejected()), (owned.count(), owned.rejected()));
                assert_eq!((view.min(), view.max(), view.sum()), (owned.min(), owned.max(), owned.sum()));
            },
        );
    }

    fn join(&mut self, other: &Self) -> Option<Result<(), Error>> {
        Some(self.merge(other))
    }
}

impl Subject for TDigest {
    fn ask(&self, _probe: &Probe) {
        let ordered = self.count() <= TOLD_APART;
        ask(self, ordered);
        let snapshot = self.snapshot();
        ask(&snapshot, ordered);
        let centroids = snapshot.centroids();
        let weight: u128 = centroids.iter().map(|centroid| u128::from(centroid.weight())).sum();
        assert_eq!(weight, u128::from(self.count()), "the weights are not the count");
        assert!(centroids.is_sorted_by(|a, b| a.mean() <= b.mean()), "means are out of order");
        for low in ODD.into_iter().chain(SHARES) {
            for high in SHARES {
                if let Some(mean) = snapshot.trimmed_mean(low, high) {
                    assert!(low < high && !mean.is_nan());
                    assert_within((self.min().unwrap_or(0.0), self.max().unwrap_or(0.0)), mean);
                }
            }
        }
        _ = (self.is_exact(), self.size_bytes(), format!("{self:?}"));
    }

    fn change(&mut self, probe: &Probe) {
        change(self, probe);
    }

    fn forget(&mut self) {
        self.clear();
        assert!(self.is_empty());
    }

    fn look(bytes: &[u8], _decoded: Option<&Self>, _probe: &Probe) {
        _ = TDigestParams::peek(bytes);
    }

    fn join(&mut self, other: &Self) -> Option<Result<(), Error>> {
        let (before, mut both) = (self.to_bytes(), self.clone());
        if both.merge_many([other, other]).is_err() {
            assert!(both.to_bytes() == before, "a refused merge changes something");
        }
        Some(self.merge(other))
    }
}

/// Items of a KLL sketch, some of them odd.
pub trait Items: KllItem + KllCodec + Debug + PartialOrd {
    fn items(probe: &Probe) -> Vec<Self>;
}

impl Items for f64 {
    fn items(probe: &Probe) -> Vec<Self> {
        ODD.into_iter().chain(probe.hashes.iter().map(|&hash| (hash >> 40) as f64)).collect()
    }
}

impl Items for u64 {
    fn items(probe: &Probe) -> Vec<Self> {
        probe.hashes.clone()
    }
}

impl Items for i64 {
    fn items(probe: &Probe) -> Vec<Self> {
        probe.hashes.iter().map(|&hash| hash as i64).collect()
    }
}

impl Items for String {
    fn items(probe: &Probe) -> Vec<Self> {
        probe.hashes.iter().map(u64::to_string).chain(["", "\u{0}"].map(Self::from)).collect()
    }
}

impl Items for Vec<u8> {
    fn items(probe: &Probe) -> Vec<Self> {
        probe.hashes.iter().map(|&hash| vec![hash as u8; hash as usize % 20]).collect()
    }
}

impl<T: Items> Subject for KllSketch<T> {
    fn ask(&self, probe: &Probe) {
        let snapshot = self.snapshot();
        assert_eq!(self.is_empty(), self.count() == 0);
        assert_eq!(snapshot.count(), self.count());
        let mut last = self.min();
        for q in SHARES {
            let quantile = snapshot.quantile(q);
            assert_eq!(quantile.is_none(), self.is_empty());
            assert!(quantile >= last && quantile <= self.max(), "{q}: {quantile:?} after {last:?}");
            last = quantile;
        }
        for q in ODD.into_iter().chain(SHARES) {
            assert_eq!(snapshot.quantile(q).is_some(), !self.is_empty() && (0.0..=1.0).contains(&q));
            if let Some((low, high)) = snapshot.bounds(q) {
                let quantile = snapshot.quantile(q).expect("bounds are of a quantile");
                assert!(low <= quantile && quantile <= high, "{quantile:?} outside of {low:?}..={high:?}");
            }
        }
        for rule in [RankRule::Exclusive, RankRule::Middle, RankRule::Inclusive] {
            for item in T::items(probe) {
                let rank = snapshot.rank_by(item, rule);
                assert!(rank.is_none_or(|rank| (0.0..=1.0).contains(&rank)));
            }
            if let Some(max) = self.max() {
                assert_eq!(
                    snapshot.rank_by(max, RankRule::Inclusive),
                    Some(1.0),
                    "the weights are not the count"
                );
            }
        }
        assert_count(self.items() as f64);
        _ = (self.is_exact(), self.size_bytes(), self.contract(), self.min_params(), format!("{self:?}"));
    }

    fn change(&mut self, probe: &Probe) {
        for (i, item) in T::items(probe).into_iter().enumerate() {
            let (count, n) = (self.count(), probe.counts[i % probe.counts.len()]);
            let taken = self.insert(item.clone());
            assert_eq!(self.count(), count + u64::from(taken));
            let count = self.count();
            match self.insert_n(item, n) {
                Ok(changed) => assert_eq!((changed, self.count()), (n > 0, count + n)),
                Err(_) => assert_eq!(self.count(), count),
            }
        }
    }

    fn forget(&mut self) {
        self.clear();
        assert!(self.is_empty());
    }

    fn look(bytes: &[u8], _decoded: Option<&Self>, _probe: &Probe) {
        _ = KllParams::peek(bytes);
    }

    fn join(&mut self, other: &Self) -> Option<Result<(), Error>> {
        let (before, mut both) = (self.to_bytes(), self.clone());
        if both.merge_many([other, other]).is_err() {
            assert!(both.to_bytes() == before, "a refused merge changes something");
        }
        Some(self.merge(other))
    }
}
