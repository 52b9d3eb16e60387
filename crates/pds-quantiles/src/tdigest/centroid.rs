//! What a digest is made of.

/// Neighbouring values, of which mean and number are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Centroid {
    mean: f64,
    weight: u64,
    atom: bool,
}

impl Centroid {
    /// `weight` times one and the same value. Not 0 times.
    pub(crate) fn atom(value: f64, weight: u64) -> Self {
        Self { mean: value, weight, atom: true }
    }

    /// At least two values of this mean, maybe different ones.
    pub(crate) fn cluster(mean: f64, weight: u64) -> Self {
        Self { mean, weight, atom: false }
    }

    /// The mean of the values.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// How many values there are, by weight.
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// Whether all of the values are known to be the mean: one value alone, or one repeated.
    pub fn is_atom(&self) -> bool {
        self.atom
    }

    /// Whether this is the mean. By bits, which are as good: no mean is -0.0.
    #[inline]
    pub(crate) fn has_mean(&self, value: f64) -> bool {
        self.mean.to_bits() == value.to_bits()
    }

    /// Takes in a neighbour of the same value, which loses nothing, if it is one.
    #[inline]
    pub(crate) fn coalesce(&mut self, other: &Self) -> bool {
        let same = self.atom && other.atom && self.has_mean(other.mean);
        if same {
            self.weight += other.weight;
        }
        same
    }
}
