//! What a merge promises.

use core::fmt;

/// What a merge of two sketches of any kind promises, from the strongest promise to none.
///
/// It is that of the kind, and of its panes for a [`SlidingCountMin`](pds_core::wire::Kind::SLIDING_COUNT_MIN). Whatever
/// the law, a refused merge changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum MergeLaw {
    /// The bytes of the merged sketch are those of the sketch of both streams, in any order and grouping.
    ///
    /// Of counting Bloom filters for histories that only insert; of count-min sketches for what was only counted, or taken
    /// back before a counter saturated; of windows at the same generation.
    Exact,
    /// The merged sketch answers for both streams within its documented bound. Its bytes depend on the order.
    Bounded,
    /// There is no merge; [`AnySketch::absorb`](crate::AnySketch::absorb) stores the other filter's entries: all keys of
    /// both, or refused and nothing changed. Its bytes depend on the order.
    Absorb,
    /// There is none: the keys of both, or another structure, have to be taken to one place.
    None,
}

impl fmt::Display for MergeLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Exact => "exact",
            Self::Bounded => "within the bound",
            Self::Absorb => "absorbs",
            Self::None => "none",
        })
    }
}
