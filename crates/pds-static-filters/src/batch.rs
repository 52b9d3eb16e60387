//! Many hashes at a time, with the memory of later ones fetched ahead.

use crate::Slot;
use crate::arch::Slots;
use crate::layout::sealed::Layout;
use crate::seeds::attempted;

/// Filters below this size are asked without a prefetch: that takes the places of a hash twice, and a query is so short that
/// the processor has several under way by itself, which hides all but the time that the last cache and memory take.
const PREFETCH_BYTES: usize = 1 << 23;

/// How many hashes lie between asking for the lines of one and looking at them.
const AHEAD: usize = 32;

/// Answers for the first min(lengths) hashes, and returns that number.
pub(crate) fn contains<L: Layout, S: Slot, B: AsRef<[u8]>>(
    slots: &Slots<L, S, B>,
    seed: u64,
    hashes: &[u64],
    found: &mut [bool],
) -> usize {
    let count = hashes.len().min(found.len());
    let (hashes, found) = (&hashes[..count], &mut found[..count]);
    if slots.bytes().len() < PREFETCH_BYTES {
        for (found, &hash) in found.iter_mut().zip(hashes) {
            *found = slots.contain(attempted(hash, seed));
        }
        return count;
    }
    let mut window = [0; AHEAD];
    for (place, &hash) in window.iter_mut().zip(hashes) {
        *place = attempted(hash, seed);
        slots.prefetch(*place);
    }
    for (i, found) in found.iter_mut().enumerate() {
        let place = &mut window[i % AHEAD];
        let now = *place;
        if let Some(&later) = hashes.get(i + AHEAD) {
            *place = attempted(later, seed);
            slots.prefetch(*place);
        }
        *found = slots.contain(now);
    }
    count
}
