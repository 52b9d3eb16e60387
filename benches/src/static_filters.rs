//! Filters that are built once of all their keys: ours, and each peer's, over numbers.

use std::hash::BuildHasherDefault;
use std::hint::black_box;

use pds_bloom::{BloomFilter, BloomParams};
use pds_static_filters::WyHasher;
use pds_static_filters::prelude::*;
use pds_testkit::laws;
use sux::bits::BitFieldVec;
use sux::dict::VFilter;
use sux::func::VBuilder;
use sux::utils::FromSlice;
use xorf::Filter as _;

use crate::cuckoo::Quick;
use crate::report::{Gate, Role};

/// A filter that is built and timed, over numbers that are distinct.
pub trait Static: Sized {
    /// The crate, and the kind of filter where there are several.
    const NAME: &'static str;
    /// Which part it has in a comparison.
    const ROLE: Role = Role::Peer;

    /// Built of these keys; none if it gave up.
    fn build(keys: &[u64]) -> Option<Self>;
    /// Asks for a key.
    fn contains(&self, key: u64) -> bool;
    /// Asks for many keys, and counts those found.
    fn count_batch(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|key| black_box(self.contains(**key))).count()
    }
}

/// The gate: no member denied, and strangers taken for members at most as often as asked for, by Chernoff's law.
pub fn gate<F: Static>(filter: Option<&F>, bytes: f64, members: &[u64], strangers: &[u64], fpr: f64) -> Gate {
    let Some(filter) = filter else {
        return Gate::of(f64::NAN, f64::NAN, "the build fails", laws::all_hold(1, 1));
    };
    let count = |keys: &[u64]| keys.iter().filter(|key| filter.contains(**key)).count();
    let (found, hits) = (count(members), count(strangers));
    let error = hits as f64 / strangers.len() as f64;
    if (filter.count_batch(members), filter.count_batch(strangers)) != (found, hits) {
        return Gate::of(bytes, error, "a batch answers otherwise than single calls", laws::all_hold(1, 1));
    }
    let denied = laws::all_hold((members.len() - found) as u64, members.len() as u64);
    if !denied.pass {
        return Gate::of(bytes, error, "members are denied", denied);
    }
    let rate = laws::rate_at_most(hits as u64, strangers.len() as u64, fpr);
    Gate::of(bytes, error, "the rate is above the target", rate)
}

/// Keys answered at a time in a batch.
const CHUNK: usize = 1024;

/// Counts by a batch query over hashes, which are made of keys a chunk at a time.
fn count_batch(keys: &[u64], hash: impl Fn(u64) -> u64, ask: impl Fn(&[u64], &mut [bool]) -> usize) -> usize {
    let (mut hashes, mut found) = ([0; CHUNK], [false; CHUNK]);
    let count = |chunk: &[u64]| {
        hashes.iter_mut().zip(chunk).for_each(|(to, key)| *to = hash(*key));
        let answered = ask(&hashes[..chunk.len()], &mut found);
        found[..answered].iter().filter(|&&found| found).count()
    };
    keys.chunks(CHUNK).map(count).sum()
}

/// Implements [`Static`] for one of ours over hashes made beforehand, and with keys that it hashes.
macro_rules! ours {
    ($prehashed:ident, $keyed:ident, $name:literal, $role:expr, $from_hashes:expr, $from_keys:expr) => {
        impl Static for $prehashed {
            const NAME: &'static str = $name;
            const ROLE: Role = $role;

            fn build(hashes: &[u64]) -> Option<Self> {
                $from_hashes(hashes).map(Self)
            }
            #[inline]
            fn contains(&self, hash: u64) -> bool {
                self.0.contains_hash(hash)
            }
            fn count_batch(&self, hashes: &[u64]) -> usize {
                count_batch(hashes, |hash| hash, |hashes, found| self.0.contains_batch(hashes, found))
            }
        }

        impl Static for $keyed {
            const NAME: &'static str = $name;
            const ROLE: Role = $role;

            fn build(keys: &[u64]) -> Option<Self> {
                $from_keys(keys).map(Self)
            }
            #[inline]
            fn contains(&self, key: u64) -> bool {
                self.0.contains(&key)
            }
            fn count_batch(&self, keys: &[u64]) -> usize {
                let hasher = WyHasher::default();
                count_batch(
                    keys,
                    |key| hasher.hash_key(&key),
                    |hashes, found| self.0.contains_batch(hashes, found),
                )
            }
        }
    };
}

