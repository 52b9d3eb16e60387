//! Count-min sketches of windows, and with decay.

use pds_cms::Pane;
use pds_cms::prelude::*;
use pds_hash::WyHasher;

use super::hash_of;
use crate::probe::{ODD, Probe, assert_count, assert_within};
use crate::subject::Subject;

impl<S: Pane + Sketch<Hasher = WyHasher>> Subject for SlidingCountMin<S> {
    fn ask(&self, probe: &Probe) {
        let panes = self.params().panes();
        for &hash in &probe.hashes {
            let estimate = self.estimate_hash(hash);
            assert_within(self.bounds_hash(hash), estimate);
            assert_eq!(self.estimate_hash_within(hash, panes), estimate);
            assert_eq!(self.estimate_hash_within(hash, u32::MAX), estimate);
            assert_eq!(self.estimate_hash_within(hash, 0), 0);
            assert!(self.estimate_hash_within(hash, 1) <= estimate);
        }
        for key in &probe.keys {
            assert_eq!(self.estimate(key), self.estimate_hash(hash_of(key)));
        }
        for age in [0, panes - 1, panes, u32::MAX] {
            assert_eq!(self.pane(age).is_some(), age < panes);
        }
        assert_eq!(self.is_empty(), self.total() == 0);
        _ = (self.is_saturated(), self.size_bytes(), format!("{self:?}"));
    }

    fn change(&mut self, probe: &Probe) {
        for (i, &hash) in probe.hashes[..10].iter().enumerate() {
            let n = probe.counts[i % probe.counts.len()];
            self.insert_hash_n(hash, n);
            assert!(self.estimate_hash_within(hash, 1) >= n);
            // Behind the last number there is, a window stays.
            let stays = self.generation() == u64::MAX;
            self.advance();
            assert!(stays || self.estimate_hash_within(hash, 1) == 0);
        }
        self.insert_batch(&probe.hashes);
        for by in probe.counts {
            self.advance_by(by);
            self.insert_batch(&probe.hashes);
        }
    }

    fn forget(&mut self) {
        self.clear();
        assert!(self.is_empty());
    }

    fn look(bytes: &[u8], decoded: Option<&Self>, probe: &Probe) {
        _ = SlidingCountMinParams::peek(bytes);
        let shifted = [&[0], bytes].concat();
        for bytes in [bytes, &shifted[1..]] {
            let Ok(view) = Self::view_with(bytes, WyHasher::default()) else {
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
                    agree!(view, decoded, probe, estimate_hash, bounds_hash;
                        total, generation, is_saturated, params);
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

impl Subject for DecayingCountMin {
    fn ask(&self, probe: &Probe) {
        for now in ODD.into_iter().chain([1e6, -1e6, 1e12]) {
            match self.total(now) {
                Ok(total) => assert_count(total),
                Err(error) => {
                    assert_eq!(self.estimate_hash(0, now), Err(error));
                    continue;
                }
            }
            for &hash in &probe.hashes[..8] {
                let estimate = self.estimate_hash(hash, now).expect("the total was told");
                assert_within(self.bounds_hash(hash, now).expect("the total was told"), estimate);
            }
            for key in &probe.keys {
                assert_eq!(self.estimate(key, now), self.estimate_hash(hash_of(key), now));
            }
        }
        _ = (self.size_bytes(), format!("{self:?}"));
    }

    fn change(&mut self, probe: &Probe) {
        for (i, time) in ODD.into_iter().chain([-50.0, 1e6, 1e3, 1e9]).enumerate() {
            let (hash, n) = (probe.hashes[i], probe.counts[i % probe.counts.len()]);
            let before = self.to_bytes();
            if let Err(error) = self.insert_hash_n(hash, n, time) {
                assert!(self.to_bytes() == before, "a refused count changes something: {error}");
            } else if let Ok(estimate) = self.estimate_hash(hash, time) {
                assert!(estimate >= n as f64 * (1.0 - 1e-15), "{estimate} of {n}");
            }
        }
    }

    fn forget(&mut self) {
        self.clear();
        assert!(self.is_empty());
    }

    fn look(bytes: &[u8], decoded: Option<&Self>, probe: &Probe) {
        _ = DecayingCountMinParams::peek(bytes);
        look!(
            DecayingCountMin,
            bytes,
            decoded,
            |view| for now in ODD {
                for &hash in &probe.hashes[..8] {
                    if let (Ok(bounds), Ok(estimate)) =
                        (view.bounds_hash(hash, now), view.estimate_hash(hash, now))
                    {
                        assert_within(bounds, estimate);
                    }
                }
                _ = view.total(now);
            },
            |view, owned| for now in ODD {
                for &hash in &probe.hashes[..8] {
                    assert_eq!(view.estimate_hash(hash, now), owned.estimate_hash(hash, now));
                }
                assert_eq!(view.total(now), owned.total(now));
            },
        );
    }

    fn join(&mut self, other: &Self) -> Option<Result<(), Error>> {
        Some(self.merge(other))
    }
}
