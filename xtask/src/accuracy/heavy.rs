//! The four structures that list frequent keys, through one interface, at equal bytes.

use pds_cms::{
    CountMinParams, Guarantee, HeavyHitter, HeavyKeeper, HeavyKeeperParams, MisraGries, MisraGriesParams,
    SpaceSaving, SpaceSavingParams, TopK, TopKParams,
};

/// Keys that lists are to find.
pub(super) const K: u32 = 100;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    SpaceSaving,
    MisraGries,
    TopK,
    HeavyKeeper,
}

pub(super) const KINDS: [Kind; 4] = [Kind::SpaceSaving, Kind::MisraGries, Kind::TopK, Kind::HeavyKeeper];

/// Rows of the sketch beside a top-k list.
const ROWS: u32 = 4;

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::SpaceSaving => "SpaceSaving",
            Self::MisraGries => "Misra-Gries",
            Self::TopK => "top-k",
            Self::HeavyKeeper => "HeavyKeeper",
        }
    }

    /// The largest structure of this kind within so many bytes.
    pub(super) fn within(self, bytes: u64) -> Box<dyn Summary> {
        match self {
            Self::SpaceSaving => {
                let params = |capacity| SpaceSavingParams::with_capacity(capacity).ok();
                Box::new(SpaceSaving::new(largest(bytes, params, SpaceSavingParams::size_bytes::<u64>)))
            }
            Self::MisraGries => {
                let params = |capacity| MisraGriesParams::with_capacity(capacity).ok();
                Box::new(MisraGries::new(largest(bytes, params, MisraGriesParams::size_bytes::<u64>)))
            }
            Self::TopK => {
                let params = |width| {
                    let sketch = CountMinParams::with_shape(u64::from(width), ROWS).ok()?;
                    TopKParams::with_sketch(K, sketch).ok()
                };
                Box::new(TopK::new(largest(bytes, params, TopKParams::size_bytes::<u64>)))
            }
            Self::HeavyKeeper => {
                let params = |buckets| HeavyKeeperParams::with_shape(K, buckets).ok();
                Box::new(HeavyKeeper::new(largest(bytes, params, HeavyKeeperParams::size_bytes::<u64>)))
            }
        }
    }
}

/// The parameters of the greatest number that keeps within so many bytes.
fn largest<P>(bytes: u64, params: impl Fn(u32) -> Option<P>, size: impl Fn(&P) -> u64) -> P {
    let fits = |number: u32| params(number).is_some_and(|params| size(&params) <= bytes);
    let (mut good, mut bad) = (0, 1 << 24);
    while bad - good > 1 {
        let middle = u32::midpoint(good, bad);
        *(if fits(middle) { &mut good } else { &mut bad }) = middle;
    }
    params(good).expect("room for one")
}

/// What the structures have in common.
pub(super) trait Summary {
    fn insert(&mut self, key: u64);
    fn bounds(&self, key: u64) -> (u64, u64);
    fn lists(&self, key: u64) -> bool;
    /// Keys and estimates, the greatest first.
    fn top(&self, k: usize) -> Vec<(u64, u64)>;
    /// Those of the first `k` that certainly are, if that can be known.
    fn guaranteed_top(&self, k: usize) -> Option<Vec<u64>>;
    /// The keys above a share of the total; `None` where they cannot be listed so.
    fn above(&self, phi: f64, guarantee: Guarantee) -> Option<Vec<u64>>;
    /// The most that a key which is not listed may have occurred, if that is known.
    fn unlisted(&self) -> Option<u64>;
    /// The bound of the error, and the chance for each key of a larger one: 0 where it is certain.
    fn promise(&self) -> Option<(u64, f64)>;
    /// How large it is, in words.
    fn shape(&self) -> String;
    /// The chance that some other of so many keys has the place and fingerprint of a key, which may then be given as more.
    fn mistaken(&self, _keys: u64) -> f64 {
        0.0
    }
}

fn keys(hits: &[HeavyHitter<&u64>]) -> Vec<u64> {
    hits.iter().map(|hit| *hit.key).collect()
}

fn pairs(hits: &[HeavyHitter<&u64>]) -> Vec<(u64, u64)> {
    hits.iter().map(|hit| (*hit.key, hit.estimate)).collect()
}

macro_rules! common {
    () => {
        fn insert(&mut self, key: u64) {
            self.insert(&key);
        }
        fn bounds(&self, key: u64) -> (u64, u64) {
            self.bounds(&key)
        }
        fn lists(&self, key: u64) -> bool {
            self.contains(&key)
        }
        fn top(&self, k: usize) -> Vec<(u64, u64)> {
            pairs(&self.top(k))
        }
    };
}

macro_rules! counters {
    ($type:ty) => {
        impl Summary for $type {
            common!();
            fn guaranteed_top(&self, k: usize) -> Option<Vec<u64>> {
                Some(keys(&self.guaranteed_top(k)))
            }
            fn above(&self, phi: f64, guarantee: Guarantee) -> Option<Vec<u64>> {
                self.heavy_hitters(phi, guarantee).ok().map(|hits| keys(&hits))
            }
            fn unlisted(&self) -> Option<u64> {
                Some(self.max_error())
            }
            fn promise(&self) -> Option<(u64, f64)> {
                Some((self.params().error_bound(self.total()), 0.0))
            }
            fn shape(&self) -> String {
                format!("{} counters", self.params().capacity())
            }
        }
    };
}

counters!(SpaceSaving<u64>);
counters!(MisraGries<u64>);

impl Summary for TopK<u64> {
    common!();
    fn guaranteed_top(&self, _: usize) -> Option<Vec<u64>> {
        None
    }
    fn above(&self, phi: f64, guarantee: Guarantee) -> Option<Vec<u64>> {
        self.heavy_hitters(phi, guarantee).ok().map(|hits| keys(&hits))
    }
    fn unlisted(&self) -> Option<u64> {
        Some(self.max_unlisted())
    }
    fn promise(&self) -> Option<(u64, f64)> {
        let sketch = self.params().sketch();
        Some((sketch.error_bound(self.total()), sketch.delta()))
    }
    fn shape(&self) -> String {
        let sketch = self.params().sketch();
        format!("{} keys, {} x {} cells", self.params().k(), sketch.width(), sketch.depth())
    }
}

impl Summary for HeavyKeeper<u64> {
    common!();
    fn guaranteed_top(&self, _: usize) -> Option<Vec<u64>> {
        None
    }
    fn above(&self, phi: f64, guarantee: Guarantee) -> Option<Vec<u64>> {
        let hits = (guarantee == Guarantee::NoFalsePositives).then(|| self.heavy_hitters(phi))?.ok()?;
        Some(keys(&hits))
    }
    fn unlisted(&self) -> Option<u64> {
        None
    }
    fn promise(&self) -> Option<(u64, f64)> {
        None
    }
    fn shape(&self) -> String {
        format!("{} keys, {} x 8 cells", self.params().k(), self.params().buckets())
    }
    fn mistaken(&self, keys: u64) -> f64 {
        const FINGERPRINTS: f64 = 4_294_967_296.0;
        keys as f64 / (f64::from(self.params().buckets()) * FINGERPRINTS)
    }
}
