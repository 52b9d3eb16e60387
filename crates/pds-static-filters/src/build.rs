//! From hashes to slots: seeds, attempts, shards.

use alloc::vec;
use alloc::vec::Vec;

use pds_hash::reduce;

use crate::layout::sealed::Layout;
use crate::partition::partition;
use crate::peel::Peeler;
use crate::seeds::{attempt_seed, attempted, digest};
use crate::slot::Slot;
use crate::{Error, augment, limits};

/// Seeds tried before a build is given up. One attempt in four fails at the worst sizes (4 keys of 4 slots each); later ones
/// are given more slots.
pub(crate) const MAX_ATTEMPTS: u32 = 64;

/// A solved filter.
pub(crate) struct Built<L> {
    /// Distinct hashes.
    pub(crate) keys: u64,
    pub(crate) layout: L,
    pub(crate) seed: u64,
    pub(crate) slots: Vec<u8>,
}

/// Solves for these hashes, which may repeat, in the shape for the number of distinct ones.
pub(crate) fn build<L: Layout, S: Slot>(
    hashes: &[u64],
    shape: impl Fn(u64) -> Result<L, Error>,
) -> Result<Built<L>, Error> {
    // That no hash repeats is not looked for but found out: repeated ones never peel.
    if let Some(built) = attempt::<L, S>(hashes, shape(hashes.len() as u64)?, attempt_seed(0, || 0)) {
        return Ok(built);
    }
    let distinct = distinct(hashes);
    // Without repeats the first attempt would fail again.
    let failed = u32::from(distinct.len() == hashes.len());
    build_distinct::<L, S>(&distinct, shape, failed)
}

/// The hashes in order, each once.
pub(crate) fn distinct(hashes: &[u64]) -> Vec<u64> {
    let mut distinct = hashes.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    distinct
}

/// Tries one seed after the other, but for so many that failed already. The hashes are in order.
fn build_distinct<L: Layout, S: Slot>(
    hashes: &[u64],
    shape: impl Fn(u64) -> Result<L, Error>,
    failed: u32,
) -> Result<Built<L>, Error> {
    let first = shape(hashes.len() as u64)?;
    let mut known = None;
    (failed..MAX_ATTEMPTS)
        .find_map(|number| {
            let seed = attempt_seed(number, || *known.get_or_insert_with(|| digest(hashes)));
            attempt::<L, S>(hashes, first.for_attempt(number), seed)
        })
        .ok_or(Error::Construction { attempts: MAX_ATTEMPTS })
}

/// One attempt; none if it fails. Its result depends on the set of hashes alone, not on their order.
pub(crate) fn attempt<L: Layout, S: Slot>(hashes: &[u64], layout: L, seed: u64) -> Option<Built<L>> {
    let shards = layout.shards() as usize;
    let shard_bytes = layout.shard_slots() as usize * S::BYTES;
    // A later attempt has more slots than the first, which was found to fit.
    limits::allocatable(u128::from(layout.shards()) * u128::from(layout.shard_slots()) * S::BYTES as u128)
        .ok()?;
    let mut slots = vec![0; shards * shard_bytes];
    let placed = hashes.iter().map(|&hash| attempted(hash, seed));
    let solved = match shards {
        0 => hashes.is_empty(),
        1 => Solver::new(&layout).solve::<S>(placed, &mut slots),
        _ => {
            let mut routed = vec![0; hashes.len()];
            let bounds = partition(placed, &mut routed, shards, |hash| layout.route(hash).0 as usize);
            each_shard::<L, S>(&layout, &routed, &bounds, &mut slots, shard_bytes)
        }
    };
    solved.then_some(Built { keys: hashes.len() as u64, layout, seed, slots })
}

#[cfg(not(feature = "rayon"))]
fn each_shard<L: Layout, S: Slot>(
    layout: &L,
    routed: &[u64],
    bounds: &[usize],
    slots: &mut [u8],
    shard_bytes: usize,
) -> bool {
    let mut solver = Solver::new(layout);
    slots
        .chunks_exact_mut(shard_bytes)
        .zip(bounds.windows(2))
        .all(|(slots, bounds)| solver.solve::<S>(routed[bounds[0]..bounds[1]].iter().copied(), slots))
}

/// The shards are the same as without threads, and so are their bytes.
#[cfg(feature = "rayon")]
fn each_shard<L: Layout, S: Slot>(
    layout: &L,
    routed: &[u64],
    bounds: &[usize],
    slots: &mut [u8],
    shard_bytes: usize,
) -> bool {
    use rayon::prelude::*;

    slots
        .par_chunks_exact_mut(shard_bytes)
        .zip(bounds.par_windows(2))
        .map_init(
            || Solver::new(layout),
            |solver, (slots, bounds)| solver.solve::<S>(routed[bounds[0]..bounds[1]].iter().copied(), slots),
        )
        .reduce(|| true, |left, right| left && right)
}

/// Solves shards of one layout, in memory that is used again.
struct Solver<'a, L> {
    layout: &'a L,
    peeler: Peeler,
    keys: Vec<u64>,
}

