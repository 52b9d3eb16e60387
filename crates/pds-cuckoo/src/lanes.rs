//! The four slots of a bucket, compared at a time in one machine word.

use crate::geometry::Bucket;

/// Slots of a bucket.
///
/// With 4, tables fill to 95%, and take the fewest bits for rates from 1e-5 to 0.002 (`[FanEtAl14, 5.1]`); with 2 they fill to
/// 84%.
pub(crate) const SLOTS: u32 = 4;

/// The widest slot whose bucket one `u64` holds.
const NARROW: u32 = 16;

/// The widest slot whose bucket one `u128` holds.
pub(crate) const WIDEST: u32 = 32;

/// How a bucket is loaded. One of each kind of slot, chosen once for an operation; all loops are written once for all.
pub(crate) trait Form {
    type Word: Window;

    /// Whether every bucket begins at a byte.
    const WHOLE_BYTES: bool;
}

/// Slots of an even number of bits, up to 16: the one that is inlined.
pub(crate) struct Even;

/// Slots of an odd number of bits, up to 15.
pub(crate) struct Odd;

/// Slots of more than 16 bits.
pub(crate) struct Wide;

impl Form for Even {
    type Word = u64;
    const WHOLE_BYTES: bool = true;
}

impl Form for Odd {
    type Word = u64;
    const WHOLE_BYTES: bool = false;
}

impl Form for Wide {
    type Word = u128;
    const WHOLE_BYTES: bool = false;
}

/// Calls a method for the form of some lanes.
macro_rules! by_form {
    ($lanes:expr, $table:ident.$method:ident($($argument:expr),*)) => {
        if $lanes.is_even() {
            $table.$method::<$crate::lanes::Even>($($argument),*)
        } else if $lanes.is_narrow() {
            $table.$method::<$crate::lanes::Odd>($($argument),*)
        } else {
            $table.$method::<$crate::lanes::Wide>($($argument),*)
        }
    };
}
pub(crate) use by_form;

/// Slots side by side: the lowest bit and the highest bit of each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lanes {
    width: u32,
    even: bool,
    lowest: u128,
    highest: u128,
}

impl Lanes {
    /// Slots of this many bits, at most [`WIDEST`].
    pub(crate) fn new(width: u32) -> Self {
        let lowest = (0..SLOTS).fold(0u128, |bits, slot| bits | 1 << (slot * width));
        Self {
            width,
            even: width.is_multiple_of(2) && width <= NARROW,
            lowest,
            highest: lowest << (width - 1),
        }
    }

    /// Bits of a slot.
    #[inline]
    pub(crate) fn width(&self) -> u32 {
        self.width
    }

    /// Bits of a bucket.
    #[inline]
    pub(crate) fn bucket_bits(&self) -> u64 {
        u64::from(SLOTS * self.width)
    }

    /// The byte at which the word of a bucket begins, and how many bits of it belong to the bucket before.
    #[inline]
    pub(crate) fn position<F: Form>(&self, bucket: Bucket) -> (usize, u32) {
        let bucket = bucket.number();
        if F::WHOLE_BYTES {
            ((bucket * (self.bucket_bits() / 8)) as usize, 0)
        } else {
            let bit = bucket * self.bucket_bits();
            ((bit / 8) as usize, (bit % 8) as u32)
        }
    }

    /// Whether the form is [`Even`].
    #[inline]
    pub(crate) fn is_even(&self) -> bool {
        self.even
    }

    /// Whether a `u64` holds a bucket.
    #[inline]
    pub(crate) fn is_narrow(&self) -> bool {
        self.width <= NARROW
    }
}

/// A bucket in the lowest bits of a word; above it lies anything.
pub(crate) trait Window: Copy + PartialEq {
    const BYTES: usize;

    fn from_bytes(bytes: &[u8]) -> Self;

    fn put(self, bytes: &mut [u8]);

    /// Without the lowest bits.
    fn down(self, bits: u32) -> Self;

    /// The empty slots: see [`Window::equal`].
    fn empty(self, lanes: &Lanes) -> Self;

    /// Marks slots of this value by their highest bit. The lowest mark is right, and there is none if there is no such
    /// slot; above a right one there may be wrong ones.
    fn equal(self, lanes: &Lanes, value: u64) -> Self;

    /// Where the lowest marked slot begins, in bits; beyond every slot if none is marked.
    fn first(self, lanes: &Lanes) -> u32;

