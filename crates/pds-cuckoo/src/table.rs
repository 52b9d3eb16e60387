//! The table: insertion, removal and query, over owned or borrowed bytes.

use alloc::boxed::Box;
use alloc::vec;
use core::ops::{Deref, DerefMut};

use crate::Error;
use crate::arch::{Packed, size_bytes};
use crate::evict;
use crate::geometry::{Bucket, Entry, Geometry, Growth, Place};
use crate::lanes::{Form, Lanes, NONE, SLOTS, Window, by_form};

/// Entries at one of their two places each, and their number.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Table<G, B = Box<[u8]>> {
    geometry: Geometry<G>,
    packed: Packed<B>,
    len: u64,
}

impl<G: Growth> Table<G> {
    /// An empty table. The gate of the parameters has seen that it fits into the address space.
    pub(crate) fn new(geometry: Geometry<G>) -> Self {
        let bytes = size_bytes(geometry.buckets(), geometry.slot_bits()) as usize;
        Self::over(geometry, 0, vec![0; bytes].into_boxed_slice())
    }

    pub(crate) fn clear(&mut self) {
        self.packed.clear();
        self.len = 0;
    }

    /// Stores an entry.
    ///
    /// # Errors
    ///
    /// [`Error::DuplicateLimit`] if every slot of both of its buckets has its fingerprint, [`Error::Full`] if no way
    /// to make room is found. Nothing has changed then.
    #[inline]
    pub(crate) fn insert(&mut self, entry: Entry) -> Result<(), Error> {
        by_form!(self.lanes(), self.insert_in(entry))
    }

    #[inline]
    fn insert_in<F: Form>(&mut self, entry: Entry) -> Result<(), Error> {
        let [here, there] = self.places(entry);
        let (first, second) = (self.hole::<F>(here.bucket), self.hole::<F>(there.bucket));
        // The one whose hole comes first, which mostly is the emptier one.
        let (place, hole) = if second < first { (there, second) } else { (here, first) };
        if hole == NONE {
            return evict::insert::<G, F>(self, entry);
        }
        self.set::<F>(place.bucket, hole, place.value);
        self.len += 1;
        Ok(())
    }

    /// Stores an entry at this side of it, where there is room for it.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub(crate) fn keep(&mut self, entry: Entry) {
        by_form!(self.lanes(), self.keep_in(entry));
    }

    fn keep_in<F: Form>(&mut self, entry: Entry) {
        let place = self.geometry.place(entry);
        let hole = self.hole::<F>(place.bucket);
        assert!(hole != NONE, "half a bucket's entries, at most, and nothing else");
        self.set::<F>(place.bucket, hole, place.value);
        self.len += 1;
    }

    /// Removes an entry; false if there is none.
    #[inline]
    pub(crate) fn remove(&mut self, entry: Entry) -> bool {
        by_form!(self.lanes(), self.remove_in(entry))
    }

    #[inline]
    fn remove_in<F: Form>(&mut self, entry: Entry) -> bool {
        let [here, there] = self.places(entry);
        let (first, second) = (self.find::<F>(here), self.find::<F>(there));
        let (place, slot) = if first == NONE { (there, second) } else { (here, first) };
        if slot == NONE {
            return false;
        }
        self.set::<F>(place.bucket, slot, 0);
        self.len -= 1;
        true
    }

    /// Whether both buckets of an entry hold nothing but that entry.
    pub(crate) fn is_at_limit(&self, entry: Entry) -> bool {
        by_form!(self.lanes(), self.is_at_limit_in(entry))
    }

    pub(crate) fn is_at_limit_in<F: Form>(&self, entry: Entry) -> bool {
        self.places(entry).into_iter().all(|place| {
            let window = self.window::<F>(place.bucket);
            (0..SLOTS).all(|slot| window.get(self.lanes(), slot * self.lanes().width()) == place.value)
        })
    }
}

impl<G: Growth, B: Deref<Target = [u8]>> Table<G, B> {
    /// A table over the bytes of its geometry.
    pub(crate) fn over(geometry: Geometry<G>, len: u64, bytes: B) -> Self {
        Self { geometry, packed: Packed::new(geometry.buckets(), geometry.slot_bits(), bytes), len }
    }

