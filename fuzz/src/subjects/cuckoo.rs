//! Cuckoo filters.

use pds_cuckoo::prelude::*;

use crate::probe::{Probe, assert_share};
use crate::subject::Subject;

macro_rules! filters {
    ($($filter:ident, $params:ident, $resize:expr;)*) => {$(
        impl Subject for $filter {
            fn ask(&self, probe: &Probe) {
                ask_membership!(self, probe);
                assert_share(self.load());
                assert_share(self.estimated_fpr());
                assert_eq!(self.is_empty(), self.len() == 0);
                _ = self.is_saturated();
                probe.counts.iter().for_each(|&keys| assert_share(self.params().fpr(keys)));
                assert!(self.params().capacity() <= self.params().slots());
                assert!(!self.is_empty() || !probe.hashes.iter().any(|&hash| self.contains_hash(hash)));
                _ = format!("{self:?}");
            }

            fn change(&mut self, probe: &Probe) {
                for &hash in &probe.hashes {
                    let (before, known) = (self.len(), self.contains_hash(hash));
                    match self.insert_hash(hash) {
                        Ok(stored) => assert!(stored && self.len() == before + 1 && self.contains_hash(hash)),
                        Err(_) => assert_eq!((self.len(), self.contains_hash(hash)), (before, known)),
                    }
                }
                for &hash in &probe.hashes {
                    let (before, known) = (self.len(), self.contains_hash(hash));
                    let removed = self.remove_hash(hash).is_ok();
                    assert_eq!(removed, known);
                    assert_eq!(self.len(), before - u64::from(removed));
                }
                $resize(self);
                for &hash in &probe.hashes[..8] {
                    let known = self.contains_hash(hash);
                    if let Ok(stored) = self.insert_unique_hash(hash) {
                        assert!(stored != known && self.contains_hash(hash));
                    }
                }
                let stored = self.insert_batch(&probe.hashes);
                assert!(probe.hashes[..stored].iter().all(|&hash| self.contains_hash(hash)));
            }

            fn forget(&mut self) {
                self.clear();
                assert!(self.is_empty());
            }

            fn look(bytes: &[u8], decoded: Option<&Self>, probe: &Probe) {
                _ = $params::peek(bytes);
                look!($filter, bytes, decoded, |view| {
                    ask_membership!(view, probe);
                    assert_share(view.estimated_fpr());
                    _ = (view.load(), view.len(), view.is_empty(), view.is_saturated());
                }, |view, owned| agree!(view, owned, probe, contains_hash;
                    len, is_empty, load, estimated_fpr, is_saturated, params));
            }

            fn join(&mut self, other: &Self) -> Option<Result<(), Error>> {
                let both = self.len() + other.len();
                let outcome = self.absorb(other);
                assert!(outcome.is_err() || self.len() == both, "an entry is lost");
                Some(outcome)
            }
        }
    )*};
}
filters! {
    CuckooFilter, CuckooParams, |_: &mut CuckooFilter| ();
    GrowableCuckooFilter, GrowableCuckooParams, |filter: &mut GrowableCuckooFilter| {
        let len = filter.len();
        _ = filter.grow();
        filter.shrink_to_fit();
        assert_eq!(filter.len(), len);
    };
}
