//! A line's bits, all at once where the processor has AVX2: two registers of eight words, and a round of eight bits.

use core::borrow::Borrow;

use pds_hash::reduce;

use super::{Simd, prefetch};
use crate::blocked::line::{self, LINE_BYTES, Line};
use crate::rolling::{AHEAD, rolling};

/// Filters below this size live in the first two caches, where a prefetch only costs.
const PREFETCH_BYTES: usize = 1 << 19;

/// Whether the `k` bits of a hash are set in its line.
#[inline]
pub(crate) fn contains(simd: Simd, line: &[u8; LINE_BYTES], hash: u64, k: u32) -> bool {
    #[cfg(target_arch = "x86_64")]
    if simd.avx2() {
        // SAFETY: `Simd::avx2` is true only where the processor was found to have it.
        return unsafe { avx2::contains(line, hash, k) };
    }
    let _ = simd;
    line::contains(line, hash, k)
}

/// Sets the `k` bits of a hash in its line; true if one of them was not set before.
#[inline]
pub(crate) fn insert(simd: Simd, line: &mut [u8; LINE_BYTES], hash: u64, k: u32) -> bool {
    #[cfg(target_arch = "x86_64")]
    if simd.avx2() {
        // SAFETY: as in `contains`.
        return unsafe { avx2::insert(line, hash, k) };
    }
    let _ = simd;
    line::insert(line, hash, k)
}

/// In which of at most 64 lines the `k` bits of a hash are set: bit i for line i.
#[inline]
pub(crate) fn contains_each<L: Borrow<[u8; LINE_BYTES]>>(simd: Simd, lines: &[L], hash: u64, k: u32) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if simd.avx2() {
        // SAFETY: as in `contains`.
        return unsafe { avx2::contains_each(lines, hash, k) };
    }
    let _ = simd;
    let bit = |(i, line): (usize, &L)| u64::from(line::contains(line.borrow(), hash, k)) << i;
    lines.iter().enumerate().map(bit).sum()
}

/// [`contains`] for as many hashes as `found` is long, each in the line that it falls on.
///
/// # Panics
///
/// If there is no line, or if the lengths of `hashes` and `found` differ.
pub(crate) fn contains_batch<L: Borrow<[u8; LINE_BYTES]>>(
    simd: Simd,
    lines: &[L],
    k: u32,
    hashes: &[u64],
    found: &mut [bool],
) {
    assert_eq!(hashes.len(), found.len());
    #[cfg(target_arch = "x86_64")]
    if simd.avx2() {
        // SAFETY: as in `contains`.
        return unsafe { avx2::contains_batch(lines, k, hashes, found) };
    }
    let _ = simd;
    visit_lines(lines, hashes, |i, line| found[i] = line::contains(line, hashes[i], k));
}

/// For as many hashes as `found` is long: whether a hash's `k` bits are set in any of the lines that it falls on. These are
/// `side_by_side` neighbours, at most 64.
///
/// # Panics
///
/// If there are not as many lines, or if the lengths of `hashes` and `found` differ.
pub(crate) fn contains_any_batch<L: Borrow<[u8; LINE_BYTES]>>(
    simd: Simd,
    lines: &[L],
    side_by_side: usize,
    k: u32,
    hashes: &[u64],
    found: &mut [bool],
) {
    assert_eq!(hashes.len(), found.len());
    #[cfg(target_arch = "x86_64")]
    if simd.avx2() {
        // SAFETY: as in `contains`.
        return unsafe { avx2::contains_any_batch(lines, side_by_side, k, hashes, found) };
    }
    visit_groups(lines, side_by_side, hashes, |i, lines| {
        found[i] = contains_each(simd, lines, hashes[i], k) != 0;
    });
}

/// [`insert`] for each hash, in the line that it falls on.
///
/// # Panics
///
/// If there is no line.
pub(crate) fn insert_batch(simd: Simd, lines: &mut [Line], k: u32, hashes: &[u64]) {
    #[cfg(target_arch = "x86_64")]
    if simd.avx2() {
        // SAFETY: as in `contains`.
        return unsafe { avx2::insert_batch(lines, k, hashes) };
    }
    let _ = simd;
    insert_each(lines, hashes, |line, hash| _ = line::insert(line, hash, k));
}