/// Our 3-wise filter, over hashes.
pub struct Fuse(BinaryFuseFilter8);
/// Our 3-wise filter, keyed.
pub struct FuseKeyed(BinaryFuseFilter8);
ours!(
    Fuse,
    FuseKeyed,
    "pds-static-filters, 3-wise",
    Role::Ours,
    |hashes| BinaryFuseFilter8::from_hashes(hashes).ok(),
    |keys| BinaryFuseFilter8::from_keys(keys).ok()
);
/// Our 4-wise filter, over hashes.
pub struct Fuse4(BinaryFuseFilter8x4);
/// Our 4-wise filter, keyed.
pub struct Fuse4Keyed(BinaryFuseFilter8x4);
ours!(
    Fuse4,
    Fuse4Keyed,
    "pds-static-filters, 4-wise",
    Role::Variant,
    |hashes| BinaryFuseFilter8x4::from_hashes(hashes).ok(),
    |keys| BinaryFuseFilter8x4::from_keys(keys).ok()
);
/// Our 4-wise compact filter, over hashes.
pub struct Compact(BinaryFuseFilter8x4);
/// Our 4-wise compact filter, keyed.
pub struct CompactKeyed(BinaryFuseFilter8x4);
ours!(
    Compact,
    CompactKeyed,
    "pds-static-filters, 4-wise compact",
    Role::Variant,
    |hashes| BinaryFuseFilter8x4::compact_from_hashes(hashes).ok(),
    |keys| BinaryFuseFilter8x4::compact_from_keys(keys).ok()
);
/// Our xor filter, over hashes.
pub struct Xor(XorFilter8);
/// Our xor filter, keyed.
pub struct XorKeyed(XorFilter8);
ours!(
    Xor,
    XorKeyed,
    "pds-static-filters, xor",
    Role::Variant,
    |hashes| XorFilter8::from_hashes(hashes).ok(),
    |keys| XorFilter8::from_keys(keys).ok()
);
/// Our ribbon filter of 8 bits, over hashes.
pub struct Ribbon8(RibbonFilter);
/// Our ribbon filter of 8 bits, keyed.
pub struct Ribbon8Keyed(RibbonFilter);
ours!(
    Ribbon8,
    Ribbon8Keyed,
    "pds-static-filters, ribbon",
    Role::Variant,
    |hashes| RibbonFilter::from_hashes(RibbonParams::with_columns(8).ok()?, hashes).ok(),
    |keys| RibbonFilter::from_keys(RibbonParams::with_columns(8).ok()?, keys).ok()
);
/// Our ribbon filter of 1%, over hashes.
pub struct Ribbon(RibbonFilter);
/// Our ribbon filter of 1%, keyed.
pub struct RibbonKeyed(RibbonFilter);
ours!(
    Ribbon,
    RibbonKeyed,
    "pds-static-filters",
    Role::Ours,
    |hashes| RibbonFilter::from_hashes(RibbonParams::for_fpr(0.01).ok()?, hashes).ok(),
    |keys| RibbonFilter::from_keys(RibbonParams::for_fpr(0.01).ok()?, keys).ok()
);
/// Our classic filter of 1/256, over hashes.
pub struct Bloom8(BloomFilter);
/// Our classic filter of 1/256, keyed.
pub struct Bloom8Keyed(BloomFilter);
ours!(
    Bloom8,
    Bloom8Keyed,
    "pds-bloom",
    Role::Beside,
    |hashes| Some(bloom(1.0 / 256.0, hashes)),
    |keys| Some(bloom_keyed(1.0 / 256.0, keys))
);
/// Our classic filter of 1%, over hashes.
pub struct Bloom1(BloomFilter);
/// Our classic filter of 1%, keyed.
pub struct Bloom1Keyed(BloomFilter);
ours!(Bloom1, Bloom1Keyed, "pds-bloom", Role::Beside, |hashes| Some(bloom(0.01, hashes)), |keys| Some(
    bloom_keyed(0.01, keys)
));

fn bloom(fpr: f64, hashes: &[u64]) -> BloomFilter {
    let mut filter = BloomFilter::new(BloomParams::for_fpr(hashes.len() as u64, fpr).expect("usual targets"));
    filter.insert_batch(hashes);
    filter
}

fn bloom_keyed(fpr: f64, keys: &[u64]) -> BloomFilter {
    let mut filter = BloomFilter::new(BloomParams::for_fpr(keys.len() as u64, fpr).expect("usual targets"));
    filter.extend(keys);
    filter
}

