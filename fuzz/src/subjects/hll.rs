//! Sketches of distinct counts.

use pds_hll::prelude::*;

use crate::probe::{ODD, Probe, assert_count, assert_share, assert_within};
use crate::subject::Subject;

/// Asks for estimate and bounds, at widths that make sense and at others.
macro_rules! ask_estimate {
    ($sketch:expr) => {{
        let estimate = $sketch.estimate();
        assert_count(estimate);
        for kappa in ODD {
            assert_within($sketch.bounds(kappa), estimate);
        }
    }};
}

/// Counts hashes; asserts what is true of the estimate after.
macro_rules! count {
    ($sketch:expr, $probe:expr) => {{
        for &hash in &$probe.hashes[..8] {
            $sketch.insert_hash(hash);
            assert!(!$sketch.insert_hash(hash), "a key changes the sketch twice");
        }
        $sketch.insert_batch(&$probe.hashes);
        assert!(!$probe.hashes.iter().any(|&hash| $sketch.insert_hash(hash)));
        $sketch.extend($probe.keys);
        assert!(!$sketch.is_empty() && $sketch.estimate() > 0.0);
    }};
}

impl Subject for HyperLogLog {
    fn ask(&self, _probe: &Probe) {
        ask_estimate!(self);
        assert_eq!(self.registers().len(), self.params().registers());
        assert!(self.is_empty() == (self.estimate() == 0.0));
        assert_count(self.params().predicted_error(self.estimate() as u64));
        assert_eq!(
            HyperLogLog::union_estimate(&[self, self]).map(f64::to_bits),
            Ok(self.estimate().to_bits())
        );
        _ = (self.is_sparse(), self.size_bytes(), format!("{self:?}"));
    }

    fn change(&mut self, probe: &Probe) {
        count!(self, probe);
        assert!(self.fold_to(self.params().precision() + 1).is_err());
        let lower = self.params().precision() - 1;
        assert_eq!(self.fold_to(lower).is_ok(), lower >= HllParams::MIN_PRECISION);
        count!(self, probe);
    }

    fn forget(&mut self) {
        self.clear();
        assert!(self.is_empty());
    }

    fn look(bytes: &[u8], decoded: Option<&Self>, _probe: &Probe) {
        _ = HllParams::peek(bytes);
        look!(
            HyperLogLog,
            bytes,
            decoded,
            |view| {
                ask_estimate!(view);
                let mut sketch = HyperLogLog::new(view.params());
                let merged = sketch.merge_view(&view).is_ok();
                assert!(merged || sketch.is_empty());
            },
            |view, owned| {
                assert_eq!(view.estimate().to_bits(), owned.estimate().to_bits());
                assert_eq!(view.params(), owned.params());
                let mut sketch = HyperLogLog::new(view.params());
                assert_eq!(sketch.merge_view(view), Ok(()));
                assert!(sketch == *owned, "merging a view gives another sketch");
            },
        );
    }

    fn join(&mut self, other: &Self) -> Option<Result<(), Error>> {
        compare(self, other);
        compare(other, self);
        let union = HyperLogLog::union_estimate(&[self, other]);
        let outcome = self.merge(other);
        match (&outcome, union) {
            (Ok(()), Ok(union)) => assert_eq!(union.to_bits(), self.estimate().to_bits()),
            (outcome, union) => assert!(outcome.is_err() && union.is_err()),
        }
        Some(outcome)
    }
}

/// Asks for everything that two sketches say together.
fn compare(left: &HyperLogLog, right: &HyperLogLog) {
    for kappa in ODD {
        if let Some(ratio) = left.ratio(right, kappa) {
            assert_within((ratio.lower, ratio.upper), ratio.value);
        }
        if let Ok(overlap) = left.inclusion_exclusion(right, kappa) {
            // The value may be what is not possible, and the bounds may not.
            assert!(0.0 <= overlap.lower && overlap.lower <= overlap.upper && !overlap.value.is_nan());
        }
    }
    let Ok(joint) = left.joint(right) else { return };
    let parts = [joint.intersection(), joint.left_only(), joint.right_only(), joint.union(), joint.jaccard()];
    for part in parts {
        assert_count(part.estimate());
        for kappa in [0.0, 1.0, f64::NAN, f64::INFINITY] {
            assert_within(part.bounds(kappa), part.estimate());
        }
    }
    assert_share(joint.jaccard().estimate());
    _ = joint.is_determined();
}

impl Subject for UltraLogLog {
    fn ask(&self, _probe: &Probe) {
        ask_estimate!(self);
        assert_eq!(self.registers().len(), self.params().registers());
        assert!(self.is_empty() == (self.estimate() == 0.0));
        assert_count(self.params().predicted_error(self.estimate() as u64));
        let hll = HyperLogLog::from(self);
        assert_eq!(hll.is_empty(), self.is_empty());
        _ = (self.is_sparse(), self.size_bytes(), hll.estimate(), format!("{self:?}"));
    }

    fn change(&mut self, probe: &Probe) {
        count!(self, probe);
        assert!(self.fold_to(self.params().precision() + 1).is_err());
        let lower = self.params().precision() - 1;
        assert_eq!(self.fold_to(lower).is_ok(), lower >= UllParams::MIN_PRECISION);
        count!(self, probe);
    }

    fn forget(&mut self) {
        self.clear();
        assert!(self.is_empty());
    }

    fn look(bytes: &[u8], decoded: Option<&Self>, _probe: &Probe) {
        _ = UllParams::peek(bytes);
        look!(
            UltraLogLog,
            bytes,
            decoded,
            |view| {
                ask_estimate!(view);
                let mut sketch = UltraLogLog::new(view.params());
                let merged = sketch.merge_view(&view).is_ok();
                assert!(merged || sketch.is_empty());
            },
            |view, owned| {
                assert_eq!(view.estimate().to_bits(), owned.estimate().to_bits());
                assert_eq!(view.params(), owned.params());
                let mut sketch = UltraLogLog::new(view.params());
                assert_eq!(sketch.merge_view(view), Ok(()));
                assert!(sketch == *owned, "merging a view gives another sketch");
            },
        );
    }

    fn join(&mut self, other: &Self) -> Option<Result<(), Error>> {
        Some(self.merge(other))
    }
}

impl Subject for StreamingHyperLogLog {
    fn ask(&self, _probe: &Probe) {
        ask_estimate!(self);
        assert_eq!(self.is_empty(), self.clone().into_hll().is_empty());
        _ = (self.is_sparse(), self.size_bytes(), format!("{self:?}"));
    }

    fn change(&mut self, probe: &Probe) {
        count!(self, probe);
    }

    fn forget(&mut self) {
        self.clear();
        assert!(self.is_empty());
    }
}
