//! Filters.

use pds_bloom::{
    BlockedBloomFilter, BlockedBloomParams, BloomFilter, BloomParams, CountingBloomFilter,
    CountingBloomParams, ScalableBloomFilter, ScalableBloomParams, SplitBlockBloomFilter, SplitBlockParams,
    WindowedBloomFilter, WindowedBloomParams,
};
use pds_core::Merge;
use pds_cuckoo::{CuckooFilter, CuckooParams, GrowableCuckooFilter, GrowableCuckooParams};
use pds_merge::{Error, ListHasher};
use pds_static_filters::{
    BinaryFuseFilter8, BinaryFuseFilter8x4, BinaryFuseFilter16, BinaryFuseFilter16x4, BinaryFuseFilter32,
    BinaryFuseFilter32x4, RibbonFilter, RibbonParams, XorFilter8, XorFilter16,
};

use super::Differs::{First, In, Not};
use super::{Samples, by_turn, filled};

pub(super) fn add(samples: &mut Samples) {
    bloom(samples);
    kin(samples);
    scalable(samples);
    windowed(samples);
    cuckoo(samples);
    static_filters(samples);
}

fn bloom(samples: &mut Samples) {
    fn of(params: Result<BloomParams, Error>, keys: &[u64], hasher: ListHasher) -> BloomFilter<ListHasher> {
        filled!(BloomFilter<ListHasher>, params, keys, hasher)
    }
    fn params() -> BloomParams {
        BloomParams::for_fpr(1000, 0.01).unwrap()
    }
    let merge: super::Typed<BloomFilter<ListHasher>> = Some(Merge::merge);
    samples.hashed("bloom", First, |keys, h| of(Ok(params()), keys, h), merge);
    samples.hashed(
        "bloom of 2,000 keys",
        In("bits"),
        |keys, h| of(BloomParams::for_fpr(2000, 0.01), keys, h),
        merge,
    );
    let more_probes =
        |keys: &[u64], h| of(BloomParams::with_shape(params().bits(), params().k() + 1), keys, h);
    samples.hashed("bloom, more probes", In("k"), more_probes, merge);
    let raw = |keys: &[u64], h| of(BloomParams::with_shape(params().bits(), params().k()), keys, h);
    samples.hashed("bloom, raw shape", In("design_fpr"), raw, merge);
}

/// Split-block, blocked and counting.
fn kin(samples: &mut Samples) {
    type Split = SplitBlockBloomFilter<ListHasher>;
    fn split(params: Result<SplitBlockParams, Error>, keys: &[u64], h: ListHasher) -> Split {
        filled!(Split, params, keys, h)
    }
    fn blocks() -> u64 {
        SplitBlockParams::for_fpr(1000, 0.01).unwrap().blocks()
    }
    let merge: super::Typed<Split> = Some(Merge::merge);
    samples.hashed(
        "split-block",
        First,
        |keys, h| split(SplitBlockParams::for_fpr(1000, 0.01), keys, h),
        merge,
    );
    samples.hashed(
        "split-block, more",
        In("blocks"),
        |keys, h| split(SplitBlockParams::with_shape(blocks() + 1), keys, h),
        merge,
    );
    samples.hashed(
        "split-block, raw shape",
        In("design_fpr"),
        |keys, h| split(SplitBlockParams::with_shape(blocks()), keys, h),
        merge,
    );

    type Blocked = BlockedBloomFilter<ListHasher>;
    fn blocked(params: Result<BlockedBloomParams, Error>, keys: &[u64], h: ListHasher) -> Blocked {
        filled!(Blocked, params, keys, h)
    }
    fn shape() -> BlockedBloomParams {
        BlockedBloomParams::for_fpr(1000, 0.01).unwrap()
    }
    let merge: super::Typed<Blocked> = Some(Merge::merge);
    samples.hashed("blocked", First, |keys, h| blocked(Ok(shape()), keys, h), merge);
    samples.hashed(
        "blocked, more bits",
        In("bits"),
        |keys, h| blocked(BlockedBloomParams::with_shape(shape().bits() + 512, shape().k()), keys, h),
        merge,
    );
    samples.hashed(
        "blocked, more probes",
        In("k"),
        |keys, h| blocked(BlockedBloomParams::with_shape(shape().bits(), shape().k() + 1), keys, h),
        merge,
    );
    samples.hashed(
        "blocked, raw shape",
        In("design_fpr"),
        |keys, h| blocked(BlockedBloomParams::with_shape(shape().bits(), shape().k()), keys, h),
        merge,
    );

    type Counting = CountingBloomFilter<ListHasher>;
    fn counting(params: Result<CountingBloomParams, Error>, keys: &[u64], h: ListHasher) -> Counting {
        filled!(Counting, params, keys, h)
    }
    fn counters() -> CountingBloomParams {
        CountingBloomParams::for_fpr(1000, 0.01).unwrap()
    }
    let merge: super::Typed<Counting> = Some(Merge::merge);
    samples.hashed("counting", First, |keys, h| counting(Ok(counters()), keys, h), merge);
    samples.hashed(
        "counting, more bits",
        In("bits"),
        |keys, h| counting(CountingBloomParams::with_shape(counters().bits() + 512, counters().k()), keys, h),
        merge,
    );
    samples.hashed(
        "counting, more probes",
        In("k"),
        |keys, h| counting(CountingBloomParams::with_shape(counters().bits(), counters().k() + 1), keys, h),
        merge,
    );
    samples.hashed(
        "counting, raw shape",
        In("design_fpr"),
        |keys, h| counting(CountingBloomParams::with_shape(counters().bits(), counters().k()), keys, h),
        merge,
    );
}