    pub(crate) fn geometry(&self) -> &Geometry<G> {
        &self.geometry
    }

    pub(crate) fn lanes(&self) -> &Lanes {
        self.packed.lanes()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.packed.bytes()
    }

    /// Entries stored.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn slots(&self) -> u64 {
        self.geometry.buckets() * u64::from(SLOTS)
    }

    /// Share of the slots that hold an entry.
    pub(crate) fn load(&self) -> f64 {
        self.len as f64 / self.slots() as f64
    }

    /// Whether there is an entry of this hash.
    #[inline]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        self.contains_at(self.places(self.geometry.entry(hash)))
    }

    /// Whether either of the two places of an entry holds it. Both are looked at: a branch between them would be
    /// mispredicted for every other member.
    #[inline]
    pub(crate) fn contains_at(&self, places: [Place; 2]) -> bool {
        by_form!(self.lanes(), self.contains_in(places))
    }

    #[inline]
    fn contains_in<F: Form>(&self, [here, there]: [Place; 2]) -> bool {
        self.equal::<F>(here).either(self.equal::<F>(there))
    }

    /// The two places of an entry.
    #[inline]
    pub(crate) fn places(&self, entry: Entry) -> [Place; 2] {
        [self.geometry.place(entry), self.geometry.place(self.geometry.partner(entry))]
    }

    /// Asks for the memory of a place.
    #[inline]
    pub(crate) fn prefetch(&self, place: Place) {
        self.packed.prefetch(place.bucket);
    }

    /// What the slots hold, by buckets, without the empty ones.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        let slots = (0..SLOTS).map(|slot| slot * self.lanes().width());
        self.geometry.all_buckets().flat_map(move |bucket| {
            let values = slots.clone().map(move |at| self.get(bucket, at)).filter(|&value| value != 0);
            values.map(move |value| self.geometry.entry_at(Place { bucket, value }))
        })
    }

    /// Whether the bytes are a table of as many entries as it says: no slot has a fingerprint of 0 unless it is
    /// empty, and there are only zeros behind the last bucket.
    pub(crate) fn is_sound(&self) -> bool {
        let mut count = 0;
        let sound = self.entries().all(|entry| {
            count += 1;
            entry.fingerprint != 0
        });
        sound && count == self.len && self.ends_in_zeros()
    }

    fn ends_in_zeros(&self) -> bool {
        let end = self.geometry.buckets() * self.lanes().bucket_bits();
        let mut rest = self.bytes()[(end / 8) as usize..].iter();
        rest.next().is_none_or(|byte| byte >> (end % 8) == 0) && rest.all(|&byte| byte == 0)
    }

    #[inline]
    pub(crate) fn window<F: Form>(&self, bucket: Bucket) -> F::Word {
        self.packed.window::<F>(bucket)
    }

    #[inline]
    fn equal<F: Form>(&self, place: Place) -> F::Word {
        self.window::<F>(place.bucket).equal(self.lanes(), place.value)
    }

    /// Where in its bucket a place's value stands first, or [`NONE`].
    #[inline]
    fn find<F: Form>(&self, place: Place) -> u32 {
        self.equal::<F>(place).first(self.lanes())
    }

    /// Where the first empty slot of a bucket begins, or [`NONE`].
    #[inline]
    pub(crate) fn hole<F: Form>(&self, bucket: Bucket) -> u32 {
        self.window::<F>(bucket).empty(self.lanes()).first(self.lanes())
    }

    /// What the slot that begins at bit `at` of a bucket holds.
    fn get(&self, bucket: Bucket, at: u32) -> u64 {
        by_form!(self.lanes(), self.get_in(bucket, at))
    }

    fn get_in<F: Form>(&self, bucket: Bucket, at: u32) -> u64 {
        self.window::<F>(bucket).get(self.lanes(), at)
    }
}

impl<G: Growth, B: DerefMut<Target = [u8]>> Table<G, B> {
    /// Writes the slot that begins at bit `at` of a bucket.
    #[inline]
    pub(crate) fn set<F: Form>(&mut self, bucket: Bucket, at: u32, value: u64) {
        self.packed.set::<F>(bucket, at, value);
    }

    /// One entry more, which was written with [`Table::set`].
    pub(crate) fn count_one(&mut self) {
        self.len += 1;
    }
}
