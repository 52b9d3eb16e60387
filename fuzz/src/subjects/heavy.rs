//! Lists of frequent keys.

use std::fmt::Debug;

use pds_cms::prelude::*;

use crate::probe::{ODD, Probe, assert_within};
use crate::subject::Subject;

/// Keys of which some are of any bytes.
pub trait Keys: WireKey + Clone + Debug + Ord {
    fn keys(probe: &Probe) -> Vec<Self>;
}

impl Keys for u64 {
    fn keys(probe: &Probe) -> Vec<Self> {
        probe.keys.iter().chain(&probe.hashes).copied().collect()
    }
}

impl Keys for String {
    fn keys(probe: &Probe) -> Vec<Self> {
        let words = ["", "a", "the", "\u{0}", "\u{10ffff}"].map(Self::from);
        words.into_iter().chain(probe.hashes.iter().map(u64::to_string)).collect()
    }
}

impl Keys for Vec<u8> {
    fn keys(probe: &Probe) -> Vec<Self> {
        let long = vec![0xff; 300];
        [vec![], vec![0], long]
            .into_iter()
            .chain(probe.hashes.iter().map(|h| h.to_le_bytes().to_vec()))
            .collect()
    }
}

/// Asserts what is true of every list.
fn check_list<K: Debug>(list: &[HeavyHitter<&K>]) {
    assert!(list.is_sorted_by(|a, b| a.estimate >= b.estimate), "a list is out of order");
    for hit in list {
        assert!(hit.lower <= hit.estimate && hit.estimate <= hit.upper, "{hit:?}");
    }
}

/// What the three mergeable lists have in common; `$extra` asks what they have not.
macro_rules! lists {
    ($($list:ident, $params:ident, $extra:expr;)*) => {$(
        impl<K: Keys> Subject for $list<K> {
            fn ask(&self, probe: &Probe) {
                for key in K::keys(probe) {
                    assert_within(self.bounds(&key), self.estimate(&key));
                    _ = self.contains(&key);
                }
                for k in [0, 1, 3, usize::MAX] {
                    let top = self.top(k);
                    assert_eq!(top.len(), k.min(self.len()));
                    check_list(&top);
                    for hit in &top {
                        assert!(self.contains(hit.key));
                        assert_eq!(self.bounds(hit.key), (hit.lower, hit.upper));
                    }
                }
                for phi in ODD.into_iter().chain([0.01, 0.2]) {
                    for guarantee in [Guarantee::NoFalsePositives, Guarantee::NoFalseNegatives] {
                        if let Ok(list) = self.heavy_hitters(phi, guarantee) {
                            assert!(phi > 0.0 && phi < 1.0);
                            check_list(&list);
                        }
                    }
                }
                assert!(self.len() <= self.params().capacity_of());
                assert_eq!(self.is_empty(), self.total() == 0);
                $extra(self, probe);
                _ = (self.is_saturated(), self.size_bytes(), format!("{self:?}"));
            }

            fn change(&mut self, probe: &Probe) {
                for (i, key) in K::keys(probe).into_iter().enumerate() {
                    let n = if i % 16 == 0 { probe.counts[i / 16 % probe.counts.len()] } else { i as u64 };
                    let total = self.total();
                    self.insert_n(&key, n);
                    assert_eq!(self.total(), total.saturating_add(n));
                    assert!(self.bounds(&key).1 >= n, "{n} of {key:?} are forgotten");
                    self.insert(&key);
                }
            }

            fn forget(&mut self) {
                self.clear();
                assert!(self.is_empty());
            }

            fn look(bytes: &[u8], _decoded: Option<&Self>, _probe: &Probe) {
                _ = $params::peek(bytes);
            }

            fn join(&mut self, other: &Self) -> Option<Result<(), Error>> {
                let total = self.total().saturating_add(other.total());
                let outcome = self.merge(other);
                assert!(outcome.is_err() || self.total() == total, "the total of both is not that of the two");
                Some(outcome)
            }
        }
    )*};
}
lists! {
    SpaceSaving, SpaceSavingParams, |list: &SpaceSaving<K>, _: &Probe| {
        check_list(&list.guaranteed_top(3));
        _ = list.max_error();
    };
    MisraGries, MisraGriesParams, |list: &MisraGries<K>, _: &Probe| {
        check_list(&list.guaranteed_top(3));
        _ = list.max_error();
    };
    TopK, TopKParams, |list: &TopK<K>, probe: &Probe| {
        list.sketch().ask(probe);
        _ = list.max_unlisted();
    };
}

/// Most keys of a list.
trait Capacity {
    fn capacity_of(&self) -> usize;
}
impl Capacity for SpaceSavingParams {
    fn capacity_of(&self) -> usize {
        self.capacity() as usize
    }
}
impl Capacity for MisraGriesParams {
    fn capacity_of(&self) -> usize {
        self.capacity() as usize
    }
}
impl Capacity for TopKParams {
    fn capacity_of(&self) -> usize {
        self.k() as usize
    }
}

impl<K: Keys> Subject for HeavyKeeper<K> {
    fn ask(&self, probe: &Probe) {
        for key in K::keys(probe) {
            assert_within(self.bounds(&key), self.estimate(&key));
            _ = self.contains(&key);
        }
        for k in [0, 1, 3, usize::MAX] {
            let top = self.top(k);
            assert_eq!(top.len(), k.min(self.len()));
            check_list(&top);
            assert!(top.iter().all(|hit| self.contains(hit.key)));
        }
        for phi in ODD.into_iter().chain([0.01, 0.2]) {
            if let Ok(list) = self.heavy_hitters(phi) {
                assert!(phi > 0.0 && phi < 1.0);
                check_list(&list);
            }
        }
        assert!(self.len() <= self.params().k() as usize);
        _ = (self.is_empty(), self.is_saturated(), self.size_bytes(), format!("{self:?}"));
    }

    fn change(&mut self, probe: &Probe) {
        for (i, key) in K::keys(probe).into_iter().enumerate() {
            let n = if i % 16 == 0 { probe.counts[i / 16 % probe.counts.len()] } else { i as u64 };
            let total = self.total();
            assert_eq!(self.insert_n(&key, n), n > 0);
            assert_eq!(self.total(), total.saturating_add(n));
            self.insert(&key);
        }
    }

    fn forget(&mut self) {
        self.clear();
        assert!(self.is_empty());
    }

    fn look(bytes: &[u8], _decoded: Option<&Self>, _probe: &Probe) {
        _ = HeavyKeeperParams::peek(bytes);
    }
}