/// xorf's binary fuse filter.
pub struct XorfFuse(xorf::BinaryFuse8);

impl Static for XorfFuse {
    const NAME: &'static str = "xorf BinaryFuse8";

    fn build(keys: &[u64]) -> Option<Self> {
        xorf::BinaryFuse8::try_from(keys).ok().map(Self)
    }
    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.0.contains(&key)
    }
}

/// xorf's xor filter.
pub struct XorfXor(xorf::Xor8);

impl Static for XorfXor {
    const NAME: &'static str = "xorf Xor8";

    fn build(keys: &[u64]) -> Option<Self> {
        Some(Self(xorf::Xor8::from(keys)))
    }
    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.0.contains(&key)
    }
}

/// xorfilter-rs's binary fuse filter.
pub struct XorfilterRs(xorfilter::Fuse8<BuildHasherDefault<Quick>>);

impl Static for XorfilterRs {
    const NAME: &'static str = "xorfilter-rs Fuse8";

    fn build(keys: &[u64]) -> Option<Self> {
        let mut filter = xorfilter::Fuse8::with_hasher(keys.len() as u32, BuildHasherDefault::default());
        filter.build_keys(keys).ok()?;
        Some(Self(filter))
    }
    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.0.contains_key(key)
    }
}

/// jdb_xorf's binary fuse filter.
pub struct Jdb(jdb_xorf::Bf8);

impl Static for Jdb {
    const NAME: &'static str = "jdb_xorf Bf8";

    fn build(keys: &[u64]) -> Option<Self> {
        jdb_xorf::Bf8::try_from_slice(keys).ok().map(Self)
    }
    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.0.has_key(key)
    }
    fn count_batch(&self, keys: &[u64]) -> usize {
        let ask = |keys: &[u64], found: &mut [bool]| {
            self.0.contains_batch(keys, &mut found[..keys.len()]);
            keys.len()
        };
        count_batch(keys, |key| key, ask)
    }
}

/// sux's filter of a byte a slot, built by one thread as all others are. It hashes the keys itself.
pub struct Sux(VFilter<u64, Box<[u8]>>);

impl Static for Sux {
    const NAME: &'static str = "sux VFilter, 8 bits";

    fn build(keys: &[u64]) -> Option<Self> {
        let builder = VBuilder::default().max_num_threads(1);
        let log = &mut None::<dsi_progress_logger::ProgressLogger>;
        <VFilter<u64, Box<[u8]>>>::try_new_with_builder(FromSlice::new(keys), builder, log).ok().map(Self)
    }
    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.0.contains(key)
    }
}

/// sux's filter of seven bits a slot: the fewest whole bits that keep 1%.
pub struct Sux7(VFilter<u64, BitFieldVec<Box<[usize]>>>);

impl Static for Sux7 {
    const NAME: &'static str = "sux VFilter, 7 bits";

    fn build(keys: &[u64]) -> Option<Self> {
        let builder = VBuilder::default().max_num_threads(1);
        let log = &mut None::<dsi_progress_logger::ProgressLogger>;
        type Filter = VFilter<u64, BitFieldVec<Box<[usize]>>>;
        Filter::try_new_with_builder(FromSlice::new(keys), 7, builder, log).ok().map(Self)
    }
    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.0.contains(key)
    }
}

/// ribbon-filter of 64-row windows and seven bits: the fewest whole bits that keep 1%.
pub struct PeerRibbon(ribbon_filter::RibbonFilter<BuildHasherDefault<Quick>>);

impl Static for PeerRibbon {
    const NAME: &'static str = "ribbon-filter, 7 bits";

    fn build(keys: &[u64]) -> Option<Self> {
        /// Rows beyond keys, and what they grow by when a few seeds have failed.
        const OVERHEAD: f64 = 0.15;
        const RETRIES: usize = 8;
        const GROWTHS: usize = 4;
        let mode = ribbon_filter::Mode::Standard;
        let params = ribbon_filter::Params::from_expected_items(keys.len(), OVERHEAD, 64, 7, mode).ok()?;
        let params = params.with_retry_policy(RETRIES, GROWTHS).ok()?;
        let builder = ribbon_filter::RibbonBuilder::new(params, BuildHasherDefault::default()).ok()?;
        builder.build(keys).ok().map(Self)
    }
    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.0.contains(&key)
    }
}
