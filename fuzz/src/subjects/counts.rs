//! Count-min sketches, plain and conservative, and the count-sketch.

use pds_cms::prelude::*;
use pds_cms::{Cell, SignedCell};

use super::hash_of;
use crate::probe::{Probe, assert_share, assert_within};
use crate::subject::Subject;

/// Asks for the counts of hashes and keys, one by one and in a batch.
macro_rules! ask_counts {
    ($sketch:expr, $probe:expr) => {{
        let (sketch, probe) = (&$sketch, $probe);
        let mut estimates = vec![7; probe.hashes.len() + 1];
        assert_eq!(sketch.estimate_batch(&probe.hashes, &mut estimates), probe.hashes.len());
        assert_eq!(estimates[probe.hashes.len()], 7, "a batch writes beyond its answers");
        for (&hash, &estimate) in probe.hashes.iter().zip(&estimates) {
            assert_eq!(sketch.estimate_hash(hash), estimate, "a batch answers differently");
            assert_within(sketch.bounds_hash(hash), estimate);
        }
        for key in &probe.keys {
            assert_eq!(sketch.estimate(key), sketch.estimate_hash(hash_of(key)));
            assert_eq!(sketch.bounds(key), sketch.bounds_hash(hash_of(key)));
        }
    }};
}

/// Asks for what a table of cells measures of itself.
macro_rules! ask_cells {
    ($sketch:expr) => {{
        assert_share($sketch.fill_ratio());
        $sketch.row_fill_ratios().into_iter().for_each(assert_share);
        assert_eq!($sketch.is_empty(), $sketch.total() == 0);
        assert!($sketch.saturated_cells() == 0 || $sketch.is_saturated());
        _ = format!("{:?}", $sketch);
    }};
}

impl<C: Cell> Subject for CountMinSketch<C> {
    fn ask(&self, probe: &Probe) {
        ask_counts!(self, probe);
        ask_cells!(self);
        for &hash in &probe.hashes {
            let debiased = self.estimate_debiased_hash(hash);
            assert!(debiased >= 0.0 && debiased <= self.estimate_hash(hash) as f64, "{debiased}");
        }
        match self.f2() {
            Ok(squares) => {
                assert_eq!(self.inner_product(self), Ok(squares));
                assert_within(self.inner_product_bounds(self).expect("the same"), squares);
            }
            Err(error) => assert!(error == Error::Overflow && self.is_saturated()),
        }
    }

    fn change(&mut self, probe: &Probe) {
        for (i, &hash) in probe.hashes[..10].iter().enumerate() {
            let (before, n) = (self.estimate_hash(hash), probe.counts[i % probe.counts.len()]);
            if self.try_insert_hash_n(hash, n).is_ok() {
                assert!(self.estimate_hash(hash) >= before.saturating_add(n));
                assert!(
                    self.try_remove_hash(hash, n).is_ok() || self.is_saturated() || self.remembers_loss()
                );
            }
            self.insert_hash_n(hash, n);
            assert!(self.estimate_hash(hash) >= n);
        }
        self.halve();
        self.insert_batch(&probe.hashes);
        self.extend(probe.keys);
        self.halve();
    }

    fn forget(&mut self) {
        self.clear();
        assert!(self.is_empty());
    }

    fn look(bytes: &[u8], decoded: Option<&Self>, probe: &Probe) {
        _ = CountMinParams::peek(bytes);
        let shifted = [&[0], bytes].concat();
        for bytes in [bytes, &shifted[1..]] {
            let Ok(view) = Self::view_with(bytes, pds_hash::WyHasher::default()) else {
                assert!(decoded.is_none(), "a view refuses what decodes");
                continue;
            };
            ask_counts!(view, probe);
            _ = (view.saturated_cells(), view.total(), view.is_saturated());
            let verified = view.verify().is_ok();
            match (view.to_owned(), decoded) {
                (Ok(owned), Some(decoded)) => {
                    assert!(verified && owned.to_bytes() == decoded.to_bytes());
                    agree!(view, decoded, probe, estimate_hash, bounds_hash, estimate_debiased_hash;
                        saturated_cells, total, is_saturated, params);
                }
                (Err(_), None) => {}
                _ => panic!("a view takes other bytes for owned than decoding does"),
            }
        }
    }

    fn join(&mut self, other: &Self) -> Option<Result<(), Error>> {
        if let Ok(product) = self.inner_product(other) {
            assert_eq!(other.inner_product(self), Ok(product));
            assert_within(self.inner_product_bounds(other).expect("the same"), product);
        }
        Some(self.merge(other))
    }
}

/// Whether a sketch refuses to take counts back since it was saturated before it was halved.
trait RemembersLoss {
    fn remembers_loss(&self) -> bool;
}

