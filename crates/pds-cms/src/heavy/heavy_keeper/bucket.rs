//! A bucket: eight cells in one cache line.

use super::chance::Chance;

/// Cells of a bucket.
pub(super) const CELLS: usize = 8;

/// Cells, each a fingerprint and its count; 0 and 0 where empty. Fingerprints of cells that are taken differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(64))]
pub(super) struct Bucket {
    pub(super) fingerprints: [u32; CELLS],
    pub(super) counts: [u32; CELLS],
}

impl Bucket {
    /// The cell of a fingerprint.
    #[inline]
    pub(super) fn find(&self, fingerprint: u32) -> Option<usize> {
        // All eight at once, without a branch for each.
        let mut found = 0u32;
        for cell in 0..CELLS {
            let taken_by_it = self.fingerprints[cell] == fingerprint && self.counts[cell] > 0;
            found |= u32::from(taken_by_it) << cell;
        }
        (found > 0).then_some(found.trailing_zeros() as usize)
    }

    /// The count of a fingerprint; 0 if it has no cell.
    #[inline]
    pub(super) fn count(&self, fingerprint: u32) -> u64 {
        self.find(fingerprint).map_or(0, |cell| self.counts[cell].into())
    }

    /// Counts a fingerprint `n` times: in its cell, or in an empty one, or against the least of the others, which gives way
    /// by chance. Gives the count of the fingerprint, which may be more than a cell can hold; 0 if it has no cell.
    #[inline]
    pub(super) fn count_n(&mut self, fingerprint: u32, n: u64, chance: &mut Chance) -> u64 {
        if let Some(cell) = self.find(fingerprint) {
            let count = u64::from(self.counts[cell]).saturating_add(n);
            self.counts[cell] = clip(count);
            return count;
        }
        let least = self.least();
        let mut left = n;
        while self.counts[least] > 0 {
            let Some(blows) = chance.blows(self.counts[least], left) else { return 0 };
            self.counts[least] -= 1;
            // The blow that takes the last one off counts for the new owner.
            left -= if self.counts[least] > 0 { blows } else { blows - 1 };
            if left == 0 {
                return 0;
            }
        }
        self.put(least, fingerprint, left);
        left
    }

    /// Gives a fingerprint a cell with this count, if the least of all is below it.
    pub(super) fn give(&mut self, fingerprint: u32, count: u64) {
        let least = self.least();
        if let Some(cell) = self.find(fingerprint) {
            // Another key's of the same fingerprint.
            self.counts[cell] = self.counts[cell].max(clip(count));
        } else if u64::from(self.counts[least]) < count {
            self.put(least, fingerprint, count);
        }
    }

    /// Empties the cell of a fingerprint.
    #[inline]
    pub(super) fn free(&mut self, fingerprint: u32) {
        if let Some(cell) = self.find(fingerprint) {
            self.fingerprints[cell] = 0;
            self.counts[cell] = 0;
        }
    }

    /// Whether a stream may leave such cells: empty ones are zero, fingerprints differ, no count exceeds the total.
    pub(super) fn is_valid(&self, total: u64) -> bool {
        (0..CELLS).all(|cell| {
            let (fingerprint, count) = (self.fingerprints[cell], self.counts[cell]);
            let empty = count == 0 && fingerprint == 0;
            empty || count > 0 && u64::from(count) <= total && self.find(fingerprint) == Some(cell)
        })
    }

    #[inline]
    fn put(&mut self, cell: usize, fingerprint: u32, count: u64) {
        self.fingerprints[cell] = fingerprint;
        self.counts[cell] = clip(count);
    }

    /// The cell with the least count; the first of several.
    #[inline]
    fn least(&self) -> usize {
        // The number of the cell goes along in the low bits.
        let ranked = |cell: usize| u64::from(self.counts[cell]) * CELLS as u64 + cell as u64;
        let least = (0..CELLS).map(ranked).fold(u64::MAX, u64::min);
        (least % CELLS as u64) as usize
    }
}

/// A count as a cell has it: it stops at the greatest.
#[inline]
fn clip(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
