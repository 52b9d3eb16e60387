//! A program without std over every crate without default features.
//!
//! It has its own panic handler and allocator. Should any crate bring in std, both would be defined twice and it would
//! not link; so would a call into std from a feature that leaks in.

#![no_std]
#![no_main]

extern crate alloc;

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicUsize, Ordering};

use pds_bloom::prelude::*;
use pds_bloom::{ParquetHasher, WyHasher};
use pds_cms::{CountMinParams, CountMinSketch};
use pds_core::{Error, Merge, Sketch};
use pds_cuckoo::{CuckooFilter, CuckooParams, GrowableCuckooFilter, GrowableCuckooParams};
use pds_hash::{KeyHasher, SipHasher};
use pds_hll::{HllParams, HyperLogLog};
use pds_quantiles::{DDSketch, DDSketchParams, QuantileSketch, Quantiles};
use pds_static_filters::{BinaryFuseFilter8, RibbonFilter, RibbonParams};
use pds_theta::{ThetaParams, ThetaSketch};

/// Hands out a static arena, and takes nothing back.
struct Arena;

const ARENA_BYTES: usize = 1 << 20;

static mut ARENA: [u8; ARENA_BYTES] = [0; ARENA_BYTES];
static USED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call gets bytes that no other call got: `USED` only grows, by at least what is handed out.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let room = layout.size() + layout.align();
        let start = USED.fetch_add(room, Ordering::Relaxed);
        if start + room > ARENA_BYTES {
            return core::ptr::null_mut();
        }
        let base = (&raw mut ARENA).cast::<u8>().wrapping_add(start);
        base.wrapping_add(base.align_offset(layout.align()))
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static ALLOCATOR: Arena = Arena;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}

/// The compiled `alloc` of hosted targets names this symbol; with `panic = "abort"` nothing calls it. std defines it
/// too, so that std cannot come in unnoticed.
#[cfg(not(target_os = "none"))]
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// As the one above; `alloc` has it in what formats text.
#[cfg(not(target_os = "none"))]
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    loop {}
}

/// Every structure, once through: insert, ask, merge, bytes.
fn exercise() -> Result<bool, Error> {
    let hasher = SipHasher::new([7; 16]);
    let mut bloom = BloomFilter::with_hasher(BloomParams::for_fpr(100, 0.01)?, hasher);
    bloom.insert("key");
    bloom.merge(&bloom.clone())?;
    let found = BloomFilter::view_with(&bloom.to_bytes(), hasher)?.contains("key");

    let mut distinct = HyperLogLog::new(HllParams::with_precision(6)?);
    distinct.insert_hash(hasher.hash_key(&1u64));
    distinct.merge(&distinct.clone())?;
    let counted = HyperLogLog::from_bytes(&distinct.to_bytes())?.estimate() > 0.5;

    let mut counts = CountMinSketch::<u32>::new(CountMinParams::for_error(0.1, 0.1)?);
    counts.insert("key");
    counts.merge(&counts.clone())?;
    let twice = CountMinSketch::<u32>::from_bytes(&counts.to_bytes())?.estimate("key") == 2;
    Ok(found
        && counted
        && twice
        && family()?
        && cuckoo()?
        && fixed_sets()?
        && sets()?
        && quantiles()?
        && merges()?)
}

/// The cuckoo filters.
fn cuckoo() -> Result<bool, Error> {
    let mut fixed = CuckooFilter::new(CuckooParams::for_fpr(100, 0.01)?);
    fixed.insert("key")?;
    fixed.absorb(&fixed.clone())?;
    fixed.remove("key")?;
    let mut growing = GrowableCuckooFilter::new(GrowableCuckooParams::for_fpr(10, 1000, 0.01)?);
    for key in 0..500u32 {
        growing.insert(&key)?;
    }
    let kept = CuckooFilter::view(&fixed.to_bytes())?.contains("key")
        && GrowableCuckooFilter::from_bytes(&growing.to_bytes())?.contains(&7u32);
    fixed.remove("key")?;
    Ok(kept && fixed.is_empty() && growing.doublings() > 0)
}

