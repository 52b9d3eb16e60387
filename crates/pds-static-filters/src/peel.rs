//! Peeling: an order in which each key still has a slot that no later key uses.
//!
//! Every slot keeps the number of its keys, and the xor of their hashes: a slot with one key left names that key. It is taken
//! out, which leaves other slots with one key, and so on. In the reverse order the slots are given their values: the
//! last key out is the first to be served, and its slot is none of the keys that are served already.

use alloc::vec::Vec;
use core::ops::Range;

use crate::layout::sealed::Layout;
use crate::slot::sealed::Slot;

/// One key in a counter; below it, two bits hold the xor of the positions that the slot has among its keys' places.
pub(crate) const ONE: u8 = 4;

/// Slots that are looked through before the keys found are taken out. It decides which slot becomes whose: another number
/// gives other bytes.
const BLOCK: usize = 1 << 10;

/// Memory of one shard while it is solved: 13 bytes a slot, and 9 a key (8 of them by the caller).
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

    /// Overwrites the keys (seeded hashes of one shard) by themselves in the order in which they come out; how many do. Equal
    /// ones never do. None if a counter overflowed.
    pub(crate) fn peel<L: Layout>(&mut self, layout: &L, keys: &mut [u64]) -> Option<usize> {
        if !self.count(layout, keys) {
            return None;
        }
        let slots = self.counts.len();
        let mut wave = Wave::new(self, keys, 0);
        for start in (0..slots).step_by(BLOCK) {
            let end = (start + BLOCK).min(slots);
            wave.start(start..end);
            wave.run(layout);
        }
        Some(wave.out)
    }

    /// Takes a key out of its slots for which none of them is kept, and goes on; how many keys are out.
    pub(crate) fn set_aside<L: Layout>(
        &mut self,
        layout: &L,
        hash: u64,
        keys: &mut [u64],
        out: usize,
    ) -> usize {
        let mut wave = Wave::new(self, keys, out);
        wave.set_aside(hash, layout.places(hash, layout.route(hash).1).as_ref());
        wave.run(layout);
        wave.out
    }

    /// The first slot from this one on, and then from the beginning, with two keys; with more if there is none.
    pub(crate) fn stuck_at(&self, from: usize) -> Option<usize> {
        let (before, after) = self.counts.split_at(from);
        let find =
            |counts: &[u8], with: &dyn Fn(u8) -> bool| counts.iter().position(|&count| with(count / ONE));
        let two = |keys| keys == 2;
        find(after, &two)
            .map(|slot| from + slot)
            .or_else(|| find(before, &two))
            .or_else(|| find(&self.counts, &|keys| keys > 2))
    }

    pub(crate) fn slots(&self) -> usize {
        self.counts.len()
    }

    /// Keys that a slot still has.
    pub(crate) fn keys_at(&self, slot: usize) -> u8 {
        self.counts[slot] / ONE
    }

    /// Which of its places is the own one of a key that is out.
    pub(crate) fn own(&self, index: usize) -> usize {
        usize::from(self.own[index])
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

    /// Gives the slots of these keys' own their values, after [`Peeler::peel`], `keys` being those that are out: they are
    /// zero before.
    pub(crate) fn fill<L: Layout, S: Slot>(&self, layout: &L, keys: &[u64], slots: &mut [u8]) {
        self.fill_from::<L, S>(0, layout, keys, slots);
    }

    /// As [`Peeler::fill`], without the first keys that came out.
    pub(crate) fn fill_from<L: Layout, S: Slot>(
        &self,
        first: usize,
        layout: &L,
        keys: &[u64],
        slots: &mut [u8],
    ) {
        for (&hash, &own) in keys.iter().zip(&self.own).skip(first).rev() {
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

/// Peeling on its way.
struct Wave<'a> {
    counts: &'a mut [u8],
    hashes: &'a mut [u64],
    own: &'a mut [u8],
    queue: &'a mut [u32],
    keys: &'a mut [u64],
    head: usize,
    tail: usize,
    /// Keys that are out.
    out: usize,
}

impl<'a> Wave<'a> {
    fn new(peeler: &'a mut Peeler, keys: &'a mut [u64], out: usize) -> Self {
        let slots = peeler.counts.len();
        Self {
            counts: &mut peeler.counts,
            hashes: &mut peeler.hashes[..slots],
            own: &mut peeler.own[..keys.len()],
            queue: &mut peeler.queue[..=slots],
            keys,
            head: 0,
            tail: 0,
            out,
        }
    }

    /// Queues the slots with one key.
    #[inline]
    fn start(&mut self, slots: Range<usize>) {
        let mut tail = self.tail;
        for (slot, count) in slots.clone().zip(&self.counts[slots]) {
            self.queue[tail] = slot as u32;
            tail += usize::from(count / ONE == 1);
        }
        self.tail = tail;
    }

    /// Takes out the keys of the queued slots, and those that have a slot to themselves thereby.
    #[inline]
    fn run<L: Layout>(&mut self, layout: &L) {
        // Locals, which stay in registers, of lengths that are seen to agree.
        let (counts, keys) = (&mut *self.counts, &mut *self.keys);
        let (hashes, own) = (&mut self.hashes[..counts.len()], &mut self.own[..keys.len()]);
        let queue = &mut self.queue[..=counts.len()];
        let (mut head, mut tail, mut out) = (self.head, self.tail, self.out);
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
                let count = leave(counts, hashes, hash, i, place);
                queue[tail] = place as u32;
                tail += usize::from(count / ONE == 1);
            }
        }
        (self.head, self.tail, self.out) = (head, tail, out);
    }

    /// Takes a key out of slots none of which is its own.
    fn set_aside(&mut self, hash: u64, places: &[u32]) {
        for (i, &place) in places.iter().enumerate() {
            let count = leave(self.counts, self.hashes, hash, i, place as usize);
            self.queue[self.tail] = place;
            self.tail += usize::from(count / ONE == 1);
        }
    }
}

/// Takes a key out of one of its slots; the counter that is left.
#[inline]
fn leave(counts: &mut [u8], hashes: &mut [u64], hash: u64, position: usize, slot: usize) -> u8 {
    let count = counts[slot].wrapping_sub(ONE) ^ position as u8;
    counts[slot] = count;
    hashes[slot] ^= hash;
    count
}

/// The fingerprint of a seeded hash: all of its bits take part, so that hashes with equal places differ in it wherever the
/// width allows.
#[inline]
pub(crate) fn fingerprint<S: Slot>(hash: u64) -> S {
    S::truncate(hash ^ (hash >> 32))
}