    /// Whether a slot is marked here or there.
    fn either(self, other: Self) -> bool;

    /// What the slot that begins at this bit holds.
    fn get(self, lanes: &Lanes, at: u32) -> u64;

    /// The word with another value in the slot that begins at this bit.
    fn set(self, lanes: &Lanes, at: u32, value: u64) -> Self;
}

/// [`Window::first`] of no mark.
pub(crate) const NONE: u32 = 128;

macro_rules! windows {
    ($($word:ty),*) => {$(
        impl Window for $word {
            const BYTES: usize = size_of::<$word>();

            #[inline]
            fn from_bytes(bytes: &[u8]) -> Self {
                let mut word = [0; size_of::<$word>()];
                word.copy_from_slice(bytes);
                <$word>::from_le_bytes(word)
            }

            #[inline]
            fn put(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn down(self, bits: u32) -> Self {
                self >> bits
            }

            #[inline]
            fn empty(self, lanes: &Lanes) -> Self {
                self.wrapping_sub(lanes.lowest as $word) & !self & lanes.highest as $word
            }

            #[inline]
            fn equal(self, lanes: &Lanes, value: u64) -> Self {
                (self ^ (lanes.lowest as $word).wrapping_mul(<$word>::from(value))).empty(lanes)
            }

            #[inline]
            fn first(self, lanes: &Lanes) -> u32 {
                if self == 0 { NONE } else { self.trailing_zeros() + 1 - lanes.width }
            }

            #[inline]
            fn either(self, other: Self) -> bool {
                self | other != 0
            }

            #[inline]
            fn get(self, lanes: &Lanes, at: u32) -> u64 {
                (self >> at) as u64 & ((1 << lanes.width) - 1)
            }

            #[inline]
            fn set(self, lanes: &Lanes, at: u32, value: u64) -> Self {
                let slot = ((1 << lanes.width) - 1) << at;
                (self & !slot) | (<$word>::from(value) << at)
            }
        }
    )*};
}
windows!(u64, u128);

#[cfg(test)]
mod tests {
    use pds_testkit::proptest::prelude::*;
    use pds_testkit::proptest::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    /// What the four slots hold, bit by bit.
    fn slots(word: u128, width: u32) -> [u64; 4] {
        [0, 1, 2, 3].map(|slot| (word >> (slot * width)) as u64 & ((1 << width) - 1))
    }

    fn first_equal(word: u128, width: u32, value: u64) -> u32 {
        slots(word, width).iter().position(|&slot| slot == value).map_or(NONE, |slot| slot as u32 * width)
    }

    proptest! {
        /// With slots that are equal, empty or nearly so, and noise above the bucket.
        #[test]
        fn all_slots_at_once_are_one_slot_after_the_other(
            width in 4..=32u32, values in any::<[u64; 4]>(), kinds in any::<[u8; 4]>(), wanted: u64, noise: u128,
        ) {
            let lanes = Lanes::new(width);
            let mask = (1u64 << width) - 1;
            let wanted = (wanted & mask).max(1);
            let bucket = u128::from(SLOTS * width);
            let above = if bucket == 128 { 0 } else { noise << bucket };
            let word = (0..4).fold(above, |word, slot| {
                let value = match kinds[slot] % 5 {
                    0 => 0,
                    1 => wanted,
                    2 => wanted ^ 1,
                    3 => mask,
                    _ => values[slot] & mask,
                };
                word | u128::from(value) << (slot as u32 * width)
            });
            prop_assert_eq!(word.equal(&lanes, wanted).first(&lanes), first_equal(word, width, wanted));
            prop_assert_eq!(word.empty(&lanes).first(&lanes), first_equal(word, width, 0));
            if lanes.is_narrow() {
                let narrow = word as u64;
                prop_assert_eq!(narrow.equal(&lanes, wanted).first(&lanes), first_equal(word, width, wanted));
                prop_assert_eq!(narrow.empty(&lanes).first(&lanes), first_equal(word, width, 0));
            }
            for slot in 0..SLOTS {
                let at = slot * width;
                prop_assert_eq!(word.get(&lanes, at), slots(word, width)[slot as usize]);
                let changed = word.set(&lanes, at, wanted);
                prop_assert_eq!(changed.get(&lanes, at), wanted);
                prop_assert!(changed.set(&lanes, at, word.get(&lanes, at)) == word);
            }
        }
    }
}