/// The other Bloom filters.
fn family() -> Result<bool, Error> {
    let mut blocked = BlockedBloomFilter::new(BlockedBloomParams::for_fpr(100, 0.01)?);
    blocked.insert("key");
    let mut split_block =
        SplitBlockBloomFilter::with_hasher(SplitBlockParams::for_fpr(100, 0.01)?, ParquetHasher);
    split_block.insert_i32(7);
    let mut counting = CountingBloomFilter::new(CountingBloomParams::for_fpr(100, 0.01)?);
    counting.insert("key");
    counting.remove("key")?;
    let mut scalable = ScalableBloomFilter::new(ScalableBloomParams::for_fpr(10, 0.01)?);
    for key in 0..100u32 {
        scalable.insert(&key)?;
    }
    let mut windowed = WindowedBloomFilter::new(WindowedBloomParams::for_fpr(100, 0.01, 3)?);
    windowed.insert("key");
    windowed.advance();
    let atomic = AtomicBloomFilter::from(BloomFilter::<WyHasher>::new(BloomParams::for_fpr(100, 0.01)?));
    atomic.insert("key");
    let kept = BlockedBloomFilter::view(&blocked.to_bytes())?.contains("key")
        && SplitBlockBloomFilter::from_bitset(&split_block.to_bitset(), ParquetHasher)?.contains_i32(7)
        && ScalableBloomFilter::from_bytes(&scalable.to_bytes())?.contains(&7u32)
        && WindowedBloomFilter::from_bytes(&windowed.to_bytes())?.age("key") == Some(1)
        && atomic.contains("key");
    Ok(kept && counting.is_empty())
}

/// The quantile sketches.
fn quantiles() -> Result<bool, Error> {
    let mut sketch = DDSketch::new(DDSketchParams::for_accuracy(0.01)?);
    sketch.insert(2.0);
    sketch.insert_n(-1e300, 2)?;
    sketch.merge(&sketch.clone())?;
    Ok(DDSketch::view(&sketch.to_bytes())?.quantile(1.0) == Some(2.0))
}

/// The static filters.
fn fixed_sets() -> Result<bool, Error> {
    let fuse = BinaryFuseFilter8::from_keys(["key", "other"])?;
    let fixed = BinaryFuseFilter8::view(&fuse.to_bytes())?.contains("key");
    let ribbon = RibbonFilter::from_keys(RibbonParams::for_fpr(0.01)?, ["key", "other"])?;
    Ok(fixed && ribbon.contains("key"))
}

/// Sets of keys, counted.
fn sets() -> Result<bool, Error> {
    let mut few = ThetaSketch::new(ThetaParams::with_lg_k(5)?);
    few.extend(0..10u8);
    let mut many = few.clone();
    many.extend(0..100u8);
    many.merge(&few)?;
    let bytes = few.to_bytes();
    let both = pds_theta::intersection(&[&many, &ThetaSketch::view(&bytes)?])?;
    Ok(both.bounds(2.0).1 <= 10.0 && pds_theta::difference(&few, &[&few])?.is_empty())
}

/// Lists of sketches, and bytes of a kind that only they tell.
fn merges() -> Result<bool, Error> {
    let merged = pds_merge::Merged { sketch: Some(1), taken: 1, refused: alloc::vec::Vec::new() };
    let mut few = HyperLogLog::new(HllParams::with_precision(6)?);
    few.insert("key");
    let bytes = few.to_bytes();
    let same = pds_merge::merge_bytes([&bytes, &bytes]).is_ok_and(|both| both == bytes);
    let described = pds_merge::AnySketch::from_bytes(&bytes)?.describe().encoded_bytes == bytes.len();
    Ok(merged.all() == Ok(Some(1)) && same && described)
}

/// 0 if every answer is right.
#[unsafe(no_mangle)]
pub extern "C" fn main() -> i32 {
    i32::from(!exercise().unwrap_or(false))
}