fn scalable(samples: &mut Samples) {
    type Scalable = ScalableBloomFilter<ListHasher>;
    fn of(params: Result<ScalableBloomParams, Error>, keys: &[u64], h: ListHasher) -> Scalable {
        filled!(Scalable, params, keys, h)
    }
    fn params() -> ScalableBloomParams {
        ScalableBloomParams::for_fpr(2000, 0.01).unwrap()
    }
    let merge: super::Typed<Scalable> = Some(Merge::merge);
    samples.hashed("scalable", First, |keys, h| of(Ok(params()), keys, h), merge);
    samples.hashed(
        "scalable, less memory",
        Not,
        |keys, h| of(params().with_max_bytes(1 << 20), keys, h),
        merge,
    );
    samples.hashed(
        "scalable, more keys",
        In("keys"),
        |keys, h| of(ScalableBloomParams::for_fpr(3000, 0.01), keys, h),
        merge,
    );
    samples.hashed(
        "scalable, lower rate",
        In("design_fpr"),
        |keys, h| of(ScalableBloomParams::for_fpr(2000, 0.001), keys, h),
        merge,
    );
    samples.hashed(
        "scalable, growing faster",
        In("growth"),
        |keys, h| of(params().with_growth(params().growth() * 2), keys, h),
        merge,
    );
    samples.hashed(
        "scalable, other shares",
        In("shares"),
        |keys, h| of(params().with_shares(params().shares() + 1), keys, h),
        merge,
    );
}

fn windowed(samples: &mut Samples) {
    type Windowed = WindowedBloomFilter<ListHasher>;
    fn of(params: Result<WindowedBloomParams, Error>, keys: &[u64], h: ListHasher) -> Windowed {
        let mut filter = Windowed::with_hasher(params.unwrap(), h.clone());
        for (i, hash) in by_turn(keys, &h) {
            filter.advance_to(i);
            filter.insert_hash(hash);
        }
        filter.advance_to(2);
        filter
    }
    fn params() -> WindowedBloomParams {
        WindowedBloomParams::for_fpr(300, 0.01, 4).unwrap()
    }
    fn shape(bits: u64, k: u32) -> Result<WindowedBloomParams, Error> {
        WindowedBloomParams::with_shape(bits, k, 4)
    }
    let merge: super::Typed<Windowed> = Some(Merge::merge);
    samples.hashed("windowed", First, |keys, h| of(Ok(params()), keys, h), merge);
    samples.hashed(
        "windowed, more generations",
        In("generations"),
        |keys, h| of(WindowedBloomParams::for_fpr(300, 0.01, 5), keys, h),
        merge,
    );
    samples.hashed(
        "windowed, more bits",
        In("bits"),
        |keys, h| of(shape(params().bits_per_generation() + 512, params().k()), keys, h),
        merge,
    );
    samples.hashed(
        "windowed, more probes",
        In("k"),
        |keys, h| of(shape(params().bits_per_generation(), params().k() + 1), keys, h),
        merge,
    );
    samples.hashed(
        "windowed, raw shape",
        In("design_fpr"),
        |keys, h| of(shape(params().bits_per_generation(), params().k()), keys, h),
        merge,
    );
    let later = |keys: &[u64], h| {
        let mut filter = of(Ok(params()), keys, h);
        filter.advance();
        filter
    };
    samples.hashed("windowed, later", In("generation"), later, merge);
}

