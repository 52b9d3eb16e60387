//! Bloom filters.

use pds_bloom::prelude::*;

use crate::probe::{Probe, assert_count, assert_share};
use crate::subject::Subject;

/// Asks about what every filter of this family measures of itself.
macro_rules! ask_measures {
    ($filter:expr) => {{
        assert_share($filter.fill_ratio());
        assert_share($filter.estimated_fpr());
        _ = $filter.is_saturated();
    }};
}

/// What the three plain filters have in common.
macro_rules! plain {
    ($($filter:ident, $params:ident;)*) => {$(
        impl Subject for $filter {
            fn ask(&self, probe: &Probe) {
                ask_membership!(self, probe);
                ask_measures!(self);
                assert_count(self.estimated_len());
                assert_eq!(self.size_bytes() as u64, self.params().size_bytes());
                probe.counts.iter().for_each(|&keys| assert_share(self.params().fpr(keys)));
                probe.counts.iter().for_each(|&keys| assert_share(self.params().fill(keys)));
                assert!(!self.is_empty() || self.fill_ratio() == 0.0);
                _ = format!("{self:?}");
            }

            fn change(&mut self, probe: &Probe) {
                for &hash in &probe.hashes[..8] {
                    assert_ne!(self.contains_hash(hash), self.insert_hash(hash));
                    assert!(self.contains_hash(hash));
                }
                self.insert_batch(&probe.hashes);
                self.extend(probe.keys);
                let mut found = vec![false; probe.hashes.len()];
                self.contains_batch(&probe.hashes, &mut found);
                assert!(found.iter().all(|&found| found), "a key is forgotten");
            }

            fn forget(&mut self) {
                self.clear();
                assert!(self.is_empty());
            }

            fn look(bytes: &[u8], decoded: Option<&Self>, probe: &Probe) {
                _ = $params::peek(bytes);
                look!($filter, bytes, decoded, |view| {
                    ask_membership!(view, probe);
                    ask_measures!(view);
                    assert_count(view.estimated_len());
                }, |view, owned| agree!(view, owned, probe, contains_hash;
                    fill_ratio, estimated_len, estimated_fpr, is_saturated, params));
            }

            fn join(&mut self, other: &Self) -> Option<Result<(), Error>> {
                let bytes = self.to_bytes();
                let mut common = Self::from_bytes(&bytes).expect("its own bytes");
                if common.intersect(other).is_err() {
                    assert!(common.to_bytes() == bytes, "a refused intersection changes something");
                }
                common.ask(&Probe::of(&bytes));
                Some(self.merge(other))
            }
        }
    )*};
}
plain! {
    BloomFilter, BloomParams;
    BlockedBloomFilter, BlockedBloomParams;
    SplitBlockBloomFilter, SplitBlockParams;
}

impl Subject for CountingBloomFilter {
    fn ask(&self, probe: &Probe) {
        ask_membership!(self, probe);
        ask_measures!(self);
        assert_count(self.estimated_len());
        _ = self.saturated_cells();
        let blocked = self.to_blocked();
        agree!(blocked, self, probe, contains_hash; fill_ratio, estimated_len, estimated_fpr);
        _ = format!("{self:?}");
    }

    fn change(&mut self, probe: &Probe) {
        for &hash in &probe.hashes[..8] {
            let absent = !self.contains_hash(hash);
            assert_eq!(self.remove_hash(hash).is_err(), absent);
            self.insert_hash(hash);
            assert!(self.contains_hash(hash));
        }
        self.insert_batch(&probe.hashes);
        assert!(probe.hashes.iter().all(|&hash| self.contains_hash(hash)), "a key is forgotten");
        for &hash in &probe.hashes {
            assert_eq!(self.remove_hash(hash), Ok(()));
        }
        self.extend(probe.keys);
    }

    fn forget(&mut self) {
        self.clear();
        assert!(self.is_empty());
    }

