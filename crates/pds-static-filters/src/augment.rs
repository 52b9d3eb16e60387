//! Solving what peeling leaves: a few keys are set aside so that it goes on, and their equations are solved at the end.
//!
//! With fewer slots than peeling wants it gets stuck: every slot that is left has two keys or more. One key is set aside
//! there, and peeling goes on. In the end a slot that is no key's own may have any value, and the equations of the keys
//! aside are a small dense system in those values: what each of them does to each equation follows from one pass over the
//! keys in the order in which they came out.

use alloc::vec;
use alloc::vec::Vec;

use crate::Slot;
use crate::gauss::Basis;
use crate::layout::sealed::Layout;
use crate::peel::{Peeler, fingerprint};

/// Most keys that are set aside: their system then takes 32 kB, and as much memory per slot as eight hashes.
const MAX_ASIDE: usize = 512;

/// Keys set aside.
pub(crate) struct Aside {
    keys: Vec<u64>,
    /// How many keys were out before the first was set aside.
    first: usize,
}

/// Goes on where [`Peeler::peel`] got stuck after `out` keys, setting keys aside; none if they would be too many, or if a
/// key is there twice. `rest` are the keys that are not out, in order.
pub(crate) fn peel<L: Layout>(
    peeler: &mut Peeler,
    layout: &L,
    keys: &mut [u64],
    out: usize,
    rest: &[u64],
) -> Option<Aside> {
    if rest.windows(2).any(|pair| pair[0] == pair[1]) {
        return None;
    }
    let places = |hash| layout.places(hash, layout.route(hash).1);
    let keys_of = KeysOf::new(peeler.slots(), rest, places);
    let mut aside = Aside { keys: Vec::new(), first: out };
    let (mut out, mut from) = (out, 0);
    while out + aside.keys.len() < keys.len() {
        if aside.keys.len() == MAX_ASIDE {
            return None;
        }
        from = peeler.stuck_at(from)?;
        // The key is still in if all of its slots have keys: the slot of its own of one that is out has none.
        let is_in = |hash: &&u64| {
            places(**hash).as_ref().iter().all(|&place| peeler.keys_at(place as usize) > 0)
                && !aside.keys.contains(hash)
        };
        let &hash = keys_of.slot(rest, from).find(is_in)?;
        aside.keys.push(hash);
        out = peeler.set_aside(layout, hash, keys, out);
    }
    Some(aside)
}

/// The keys of every slot.
struct KeysOf {
    bounds: Vec<u32>,
    indexes: Vec<u32>,
}

impl KeysOf {
    fn new<P: AsRef<[u32]>>(slots: usize, keys: &[u64], places: impl Fn(u64) -> P) -> Self {
        let mut bounds = vec![0; slots + 1];
        for &hash in keys {
            places(hash).as_ref().iter().for_each(|&place| bounds[place as usize + 1] += 1);
        }
        let mut sum = 0;
        for bound in &mut bounds {
            sum += *bound;
            *bound = sum;
        }
        let mut next = bounds.clone();
        let mut indexes = vec![0; sum as usize];
        for (index, &hash) in (0u32..).zip(keys) {
            for &place in places(hash).as_ref() {
                let next = &mut next[place as usize];
                indexes[*next as usize] = index;
                *next += 1;
            }
        }
        Self { bounds, indexes }
    }

    fn slot<'a>(&self, keys: &'a [u64], slot: usize) -> impl Iterator<Item = &'a u64> {
        let (start, end) = (self.bounds[slot] as usize, self.bounds[slot + 1] as usize);
        self.indexes[start..end].iter().map(|&index| &keys[index as usize])
    }
}

impl Aside {
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Gives values to slots that are no key's own, such that the keys set aside have their fingerprints once the others
    /// have theirs; false if no values do. `keys` are those that came out, `slots` all zero before.
    pub(crate) fn solve<L: Layout, S: Slot>(
        &self,
        peeler: &Peeler,
        layout: &L,
        keys: &[u64],
        slots: &mut [u8],
    ) -> bool {
        let places = |hash| layout.places(hash, layout.route(hash).1);
        let words = self.keys.len().div_ceil(64);
        // For each slot, the equations that change with its value.
        let mut changes = vec![0u64; peeler.slots() * words];
        for (number, &hash) in self.keys.iter().enumerate() {
            for &place in places(hash).as_ref() {
                changes[place as usize * words + number / 64] ^= 1 << (number % 64);
            }
        }
        let mut own_changes = vec![0; words];
        for (index, &hash) in keys.iter().enumerate().skip(self.first) {
            let places = places(hash);
            let own = peeler.own(index);
            let at = places.as_ref()[own] as usize * words;
            own_changes.copy_from_slice(&changes[at..at + words]);
            changes[at..at + words].fill(0);
            for (i, &place) in places.as_ref().iter().enumerate() {
                if i != own {
                    let at = place as usize * words;
                    changes[at..at + words].iter_mut().zip(&own_changes).for_each(|(to, by)| *to ^= by);
                }
            }
        }
        // What the equations lack while those slots are zero.
        peeler.fill_from::<L, S>(self.first, layout, keys, slots);
        let lacking: Vec<S> = self
            .keys
            .iter()
            .map(|&hash| {
                let places = places(hash);
                let sum = |sum: S, &place: &u32| sum.xor(S::read(slots, place as usize));
                places.as_ref().iter().fold(fingerprint::<S>(hash), sum)
            })
            .collect();
        slots.fill(0);
        let mut basis = Basis::new(self.keys.len());
        let mut chosen = Vec::with_capacity(self.keys.len());
        for (slot, changes) in changes.chunks_exact(words).enumerate() {
            if changes.iter().any(|&word| word != 0) && basis.insert(changes) {
                chosen.push(slot);
                if chosen.len() == self.keys.len() {
                    break;
                }
            }
        }
        let Some(values) = basis.combine(lacking) else { return false };
        for (value, slot) in values.into_iter().zip(chosen) {
            value.write(slots, slot);
        }
        true
    }
}
