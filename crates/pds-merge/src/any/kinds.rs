//! The kinds, in one list, and what is done for each of them.

/// Gives a macro the features, variants and kinds behind its own arguments.
macro_rules! for_each_kind {
    ($then:ident $arguments:tt) => {
        $then! { $arguments
            "bloom" Bloom BLOOM,
            "bloom" SplitBlockBloom SPLIT_BLOCK_BLOOM,
            "bloom" BlockedBloom BLOCKED_BLOOM,
            "bloom" CountingBloom COUNTING_BLOOM,
            "bloom" ScalableBloom SCALABLE_BLOOM,
            "bloom" WindowedBloom WINDOWED_BLOOM,
            "cuckoo" Cuckoo CUCKOO,
            "cuckoo" GrowableCuckoo GROWABLE_CUCKOO,
            "static-filters" BinaryFuse BINARY_FUSE,
            "static-filters" Xor XOR,
            "static-filters" Ribbon RIBBON,
            "hll" HyperLogLog HYPER_LOG_LOG,
            "hll" UltraLogLog ULTRA_LOG_LOG,
            "hll" StreamingHyperLogLog STREAMING_HYPER_LOG_LOG,
            "theta" Theta THETA,
            "theta" ThetaResult THETA_RESULT,
            "cms" CountMin COUNT_MIN,
            "cms" ConservativeCountMin CONSERVATIVE_COUNT_MIN,
            "cms" CountSketch COUNT_SKETCH,
            "cms" SlidingCountMin SLIDING_COUNT_MIN,
            "cms" DecayingCountMin DECAYING_COUNT_MIN,
            "cms" SpaceSaving SPACE_SAVING,
            "cms" MisraGries MISRA_GRIES,
            "cms" TopK TOP_K,
            "cms" HeavyKeeper HEAVY_KEEPER,
            "quantiles" DDSketch DDSKETCH,
            "quantiles" TDigest T_DIGEST,
            "quantiles" Kll KLL,
        }
    };
}

macro_rules! read {
    (($kind:expr, $bytes:expr, $lists:expr)
        $($feature:literal $variant:ident $constant:ident,)*) => {
        match $kind {
            $(#[cfg(feature = $feature)]
            pds_core::wire::Kind::$constant => $crate::any::held::Held::read($bytes, $lists).map($crate::AnySketch::$variant),)*
            pds_core::wire::Kind(found) => Err($crate::Error::Kind { expected: $crate::AnySketch::ANY_KIND.0, found }),
        }
    };
}

/// The same for a sketch of whatever kind.
macro_rules! each {
    (($any:expr, $sketch:ident => $call:expr)
        $($feature:literal $variant:ident $constant:ident,)*) => {
        match $any {
            $(#[cfg(feature = $feature)]
            $crate::AnySketch::$variant($sketch) => $call,)*
        }
    };
}

/// The same for two sketches of one kind.
macro_rules! both {
    (($any:expr, $others:expr, $sketch:ident, $other:ident => $call:expr)
        $($feature:literal $variant:ident $constant:ident,)*) => {
        match ($any, $others) {
            $(#[cfg(feature = $feature)]
            ($crate::AnySketch::$variant($sketch), $crate::AnySketch::$variant($other)) => $call,)*
            (sketch, other) => Err(sketch.other_kind(other)),
        }
    };
}

/// Merges those that lead a list and are of one's own kind; says how many.
macro_rules! leading {
    (($any:expr, $others:expr)
        $($feature:literal $variant:ident $constant:ident,)*) => {
        match $any {
            $(#[cfg(feature = $feature)]
            $crate::AnySketch::$variant(sketch) => {
                let alike = $others.iter().map_while(|other| match other {
                    $crate::AnySketch::$variant(other) => Some(other),
                    _ => None,
                });
                let alike: alloc::vec::Vec<_> = alike.collect();
                sketch.take_many(&alike).map(|()| alike.len())
            })*
        }
    };
}

pub(super) use {both, each, for_each_kind, leading, read};
