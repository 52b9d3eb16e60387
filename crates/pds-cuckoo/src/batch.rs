//! Many hashes at a time, with the memory of later ones fetched ahead.

use core::ops::Deref;

use crate::geometry::{Bucket, Growth, Place};
use crate::stored::{Params, Stored};
use crate::table::Table;

/// Tables below this size live in the nearer caches, where single queries overlap as well, and a prefetch only costs.
const PREFETCH_BYTES: usize = 1 << 21;

/// How many hashes lie between asking for the memory of one and looking at it.
const AHEAD: usize = 64;

/// The places of later hashes, computed and asked for once.
struct Window<'a> {
    hashes: &'a [u64],
    places: [[Place; 2]; AHEAD],
}

impl<'a> Window<'a> {
    fn new<G: Growth, B: Deref<Target = [u8]>>(table: &Table<G, B>, hashes: &'a [u64]) -> Self {
        let mut window = Self { hashes, places: [[Place { bucket: Bucket::FIRST, value: 0 }; 2]; AHEAD] };
        for i in 0..AHEAD {
            window.ask(table, i);
        }
        window
    }

    #[inline]
    fn ask<G: Growth, B: Deref<Target = [u8]>>(&mut self, table: &Table<G, B>, i: usize) {
        if let Some(&hash) = self.hashes.get(i) {
            let places = table.places(table.geometry().entry(hash));
            for place in places {
                table.prefetch(place);
            }
            self.places[i % AHEAD] = places;
        }
    }
}

/// Answers for the first min(lengths) hashes, and returns that number.
pub(crate) fn contains<G: Growth, B: Deref<Target = [u8]>>(
    table: &Table<G, B>,
    hashes: &[u64],
    found: &mut [bool],
) -> usize {
    let count = hashes.len().min(found.len());
    let (hashes, found) = (&hashes[..count], &mut found[..count]);
    if table.bytes().len() < PREFETCH_BYTES {
        for (found, &hash) in found.iter_mut().zip(hashes) {
            *found = table.contains(hash);
        }
        return count;
    }
    let mut window = Window::new(table, hashes);
    for (i, found) in found.iter_mut().enumerate() {
        *found = table.contains_at(window.places[i % AHEAD]);
        window.ask(table, i + AHEAD);
    }
    count
}

/// Inserts in order until one is refused; how many were inserted. The table of the filter may be another one after
/// each.
pub(crate) fn insert<P: Params, H>(filter: &mut Stored<P, H>, hashes: &[u64]) -> usize {
    for (i, &hash) in hashes.iter().enumerate() {
        if let Some(&later) = hashes.get(i + AHEAD) {
            let table = filter.table();
            if table.bytes().len() >= PREFETCH_BYTES {
                let places = table.places(table.geometry().entry(later));
                for place in places {
                    table.prefetch(place);
                }
            }
        }
        if filter.insert(hash).is_err() {
            return i;
        }
    }
    hashes.len()
}