    fn look(bytes: &[u8], decoded: Option<&Self>, probe: &Probe) {
        _ = CountingBloomParams::peek(bytes);
        look!(
            CountingBloomFilter,
            bytes,
            decoded,
            |view| {
                ask_membership!(view, probe);
                ask_measures!(view);
                assert_count(view.estimated_len());
                _ = view.saturated_cells();
            },
            |view, owned| agree!(view, owned, probe, contains_hash;
                fill_ratio, estimated_len, estimated_fpr, is_saturated, saturated_cells, params)
        );
    }

    fn join(&mut self, other: &Self) -> Option<Result<(), Error>> {
        Some(self.merge(other))
    }
}

impl Subject for ScalableBloomFilter {
    fn ask(&self, probe: &Probe) {
        ask_membership!(self, probe);
        ask_measures!(self);
        assert_count(self.estimated_len());
        assert!(self.layers() >= 1 && self.capacity() >= 1 || self.params().keys() == 0);
        probe.counts.iter().for_each(|&keys| _ = self.params().size_bytes(keys));
        _ = format!("{self:?}");
    }

    fn change(&mut self, probe: &Probe) {
        for &hash in &probe.hashes[..8] {
            let known = self.contains_hash(hash);
            if let Ok(changed) = self.insert_hash(hash) {
                assert!(changed != known && self.contains_hash(hash));
            }
        }
        if self.insert_batch(&probe.hashes).is_ok() {
            assert!(probe.hashes.iter().all(|&hash| self.contains_hash(hash)), "a key is forgotten");
        }
        _ = self.try_extend(probe.keys);
    }

    fn forget(&mut self) {
        self.clear();
        assert!(self.is_empty() && self.layers() == 1);
    }

    fn look(bytes: &[u8], decoded: Option<&Self>, probe: &Probe) {
        _ = ScalableBloomParams::peek(bytes);
        look!(
            ScalableBloomFilter,
            bytes,
            decoded,
            |view| {
                ask_membership!(view, probe);
                ask_measures!(view);
                assert_count(view.estimated_len());
            },
            |view, owned| agree!(view, owned, probe, contains_hash;
                fill_ratio, estimated_len, estimated_fpr, is_saturated, capacity, layers, params)
        );
    }

    fn join(&mut self, other: &Self) -> Option<Result<(), Error>> {
        Some(self.merge(other))
    }
}

impl Subject for WindowedBloomFilter {
    fn ask(&self, probe: &Probe) {
        ask_membership!(self, probe);
        ask_measures!(self);
        let generations = self.params().generations();
        for &hash in &probe.hashes {
            let age = self.age_hash(hash);
            assert_eq!(age.is_some(), self.contains_hash(hash));
            assert!(age.is_none_or(|age| age < generations));
        }
        for age in [0, 1, generations - 1, generations, u32::MAX] {
            assert_eq!(self.estimated_len_of(age).is_some(), age < generations);
            self.estimated_len_of(age).into_iter().for_each(assert_count);
        }
        _ = format!("{self:?}");
    }

    fn change(&mut self, probe: &Probe) {
        for &hash in &probe.hashes[..8] {
            self.insert_hash(hash);
            assert_eq!(self.age_hash(hash), Some(0));
            self.advance();
        }
        self.insert_batch(&probe.hashes);
        assert!(probe.hashes.iter().all(|&hash| self.age_hash(hash) == Some(0)), "a key is forgotten");
        for by in probe.counts {
            self.advance_to(self.generation().saturating_add(by));
            self.extend(probe.keys);
        }
    }

    fn forget(&mut self) {
        self.clear();
        assert!(self.is_empty());
    }

    fn look(bytes: &[u8], decoded: Option<&Self>, probe: &Probe) {
        _ = WindowedBloomParams::peek(bytes);
        look!(
            WindowedBloomFilter,
            bytes,
            decoded,
            |view| {
                ask_membership!(view, probe);
                ask_measures!(view);
                for age in [0, 1, u32::MAX] {
                    view.estimated_len_of(age).into_iter().for_each(assert_count);
                }
            },
            |view, owned| agree!(view, owned, probe, contains_hash, age_hash;
                generation, fill_ratio, estimated_fpr, is_saturated, params)
        );
    }

    fn join(&mut self, other: &Self) -> Option<Result<(), Error>> {
        Some(self.merge(other))
    }
}