fn cuckoo(samples: &mut Samples) {
    type Fixed = CuckooFilter<ListHasher>;
    fn fixed(params: Result<CuckooParams, Error>, keys: &[u64], h: ListHasher) -> Fixed {
        filled!(Fixed, params, keys, h)
    }
    fn shape() -> CuckooParams {
        CuckooParams::for_fpr(2000, 0.01).unwrap()
    }
    let absorb: super::Typed<Fixed> = Some(Fixed::absorb);
    samples.hashed("cuckoo", First, |keys, h| fixed(Ok(shape()), keys, h), absorb);
    samples.hashed(
        "cuckoo, more buckets",
        In("buckets"),
        |keys, h| {
            fixed(CuckooParams::with_shape(shape().buckets() + 64, shape().fingerprint_bits()), keys, h)
        },
        absorb,
    );
    samples.hashed(
        "cuckoo, more bits",
        In("fingerprint_bits"),
        |keys, h| fixed(CuckooParams::with_shape(shape().buckets(), shape().fingerprint_bits() + 1), keys, h),
        absorb,
    );

    type Growable = GrowableCuckooFilter<ListHasher>;
    fn growable(params: Result<GrowableCuckooParams, Error>, keys: &[u64], h: ListHasher) -> Growable {
        filled!(Growable, params, keys, h)
    }
    fn plan() -> GrowableCuckooParams {
        GrowableCuckooParams::for_fpr(100, 10_000, 0.01).unwrap()
    }
    fn other(buckets: u64, doublings: u32, bits: u32) -> Result<GrowableCuckooParams, Error> {
        GrowableCuckooParams::with_shape(buckets, doublings, bits)
    }
    let absorb: super::Typed<Growable> = Some(Growable::absorb);
    samples.hashed("growable", First, |keys, h| growable(Ok(plan()), keys, h), absorb);
    samples.hashed(
        "growable, more buckets",
        In("first_buckets"),
        |keys, h| {
            growable(
                other(2 * plan().first_buckets(), plan().doublings(), plan().fingerprint_bits()),
                keys,
                h,
            )
        },
        absorb,
    );
    samples.hashed(
        "growable, more doublings",
        In("doublings"),
        |keys, h| {
            growable(
                other(plan().first_buckets(), plan().doublings() + 1, plan().fingerprint_bits()),
                keys,
                h,
            )
        },
        absorb,
    );
    samples.hashed(
        "growable, more bits",
        In("fingerprint_bits"),
        |keys, h| {
            growable(
                other(plan().first_buckets(), plan().doublings(), plan().fingerprint_bits() + 1),
                keys,
                h,
            )
        },
        absorb,
    );
}

fn static_filters(samples: &mut Samples) {
    macro_rules! filters {
        ($($name:literal $differs:expr, $filter:ident;)*) => {$(
            samples.hashed($name, $differs, |keys, h| $filter::from_keys_with(keys, h).unwrap(), None);
        )*};
    }
    filters! {
        "fuse, 8 bits" First, BinaryFuseFilter8;
        "fuse, 16 bits" In("bits"), BinaryFuseFilter16;
        "fuse, 32 bits" In("bits"), BinaryFuseFilter32;
        "fuse, 4 slots of 8 bits" In("arity"), BinaryFuseFilter8x4;
        "fuse, 4 slots of 16 bits" In("arity"), BinaryFuseFilter16x4;
        "fuse, 4 slots of 32 bits" In("arity"), BinaryFuseFilter32x4;
        "xor, 8 bits" First, XorFilter8;
        "xor, 16 bits" In("bits"), XorFilter16;
    }
    let ribbon = |keys: &[u64], h| {
        RibbonFilter::from_keys_with(RibbonParams::for_fpr(0.01).unwrap(), keys, h).unwrap()
    };
    samples.hashed("ribbon", First, ribbon, None);
}
