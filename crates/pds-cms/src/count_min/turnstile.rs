//! Counting with an error instead of saturation, taking back, and halving.

use crate::tally::{Rows, Tally};
use crate::{Cell, CountMinSketch, Error, Fingerprint, Key, KeyHasher, table};

impl<C: Cell, H: KeyHasher> CountMinSketch<C, H> {
    /// As [`CountMinSketch::insert_n`], with an error where that would saturate.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`] if the total or a cell of the key would exceed what it can hold; nothing is changed.
    #[inline]
    pub fn try_insert_n<K: Key + ?Sized>(&mut self, key: &K, n: u64) -> Result<bool, Error> {
        self.try_insert_hash_n(self.hasher.hash_key(key), n)
    }

    /// Takes back `n` counts of a key that was counted as often, in the *strict turnstile* model: no key may ever be taken
    /// back more often than it was counted. Estimates are then never below what is left of a key.
    ///
    /// Where the model is kept, there is no error unless counts saturated. Where it is not, some keys are refused, and
    /// others take away what belongs to keys that share their cells: those are under-counted from then on.
    ///
    /// # Errors
    ///
    /// Nothing is changed, neither cells nor total, by a call that gives one.
    ///
    /// * [`Error::Overflow`], whatever the key and even for an `n` of 0, once a count has saturated (see
    ///   [`CountMinSketch::is_saturated`]), or had when the sketch was [halved](CountMinSketch::halve): what is left is unknown.
    /// * [`Error::NotPresent`] otherwise, if the key provably was not counted `n` times, since one of its cells has less.
    #[inline]
    pub fn try_remove<K: Key + ?Sized>(&mut self, key: &K, n: u64) -> Result<(), Error> {
        self.try_remove_hash(self.hasher.hash_key(key), n)
    }
}

impl<C: Cell, H: Fingerprint> CountMinSketch<C, H> {
    /// As [`CountMinSketch::try_insert_n`], for a hash by this sketch's hasher.
    ///
    /// # Errors
    ///
    /// As [`CountMinSketch::try_insert_n`].
    #[inline]
    pub fn try_insert_hash_n(&mut self, hash: u64, n: u64) -> Result<bool, Error> {
        if n > self.room() {
            let full = self.tally.total_saturated || self.tally.total.checked_add(n).is_none();
            // Counts are looked at before any is changed.
            let fits = |position: usize| n <= C::MAX.into() - self.cells[position].into();
            if n > 0 && (full || !table::positions(self.params, hash).all(fits)) {
                return Err(Error::Overflow);
            }
        }
        for position in table::positions(self.params, hash) {
            self.cells[position].add_within(n);
        }
        self.tally.total += n;
        Ok(n > 0)
    }

    /// As [`CountMinSketch::try_remove`], for a hash by this sketch's hasher.
    ///
    /// # Errors
    ///
    /// As [`CountMinSketch::try_remove`].
    #[inline]
    pub fn try_remove_hash(&mut self, hash: u64, n: u64) -> Result<(), Error> {
        if self.tally.is_saturated() || self.tally.rows == Rows::Loose {
            return Err(Error::Overflow);
        }
        if self.least(hash).into() < n {
            return Err(Error::NotPresent);
        }
        for position in table::positions(self.params, hash) {
            self.cells[position].take_within(n);
        }
        self.tally.total -= n;
        Ok(())
    }

    /// Halves every count, so that later ones weigh twice as much: time in the size of the table.
    ///
    /// * Counts are rounded down: let x be a key's count, halved without rounding at each call. Then the estimate is at
    ///   least floor(x), and the lower bound is at most ceil(x) with a chance of at least 1 - delta.
    /// * The total is rounded up; it becomes 0 when every cell has.
    /// * A saturated cell may stand for as much as the total: it becomes half of that, or stays saturated if that does not
    ///   fit it. Lower bounds are 0 from then on, and nothing can be [taken back](CountMinSketch::try_remove):
    ///   that stays so when [`CountMinSketch::is_saturated`] is false again, since every cell fits its count, until
    ///   [`CountMinSketch::clear`]. A saturated total stays.
    /// * Merging stays sound, but is exact for counts alone: merging and halving may not change places.
    pub fn halve(&mut self) {
        let Tally { total, total_saturated, cells_saturated, rows } = self.tally;
        if total == 0 {
            return;
        }
        let total = if total_saturated { total } else { total.div_ceil(2) };
        let (lifted, cut) = C::clip(total);
        let still_saturated = cells_saturated && (cut || total_saturated);
        let mut greatest = C::default();
        for cell in &mut self.cells {
            *cell = if cells_saturated && *cell == C::MAX { lifted } else { cell.halved() };
            greatest = greatest.max(*cell);
        }
        let rows = rows.max(if cells_saturated { Rows::Loose } else { Rows::AtMost });
        self.tally = Tally { total, total_saturated, cells_saturated: still_saturated, rows };
        if greatest == C::default() {
            self.clear();
        }
    }
}