/// Calls with each hash and its line, the lines of later hashes being on their way.
#[inline(always)]
#[allow(clippy::inline_always)] // into functions compiled for AVX2 too
fn insert_each(lines: &mut [Line], hashes: &[u64], mut insert: impl FnMut(&mut [u8; LINE_BYTES], u64)) {
    let count = lines.len() as u64;
    let ahead = size_of_val(lines) >= PREFETCH_BYTES;
    for (i, &hash) in hashes.iter().enumerate() {
        if ahead && let Some(&later) = hashes.get(i + AHEAD) {
            prefetch(lines, reduce(later, count));
        }
        insert(&mut lines[reduce(hash, count) as usize].0, hash);
    }
}

/// Calls with each hash's number and line, the lines of later hashes being on their way.
#[inline(always)]
#[allow(clippy::inline_always)] // into functions compiled for AVX2 too
fn visit_lines<L: Borrow<[u8; LINE_BYTES]>>(
    lines: &[L],
    hashes: &[u64],
    mut visit: impl FnMut(usize, &[u8; LINE_BYTES]),
) {
    let count = lines.len() as u64;
    let at = |i: usize| reduce(hashes[i], count);
    if size_of_val(lines) < PREFETCH_BYTES {
        (0..hashes.len()).for_each(|i| visit(i, lines[at(i) as usize].borrow()));
    } else {
        rolling(hashes.len(), |i| prefetch(lines, at(i)), |i| visit(i, lines[at(i) as usize].borrow()));
    }
}

