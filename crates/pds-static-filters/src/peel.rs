//! Peeling: an order in which each key still has a slot that no later key uses.
//!
//! Every slot keeps the number of its keys, and the xor of their hashes: a slot with one key left names that key. It is taken
//! out, which leaves other slots with one key, and so on. In the reverse order the slots are given their values: the
//! last key out is the first to be served, and its slot is none of the keys that are served already.

use alloc::vec::Vec;

use crate::layout::sealed::Layout;
use crate::slot::sealed::Slot;

/// One key in a counter; below it, two bits hold the xor of the positions that the slot has among its keys' places.
const ONE: u8 = 4;

/// Slots that are looked through before the keys found are taken out. It decides which slot becomes whose: another number
/// gives other bytes.
const BLOCK: usize = 1 << 10;

/// Memory of one shard while it is solved: 9 bytes a slot, and 9 a key (8 of them by the caller).
#[derive(Default)]
pub(crate) struct Peeler {
    /// Number of keys, and xor of positions.
    counts: Vec<u8>,
    /// Xor of the hashes.
    hashes: Vec<u64>,
    /// For each key that is out: which of its places was its own.
    own: Vec<u8>,
    /// Slots that were seen with one key, each once.
    queue: Vec<u32>,
}

impl Peeler {
    /// Clears everything, for another shard or attempt.
    pub(crate) fn reset(&mut self, slots: usize, keys: usize) {
        self.counts.clear();
        self.counts.resize(slots, 0);
        self.hashes.clear();
        self.hashes.resize(slots, 0);
        self.own.clear();
        self.own.resize(keys, 0);
        self.queue.resize(slots + 1, 0);
    }

    /// Overwrites the keys (seeded hashes of one shard) by themselves in the order in which they come out; false if some do
    /// not, as equal ones never do.
    pub(crate) fn peel<L: Layout>(&mut self, layout: &L, keys: &mut [u64]) -> bool {
        if !self.count(layout, keys) {
            return false;
        }
        let slots = self.counts.len();
        let (counts, hashes, queue) =
            (&mut self.counts[..], &mut self.hashes[..slots], &mut self.queue[..=slots]);
        let own = &mut self.own[..keys.len()];
        let (mut head, mut tail, mut out) = (0, 0, 0);
        for start in (0..slots).step_by(BLOCK) {
            let end = (start + BLOCK).min(slots);
            for (slot, count) in (start..).zip(&counts[start..end]) {
                queue[tail] = slot as u32;
                tail += usize::from(count / ONE == 1);
            }
            while head < tail {
                let slot = queue[head] as usize;
                head += 1;
                let count = counts[slot];
                if count / ONE != 1 {
                    continue;
                }
                let hash = hashes[slot];
                let first = count % ONE;
                own[out] = first;
                keys[out] = hash;
                out += 1;
                counts[slot] = 0;
                let places = layout.places(hash, layout.route(hash).1);
                let mut i = usize::from(first);
                for _ in 1..L::ARITY {
                    i = if i + 1 == L::ARITY { 0 } else { i + 1 };
                    let place = places.as_ref()[i] as usize;
                    let count = (counts[place].wrapping_sub(ONE)) ^ i as u8;
                    counts[place] = count;
                    hashes[place] ^= hash;
                    queue[tail] = place as u32;
                    tail += usize::from(count / ONE == 1);
                }
            }
        }
        out == keys.len()
    }

    /// False if a counter overflowed.
    fn count<L: Layout>(&mut self, layout: &L, keys: &[u64]) -> bool {
        let mut whole = true;
        for &hash in keys {
            for (i, &place) in (0u8..).zip(layout.places(hash, layout.route(hash).1).as_ref()) {
                let place = place as usize;
                let count = self.counts[place].wrapping_add(ONE) ^ i;
                whole &= count >= ONE;
                self.counts[place] = count;
                self.hashes[place] ^= hash;
            }
        }
        whole
    }

    /// Gives the slots their values, after [`Peeler::peel`]. `slots` is all zero before.
    pub(crate) fn fill<L: Layout, S: Slot>(&self, layout: &L, keys: &[u64], slots: &mut [u8]) {
        for (&hash, &own) in keys.iter().zip(&self.own).rev() {
            let places = layout.places(hash, layout.route(hash).1);
            let places = places.as_ref();
            // Its own slot is zero still.
            let value = places
                .iter()
                .fold(fingerprint::<S>(hash), |value, &place| value.xor(S::read(slots, place as usize)));
            value.write(slots, places[usize::from(own)] as usize);
        }
    }
}

/// The fingerprint of a seeded hash: all of its bits take part, so that hashes with equal places differ in it wherever the
/// width allows.
#[inline]
pub(crate) fn fingerprint<S: Slot>(hash: u64) -> S {
    S::truncate(hash ^ (hash >> 32))
}