impl<C: Cell> RemembersLoss for CountMinSketch<C> {
    fn remembers_loss(&self) -> bool {
        let mut copy = self.clone();
        copy.try_remove_hash(0, 0).is_err()
    }
}

impl<C: Cell> Subject for ConservativeCountMin<C> {
    fn ask(&self, probe: &Probe) {
        ask_counts!(self, probe);
        ask_cells!(self);
    }

    fn change(&mut self, probe: &Probe) {
        for (i, &hash) in probe.hashes[..10].iter().enumerate() {
            let (before, n) = (self.estimate_hash(hash), probe.counts[i % probe.counts.len()]);
            if self.try_insert_hash_n(hash, n).is_ok() {
                assert!(self.estimate_hash(hash) >= before.saturating_add(n));
            }
            self.insert_hash_n(hash, n);
            assert!(self.estimate_hash(hash) >= n);
        }
        self.halve();
        self.insert_batch(&probe.hashes);
        self.extend(probe.keys);
        self.halve();
    }

    fn forget(&mut self) {
        self.clear();
        assert!(self.is_empty());
    }

    fn look(bytes: &[u8], decoded: Option<&Self>, probe: &Probe) {
        let shifted = [&[0], bytes].concat();
        for bytes in [bytes, &shifted[1..]] {
            let Ok(view) = Self::view_with(bytes, pds_hash::WyHasher::default()) else {
                assert!(decoded.is_none(), "a view refuses what decodes");
                continue;
            };
            for &hash in &probe.hashes {
                assert_within(view.bounds_hash(hash), view.estimate_hash(hash));
            }
            let verified = view.verify().is_ok();
            match (view.to_owned(), decoded) {
                (Ok(owned), Some(decoded)) => {
                    assert!(verified && owned.to_bytes() == decoded.to_bytes());
                    agree!(view, decoded, probe, estimate_hash, bounds_hash; total, is_saturated, params);
                }
                (Err(_), None) => {}
                _ => panic!("a view takes other bytes for owned than decoding does"),
            }
        }
    }

    fn join(&mut self, other: &Self) -> Option<Result<(), Error>> {
        Some(self.merge(other))
    }
}

impl<C: SignedCell> Subject for CountSketch<C> {
    fn ask(&self, probe: &Probe) {
        ask_counts!(self, probe);
        for key in &probe.keys {
            assert_eq!(i64::try_from(self.estimate_nonneg(key)), Ok(self.estimate(key).max(0)));
        }
        _ = (self.f2(), self.error_bound(), self.inner_product(self), format!("{self:?}"));
        assert_eq!(self.is_empty(), self.weight() == 0);
    }

    fn change(&mut self, probe: &Probe) {
        for (i, &hash) in probe.hashes[..10].iter().enumerate() {
            for n in [probe.counts[i % probe.counts.len()] as i64, i64::MIN, -1, 1] {
                let weight = self.weight();
                match self.insert_hash_n(hash, n) {
                    Ok(changed) => assert_eq!((changed, self.weight()), (n != 0, weight + n.unsigned_abs())),
                    Err(_) => assert_eq!(self.weight(), weight),
                }
            }
        }
        _ = self.insert_batch(&probe.hashes);
        let mut like = self.clone();
        if like.subtract(self).is_ok() {
            assert!(probe.hashes.iter().all(|&hash| like.estimate_hash(hash) == 0));
        }
    }

    fn forget(&mut self) {
        self.clear();
        assert!(self.is_empty());
    }

    fn look(bytes: &[u8], decoded: Option<&Self>, probe: &Probe) {
        _ = CountSketchParams::peek(bytes);
        let shifted = [&[0], bytes].concat();
        for bytes in [bytes, &shifted[1..]] {
            let Ok(view) = Self::view_with(bytes, pds_hash::WyHasher::default()) else {
                assert!(decoded.is_none(), "a view refuses what decodes");
                continue;
            };
            probe.hashes.iter().for_each(|&hash| _ = view.estimate_hash(hash));
            let verified = view.verify().is_ok();
            match (view.to_owned(), decoded) {
                (Ok(owned), Some(decoded)) => {
                    assert!(verified && owned.to_bytes() == decoded.to_bytes());
                    agree!(view, decoded, probe, estimate_hash; weight, params);
                }
                (Err(_), None) => {}
                _ => panic!("a view takes other bytes for owned than decoding does"),
            }
        }
    }

    fn join(&mut self, other: &Self) -> Option<Result<(), Error>> {
        let before = self.to_bytes();
        let mut less = self.clone();
        if less.subtract(other).is_err() {
            assert!(less.to_bytes() == before, "a refused subtraction changes something");
        }
        assert_eq!(self.inner_product(other).ok(), other.inner_product(self).ok());
        Some(self.merge(other))
    }
}