/// Calls with each hash's number and the neighbouring lines that it falls on, those of later hashes being on their way.
#[inline(always)]
#[allow(clippy::inline_always)] // into functions compiled for AVX2 too
fn visit_groups<L: Borrow<[u8; LINE_BYTES]>>(
    lines: &[L],
    side_by_side: usize,
    hashes: &[u64],
    mut visit: impl FnMut(usize, &[L]),
) {
    /// Fewest hashes ahead. Otherwise as many lines are on their way as elsewhere.
    const LEAST: usize = 4;
    let groups = (lines.len() / side_by_side) as u64;
    let at = |hash: u64| reduce(hash, groups) as usize * side_by_side;
    let fetch = |hash: u64| (0..side_by_side).for_each(|line| prefetch(lines, (at(hash) + line) as u64));
    let ahead = (size_of_val(lines) >= PREFETCH_BYTES).then_some((AHEAD / side_by_side).max(LEAST));
    hashes.iter().take(ahead.unwrap_or(0)).for_each(|&hash| fetch(hash));
    for (i, &hash) in hashes.iter().enumerate() {
        if let Some(ahead) = ahead
            && let Some(&later) = hashes.get(i + ahead)
        {
            fetch(later);
        }
        visit(i, &lines[at(hash)..][..side_by_side]);
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use core::arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_blendv_ps, _mm256_castps_si256,
        _mm256_castsi256_ps, _mm256_loadu_si256, _mm256_mullo_epi32, _mm256_or_si256,
        _mm256_permutevar8x32_epi32, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_slli_epi32,
        _mm256_sllv_epi32, _mm256_srli_epi32, _mm256_storeu_si256, _mm256_sub_epi32, _mm256_testc_si256,
    };
    use core::borrow::Borrow;

    use super::{insert_each, visit_groups, visit_lines};
    use crate::blocked::line::{LINE_BYTES, Line};
    use crate::blocked::probes::{ROUND, Rounds, SALTS, STARTS, STEPS};

    /// What the lanes of a round are shifted left: 1 in the first so many, 0 in the others, from the place
    /// `ROUND - bits` on.
    static ONES: [u32; 2 * ROUND as usize] = [1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0];

    /// A round: for each lane the word of the line that it falls into, in the top four bits, and its place there.
    struct Round {
        words: __m256i,
        places: __m256i,
    }

    /// Eight numbers as lanes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn lanes(numbers: &[u32; ROUND as usize]) -> __m256i {
        // SAFETY: the reference is to 32 bytes, and the load wants no alignment.
        unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) }
    }

    /// The same as `probes::round`, lane by lane.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn round(hash: u64) -> Round {
        let words = _mm256_mullo_epi32(_mm256_set1_epi32(hash as i32), lanes(&SALTS));
        let steps = STEPS[(hash >> 32) as usize % STARTS..].first_chunk().unwrap_or(&SALTS);
        // A lane's number is taken modulo 8.
        let others = _mm256_permutevar8x32_epi32(words, _mm256_srli_epi32::<28>(words));
        let places = _mm256_add_epi32(_mm256_slli_epi32::<4>(others), lanes(steps));
        Round { words, places: _mm256_srli_epi32::<27>(places) }
    }

    /// Whether the first `bits` lanes of a round are set in a line.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn all_set(line: &[u8; LINE_BYTES], round: &Round, bits: u32) -> bool {
        let (low, high) = line.split_at(LINE_BYTES / 2);
        // SAFETY: each half is of 32 bytes, and the load wants no alignment.
        let (low, high) =
            unsafe { (_mm256_loadu_si256(low.as_ptr().cast()), _mm256_loadu_si256(high.as_ptr().cast())) };
        // The low three of the four bits pick a word of each half, the highest one the half.
        let picks = _mm256_srli_epi32::<28>(round.words);
        let low = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, picks));
        let high = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, picks));
        let words = _mm256_castps_si256(_mm256_blendv_ps(low, high, _mm256_castsi256_ps(round.words)));
        let ones = ONES[(ROUND - bits) as usize..].first_chunk().unwrap_or(&SALTS);
        _mm256_testc_si256(words, _mm256_sllv_epi32(lanes(ones), round.places)) != 0
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn contains_inline(line: &[u8; LINE_BYTES], hash: u64, k: u32) -> bool {
        if k <= ROUND {
            return all_set(line, &round(hash), k);
        }
        let mut all = true;
        // Without a branch on what was found: mostly the next round is looked at too, or the line is the wait.
        for (hash, bits) in Rounds::new(hash, k) {
            all &= all_set(line, &round(hash), bits);
        }
        all
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn contains(line: &[u8; LINE_BYTES], hash: u64, k: u32) -> bool {
        contains_inline(line, hash, k)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn contains_each<L: Borrow<[u8; LINE_BYTES]>>(lines: &[L], hash: u64, k: u32) -> u64 {
        contains_each_inline(lines, hash, k)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn contains_each_inline<L: Borrow<[u8; LINE_BYTES]>>(lines: &[L], hash: u64, k: u32) -> u64 {
        let each = |round: &Round, bits| {
            let mut found = 0;
            for (i, line) in lines.iter().enumerate() {
                found |= u64::from(all_set(line.borrow(), round, bits)) << i;
            }
            found
        };
        if k <= ROUND {
            return each(&round(hash), k);
        }
        let mut found = u64::MAX;
        for (hash, bits) in Rounds::new(hash, k) {
            found &= each(&round(hash), bits);
        }
        found
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn contains_batch<L: Borrow<[u8; LINE_BYTES]>>(
        lines: &[L],
        k: u32,
        hashes: &[u64],
        found: &mut [bool],
    ) {
        visit_lines(lines, hashes, |i, line| found[i] = contains_inline(line, hashes[i], k));
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn contains_any_batch<L: Borrow<[u8; LINE_BYTES]>>(
        lines: &[L],
        side_by_side: usize,
        k: u32,
        hashes: &[u64],
        found: &mut [bool],
    ) {
        visit_groups(lines, side_by_side, hashes, |i, lines| {
            found[i] = contains_each_inline(lines, hashes[i], k) != 0;
        });
    }

    /// Bytes from row to row of [`WINDOWS`].
    const ROW: usize = 2 * LINE_BYTES;

    /// Where in its row a bit lies.
    const MIDDLE: i32 = 63;

    /// Eight rows of zeros with one bit in the middle, bit i of row i. The line that has only bit b set is the window of 64
    /// bytes that has the middle of row b % 8 in its place b / 8.
    static WINDOWS: [u8; 8 * ROW] = {
        let mut rows = [0; 8 * ROW];
        let mut i = 0;
        while i < 8 {
            rows[i * ROW + MIDDLE as usize] = 1 << i;
            i += 1;
        }
        rows
    };

    /// The bits of a hash as the halves of a line. Made in registers: bits that are set one after the other in memory
    /// wait for each other as soon as two of them share a word.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn mask(hash: u64, k: u32) -> [__m256i; 2] {
        let (mut low, mut high) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        for (hash, bits) in Rounds::new(hash, k) {
            let round = round(hash);
            // Where the window of a bit starts: 128 (place % 8) + 63 - (4 word + place / 8).
            let row = _mm256_slli_epi32::<7>(_mm256_and_si256(round.places, _mm256_set1_epi32(7)));
            let byte = _mm256_add_epi32(
                _mm256_slli_epi32::<2>(_mm256_srli_epi32::<28>(round.words)),
                _mm256_srli_epi32::<3>(round.places),
            );
            let middle = _mm256_add_epi32(row, _mm256_set1_epi32(MIDDLE));
            let mut starts = [0u32; ROUND as usize];
            // SAFETY: the array is of 32 bytes, and the store wants no alignment.
            unsafe { _mm256_storeu_si256(starts.as_mut_ptr().cast(), _mm256_sub_epi32(middle, byte)) };
            for &start in starts.iter().take(bits as usize) {
                // SAFETY: a place is below 32 and a word below 16, so that a window starts 0 to 63 bytes into one of the
                // eight rows, and ends within it.
                unsafe {
                    let window = WINDOWS.as_ptr().add(start as usize);
                    low = _mm256_or_si256(low, _mm256_loadu_si256(window.cast()));
                    high = _mm256_or_si256(high, _mm256_loadu_si256(window.add(LINE_BYTES / 2).cast()));
                }
            }
        }
        [low, high]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn insert_inline(line: &mut [u8; LINE_BYTES], hash: u64, k: u32) -> bool {
        let mut known = true;
        let (halves, _) = line.as_chunks_mut::<{ LINE_BYTES / 2 }>();
        for (half, mask) in halves.iter_mut().zip(mask(hash, k)) {
            // SAFETY: the half is of 32 bytes, and load and store want no alignment.
            unsafe {
                let before = _mm256_loadu_si256(half.as_ptr().cast());
                known &= _mm256_testc_si256(before, mask) != 0;
                _mm256_storeu_si256(half.as_mut_ptr().cast(), _mm256_or_si256(before, mask));
            }
        }
        !known
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn insert(line: &mut [u8; LINE_BYTES], hash: u64, k: u32) -> bool {
        insert_inline(line, hash, k)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn insert_batch(lines: &mut [Line], k: u32, hashes: &[u64]) {
        insert_each(lines, hashes, |line, hash| _ = insert_inline(line, hash, k));
    }
}

#[cfg(test)]
mod tests {
    use pds_testkit::{DistinctKeys, fewer_interpreted};

    use super::*;

    /// The portable code is the oracle; where there is no AVX2 this compares it with itself.
    #[test]
    fn every_backend_does_the_same() {
        let simd = Simd::detect();
        for k in 1..=24 {
            let (mut one, mut other) = ([Line::EMPTY; 4], [Line::EMPTY; 4]);
            for hash in DistinctKeys::new(u64::from(k)).range(0..fewer_interpreted(600)) {
                let at = reduce(hash, 3) as usize;
                for line in &one[..3] {
                    assert_eq!(contains(simd, &line.0, hash, k), contains(Simd::PORTABLE, &line.0, hash, k));
                }
                assert_eq!(contains_each(simd, &one, hash, k), contains_each(Simd::PORTABLE, &one, hash, k));
                let any = |simd: Simd| {
                    let mut found = [false; 2];
                    contains_any_batch(simd, &one, 2, k, &[hash, !hash], &mut found);
                    found
                };
                assert_eq!(any(simd), any(Simd::PORTABLE));
                assert_eq!(
                    insert(simd, &mut one[at].0, hash, k),
                    insert(Simd::PORTABLE, &mut other[at].0, hash, k)
                );
                assert!(one == other && contains(simd, &one[at].0, hash, k));
            }
        }
    }
}
