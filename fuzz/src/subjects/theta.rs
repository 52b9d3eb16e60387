//! Theta sketches.

use pds_theta::prelude::*;
use pds_theta::{difference, intersection, jaccard, union};

use crate::probe::{ODD, Probe, assert_count, assert_share, assert_within};
use crate::subject::Subject;

/// Asks for estimate, bounds and threshold.
macro_rules! ask_theta {
    ($sketch:expr) => {{
        let estimate = $sketch.estimate();
        assert_count(estimate);
        for kappa in ODD {
            assert_within($sketch.bounds(kappa), estimate);
        }
        assert_share($sketch.theta());
        assert!(!$sketch.is_exact() || estimate == $sketch.retained() as f64);
        assert!(!$sketch.is_empty() || $sketch.retained() == 0);
    }};
}

/// Opens views at two addresses and asks them everything.
fn look<S: Sketch>(
    view: impl Fn(&[u8]) -> Result<ThetaView<'_>, Error>,
    bytes: &[u8],
    decoded: Option<&S>,
    compact: impl Fn(&S) -> CompactTheta,
) {
    _ = ThetaParams::peek(bytes);
    let shifted = [&[0], bytes].concat();
    for bytes in [bytes, &shifted[1..]] {
        let Ok(view) = view(bytes) else {
            assert!(decoded.is_none(), "a view refuses what decodes");
            continue;
        };
        ask_theta!(view);
        operate(&view, &view);
        let verified = view.verify().is_ok();
        match (view.to_compact(), decoded) {
            (Ok(viewed), Some(decoded)) => {
                let decoded = compact(decoded);
                assert!(verified && viewed.to_bytes() == decoded.to_bytes(), "a view is of something else");
                assert_eq!(view.estimate().to_bits(), decoded.estimate().to_bits());
            }
            (Err(_), None) => {}
            _ => panic!("a view takes other bytes for owned than decoding does"),
        }
    }
}

/// Every set operation on two sources; what comes of it is a result like any other.
fn operate(left: &dyn ThetaSource<pds_hash::WyHasher>, right: &dyn ThetaSource<pds_hash::WyHasher>) {
    let results = [
        union(&[left, right]),
        intersection(&[left, right]),
        difference(left, &[right]),
        difference(right, &[left]),
    ];
    for result in results.into_iter().flatten() {
        ask_theta!(result);
        assert!(result.hashes().is_sorted(), "hashes are out of order");
        crate::subject::recoded(&result);
    }
    if let Ok(share) = jaccard(left, right) {
        assert_share(share.estimate());
        for kappa in ODD {
            assert_within(share.bounds(kappa), share.estimate());
        }
        assert!(share.retained_in_both() <= share.retained_in_either());
        assert!(!share.is_exact() || share.bounds(1.0) == (share.estimate(), share.estimate()));
    }
}

impl Subject for ThetaSketch {
    fn ask(&self, _probe: &Probe) {
        ask_theta!(self);
        let compact = self.compact();
        assert_eq!(compact.estimate().to_bits(), self.estimate().to_bits());
        assert_eq!(compact.retained(), self.retained());
        operate(self, &compact);
        _ = (self.size_bytes(), format!("{self:?}"));
    }

    fn change(&mut self, probe: &Probe) {
        for &hash in &probe.hashes[..8] {
            self.insert_hash(hash);
            assert!(!self.insert_hash(hash), "a key changes the sketch twice");
        }
        self.insert_batch(&probe.hashes);
        self.extend(probe.keys);
        let before = self.to_bytes();
        self.trim();
        assert!(self.to_bytes() == before, "trimming changes the bytes");
        assert!(self.fold_to(self.params().lg_k() + 1).is_err());
        let lower = self.params().lg_k() - 1;
        assert_eq!(self.fold_to(lower).is_ok(), lower >= ThetaParams::MIN_LG_K);
        self.insert_batch(&probe.hashes);
    }

    fn forget(&mut self) {
        self.clear();
        assert!(self.is_empty());
    }

    fn look(bytes: &[u8], decoded: Option<&Self>, _probe: &Probe) {
        look(ThetaSketch::view, bytes, decoded, ThetaSketch::compact);
    }

    fn join(&mut self, other: &Self) -> Option<Result<(), Error>> {
        operate(self, other);
        Some(self.merge(other))
    }
}

impl Subject for CompactTheta {
    fn ask(&self, _probe: &Probe) {
        ask_theta!(self);
        assert!(self.hashes().is_sorted() && self.hashes().len() == self.retained());
        operate(self, self);
        _ = (self.params(), self.size_bytes(), format!("{self:?}"));
    }

    fn change(&mut self, _probe: &Probe) {}

    fn look(bytes: &[u8], decoded: Option<&Self>, _probe: &Probe) {
        look(CompactTheta::view, bytes, decoded, CompactTheta::clone);
    }

    fn join(&mut self, other: &Self) -> Option<Result<(), Error>> {
        operate(self, other);
        None
    }
}
