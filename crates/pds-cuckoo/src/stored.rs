//! What the two filters and their views have in common: parameters, a table of them, and a hasher.

use alloc::boxed::Box;
use core::fmt;
use core::ops::Deref;

use pds_core::{same_hasher, wire::Header};

use crate::geometry::{Entry, Geometry, Growth};
use crate::table::Table;
use crate::{Error, Fingerprint, batch, law};

/// What differs between a filter that grows and one that does not.
pub(crate) trait Params: Copy + fmt::Debug {
    type Growth: Growth;

    /// Slots of the largest table.
    fn slots(&self) -> u64;

    /// Expected rate of false positives with so many distinct keys.
    fn fpr(&self, keys: u64) -> f64;

    /// # Errors
    ///
    /// [`Error::Incompatible`] if the shapes differ.
    fn same(&self, other: &Self) -> Result<(), Error>;

    /// Stores an entry, in a larger table if need be and if there may be one.
    ///
    /// # Errors
    ///
    /// As [`Table::insert`]; nothing has changed then.
    fn insert(table: &mut Table<Self::Growth>, entry: Entry) -> Result<(), Error>;
}

/// A filter, owned or over borrowed bytes.
#[derive(Clone, Copy)]
pub(crate) struct Stored<P: Params, H, B = Box<[u8]>> {
    params: P,
    table: Table<P::Growth, B>,
    hasher: H,
}

/// Over the bytes of an envelope, whose hasher is not known at first.
pub(crate) type Borrowed<'a, P, H = ()> = Stored<P, H, &'a [u8]>;

impl<P: Params, H> Stored<P, H> {
    /// An empty filter.
    pub(crate) fn new(params: P, geometry: Geometry<P::Growth>, hasher: H) -> Self {
        Self { params, table: Table::new(geometry), hasher }
    }

    #[inline]
    pub(crate) fn insert(&mut self, hash: u64) -> Result<bool, Error> {
        let entry = self.table.geometry().entry(hash);
        P::insert(&mut self.table, entry).map(|()| true)
    }

    #[inline]
    pub(crate) fn insert_unique(&mut self, hash: u64) -> Result<bool, Error> {
        if self.contains(hash) { Ok(false) } else { self.insert(hash) }
    }

    #[inline]
    pub(crate) fn remove(&mut self, hash: u64) -> Result<(), Error> {
        let removed = self.table.remove(self.table.geometry().entry(hash));
        if removed { Ok(()) } else { Err(Error::NotPresent) }
    }

    pub(crate) fn insert_batch(&mut self, hashes: &[u64]) -> usize {
        batch::insert(self, hashes)
    }

    pub(crate) fn clear(&mut self) {
        self.table.clear();
    }

    pub(crate) fn set_table(&mut self, table: Table<P::Growth>) {
        self.table = table;
    }

    pub(crate) fn into_hasher(self) -> H {
        self.hasher
    }
}

impl<P: Params, H: Fingerprint> Stored<P, H> {
    /// Stores the entries of another filter, in a copy until all of them are in.
    pub(crate) fn absorb(&mut self, other: &Self) -> Result<(), Error> {
        self.compatible(other)?;
        let mut table = self.table.clone();
        other.table.entries().try_for_each(|entry| P::insert(&mut table, entry))?;
        self.table = table;
        Ok(())
    }

    fn compatible(&self, other: &Self) -> Result<(), Error> {
        same_hasher(self.hasher.fingerprint(), other.hasher.fingerprint())?;
        self.params.same(&other.params)
    }
}

impl<P: Params, H, B: Deref<Target = [u8]>> Stored<P, H, B> {
    #[inline]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        self.table.contains(hash)
    }

    pub(crate) fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        batch::contains(&self.table, hashes, found)
    }

    pub(crate) fn params(&self) -> P {
        self.params
    }

    pub(crate) fn hasher(&self) -> &H {
        &self.hasher
    }

    pub(crate) fn table(&self) -> &Table<P::Growth, B> {
        &self.table
    }

    pub(crate) fn len(&self) -> u64 {
        self.table.len()
    }

    pub(crate) fn estimated_fpr(&self) -> f64 {
        self.params.fpr(self.len())
    }

    pub(crate) fn is_saturated(&self) -> bool {
        self.len() as f64 > law::ALARM * self.params.slots() as f64
    }
}

impl<'a, P: Params> Borrowed<'a, P> {
    /// A filter over the bytes of its geometry.
    pub(crate) fn over(params: P, geometry: Geometry<P::Growth>, len: u64, bytes: &'a [u8]) -> Self {
        Self { params, table: Table::over(geometry, len, bytes), hasher: () }
    }

    /// The filter with its hasher, which must be that of the header.
    pub(crate) fn with_hasher<H: Fingerprint>(
        self,
        header: &Header,
        hasher: H,
    ) -> Result<Borrowed<'a, P, H>, Error> {
        same_hasher(hasher.fingerprint(), header.fingerprint)?;
        Ok(Stored { params: self.params, table: self.table, hasher })
    }
}

impl<P: Params, H> Borrowed<'_, P, H> {
    /// The filter in memory of its own, if the bytes are those of the header, and a table.
    pub(crate) fn into_owned(self, header: &Header) -> Result<Stored<P, H>, Error> {
        header.verify(self.table.bytes())?;
        if !self.table.is_sound() {
            return Err(Error::Malformed { field: "payload" });
        }
        let table = Table::over(*self.table.geometry(), self.table.len(), self.table.bytes().into());
        Ok(Stored { params: self.params, table, hasher: self.hasher })
    }
}

impl<P: Params, H: Fingerprint> PartialEq for Stored<P, H> {
    fn eq(&self, other: &Self) -> bool {
        self.compatible(other).is_ok() && self.table == other.table
    }
}

impl<P: Params, H: fmt::Debug, B: Deref<Target = [u8]>> Stored<P, H, B> {
    /// Writes the fields of a type of this name.
    pub(crate) fn debug(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(name)
            .field("params", &self.params)
            .field("len", &self.len())
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
