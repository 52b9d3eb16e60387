//! What a window is made of.

use crate::{Cell, ConservativeCountMin, CountMinSketch, Fingerprint, Merge};

/// A sketch that a [`SlidingCountMin`](crate::SlidingCountMin) can be made of: [`CountMinSketch`] or
/// [`ConservativeCountMin`]. The trait is sealed.
pub trait Pane: sealed::Inner + Merge + Clone {}

impl<C: Cell, H: Fingerprint> Pane for CountMinSketch<C, H> {}
impl<C: Cell, H: Fingerprint> Pane for ConservativeCountMin<C, H> {}

pub(crate) mod sealed {
    use crate::{Cell, CountMinParams, CountMinSketch, Fingerprint, Sketch};

    /// A pane as the table that it has.
    pub trait Inner: Sketch<Hasher: Fingerprint> {
        type Cell: Cell;

        fn empty(params: CountMinParams, hasher: Self::Hasher) -> Self;
        fn of_table(table: CountMinSketch<Self::Cell, Self::Hasher>) -> Self;
        fn table(&self) -> &CountMinSketch<Self::Cell, Self::Hasher>;
        fn count(&mut self, hash: u64, n: u64) -> bool;
        fn count_each(&mut self, hashes: &[u64]);
        fn forget(&mut self);
    }
}

impl<C: Cell, H: Fingerprint> sealed::Inner for CountMinSketch<C, H> {
    type Cell = C;

    fn empty(params: crate::CountMinParams, hasher: H) -> Self {
        Self::with_hasher(params, hasher)
    }

    fn of_table(table: CountMinSketch<C, H>) -> Self {
        table
    }

    #[inline]
    fn table(&self) -> &CountMinSketch<C, H> {
        self
    }

    #[inline]
    fn count(&mut self, hash: u64, n: u64) -> bool {
        self.insert_hash_n(hash, n)
    }

    fn count_each(&mut self, hashes: &[u64]) {
        self.insert_batch(hashes);
    }

    fn forget(&mut self) {
        self.clear();
    }
}

impl<C: Cell, H: Fingerprint> sealed::Inner for ConservativeCountMin<C, H> {
    type Cell = C;

    fn empty(params: crate::CountMinParams, hasher: H) -> Self {
        Self::with_hasher(params, hasher)
    }

    fn of_table(table: CountMinSketch<C, H>) -> Self {
        Self(table)
    }

    #[inline]
    fn table(&self) -> &CountMinSketch<C, H> {
        &self.0
    }

    #[inline]
    fn count(&mut self, hash: u64, n: u64) -> bool {
        self.insert_hash_n(hash, n)
    }

    fn count_each(&mut self, hashes: &[u64]) {
        self.insert_batch(hashes);
    }

    fn forget(&mut self) {
        self.clear();
    }
}
