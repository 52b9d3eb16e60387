//! What the processor at hand offers.

/// Found once for each filter and kept beside its lines: asking again for each key takes longer than a key does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simd {
    #[cfg(target_arch = "x86_64")]
    avx2: bool,
}

#[cfg(target_arch = "x86_64")]
cpufeatures::new!(detected_avx2, "avx2");

impl Simd {
    /// What there is.
    #[inline]
    pub(crate) fn detect() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            avx2: detected_avx2::get(),
        }
    }

    /// Whether the processor has AVX2. True only if it was detected.
    #[inline]
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn avx2(self) -> bool {
        self.avx2
    }

    /// Nothing but what every processor has: the oracle of the tests.
    #[cfg(test)]
    pub(crate) const PORTABLE: Self = Self {
        #[cfg(target_arch = "x86_64")]
        avx2: false,
    };
}