/// Keys of a part: so few that the slots they fall on stay in the first caches, so many that the parts' ends fit there.
const PART_KEYS: usize = 1 << 11;

impl<'a, L: Layout> Solver<'a, L> {
    fn new(layout: &'a L) -> Self {
        Self { layout, peeler: Peeler::default(), keys: Vec::new() }
    }

    /// Whether the seeded hashes of a shard could be solved.
    fn solve<S: Slot>(
        &mut self,
        hashes: impl ExactSizeIterator<Item = u64> + Clone,
        slots: &mut [u8],
    ) -> bool {
        let count = hashes.len();
        self.keys.clear();
        self.keys.resize(count, 0);
        let layout = self.layout;
        let parts = count.div_ceil(PART_KEYS).max(1);
        partition(hashes.clone(), &mut self.keys, parts, |hash| {
            reduce(layout.route(hash).1, parts as u64) as usize
        });
        self.peeler.reset(layout.shard_slots() as usize, count);
        let Some(out) = self.peeler.peel(layout, &mut self.keys) else { return false };
        if out < count {
            let Some(out) = self.augment::<S>(out, hashes, slots) else { return false };
            self.keys.truncate(out);
        }
        self.peeler.fill::<L, S>(layout, &self.keys, slots);
        true
    }

    /// Goes on where peeling ended, and gives values to slots that are no key's own; how many keys are out in the end.
    #[cold]
    fn augment<S: Slot>(
        &mut self,
        out: usize,
        hashes: impl Iterator<Item = u64>,
        slots: &mut [u8],
    ) -> Option<usize> {
        let layout = self.layout;
        // The slot of its own of a key that is out has no key any more.
        let is_in = |&hash: &u64| {
            let places = layout.places(hash, layout.route(hash).1);
            places.as_ref().iter().all(|&place| self.peeler.keys_at(place as usize) > 0)
        };
        let mut rest: Vec<u64> = hashes.filter(is_in).collect();
        rest.sort_unstable();
        let aside = augment::peel(&mut self.peeler, layout, &mut self.keys, out, &rest)?;
        let out = self.keys.len() - aside.len();
        aside.solve::<L, S>(&self.peeler, layout, &self.keys[..out], slots).then_some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BinaryFuse;
    use crate::seeds::seeded;

    fn hashes(count: u64) -> Vec<u64> {
        (0..count).map(|i| seeded(i, 1)).collect()
    }

    #[test]
    fn memory_that_a_failed_attempt_used_serves_the_next_like_new() {
        let layout = BinaryFuse::<3>::for_keys(3000).expect("a shape");
        let bytes = layout.shard_slots() as usize;
        let good = hashes(3000);
        let mut fresh = vec![0; bytes];
        assert!(Solver::new(&layout).solve::<u8>(good.iter().copied(), &mut fresh));
        let mut solver = Solver::new(&layout);
        for bad in [vec![good[5]; 3000], [&good[..], &good[7..8]].concat(), hashes(5000)] {
            assert!(!solver.solve::<u8>(bad.iter().copied(), &mut vec![0; bytes]));
            let mut again = vec![0; bytes];
            assert!(solver.solve::<u8>(good.iter().copied(), &mut again));
            assert!(again == fresh);
        }
    }

    #[test]
    fn every_attempt_has_its_seed_and_a_shape_that_holds_the_keys() {
        let first = BinaryFuse::<4>::for_keys(12_345).expect("a shape");
        let seeds: alloc::collections::BTreeSet<u64> =
            (0..MAX_ATTEMPTS).map(|attempt| attempt_seed(attempt, || 7)).collect();
        assert_eq!(seeds.len(), MAX_ATTEMPTS as usize);
        let slots = |attempt| first.for_attempt(attempt).shard_slots();
        assert!((1..MAX_ATTEMPTS).all(|attempt| slots(attempt) * 20 > slots(0) * 19));
        assert!(slots(MAX_ATTEMPTS - 1) > 2 * slots(0), "the last have room to spare");
        for attempt in 0..MAX_ATTEMPTS {
            let hashes = hashes(12_345);
            let built =
                super::attempt::<_, u8>(&hashes, first.for_attempt(attempt), attempt_seed(attempt, || 7));
            if let Some(built) = built {
                let slots = crate::arch::Slots::<_, u8, _>::new(built.layout, &built.slots);
                assert!(hashes.iter().all(|&hash| slots.contain(attempted(hash, built.seed))));
            } else {
                // Half the segment is too short for 4 slots a key more often than not.
                assert!(attempt % 4 == 1, "attempt {attempt}");
            }
        }
    }

    #[test]
    fn hopeless_hashes_end_in_an_error() {
        // No seed tells equal hashes apart.
        assert!((0..MAX_ATTEMPTS).all(|number| {
            attempt::<BinaryFuse<3>, u8>(
                &[1, 1],
                BinaryFuse::for_keys(2).expect("a shape").for_attempt(number),
                attempt_seed(number, || 7),
            )
            .is_none()
        }));
        assert_eq!(
            build_distinct::<BinaryFuse<3>, u8>(&[1, 1], BinaryFuse::for_keys, 0).err(),
            Some(Error::Construction { attempts: 64 })
        );
    }
}
