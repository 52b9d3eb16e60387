//! Small dense systems over GF(2): a basis of bit vectors, and sums of them that give wanted values.

use alloc::vec;
use alloc::vec::Vec;

use crate::Slot;

/// Linearly independent bit vectors, in the order in which they came.
pub(crate) struct Basis {
    bits: usize,
    words: usize,
    /// The vectors, each less those that came before it so that its first bit is no other's.
    reduced: Vec<u64>,
    /// For each vector, which of those before it were taken off.
    less: Vec<u64>,
    /// For each bit, the vector whose first bit it is.
    with_first: Vec<Option<usize>>,
    vectors: usize,
}

impl Basis {
    /// Empty, of vectors of so many bits.
    pub(crate) fn new(bits: usize) -> Self {
        Self {
            bits,
            words: bits.div_ceil(64),
            reduced: Vec::new(),
            less: Vec::new(),
            with_first: vec![None; bits],
            vectors: 0,
        }
    }

    /// Adds a vector, unless it is a sum of others.
    pub(crate) fn insert(&mut self, vector: &[u64]) -> bool {
        let at = self.reduced.len();
        self.reduced.extend_from_slice(vector);
        self.less.resize(at + self.words, 0);
        let (before, vector) = self.reduced.split_at_mut(at);
        let less = &mut self.less[at..];
        for word in 0..self.words {
            while vector[word] != 0 {
                let bit = word * 64 + vector[word].trailing_zeros() as usize;
                let Some(with_first) = self.with_first[bit] else {
                    self.with_first[bit] = Some(self.vectors);
                    self.vectors += 1;
                    return true;
                };
                let other = &before[with_first * self.words..][..self.words];
                vector.iter_mut().zip(other).for_each(|(to, by)| *to ^= by);
                less[with_first / 64] ^= 1 << (with_first % 64);
            }
        }
        self.reduced.truncate(at);
        self.less.truncate(at);
        false
    }

    /// One value for each vector, such that at every bit the values of the vectors that have it sum up to the wanted one;
    /// none if there are no such values.
    pub(crate) fn combine<S: Slot>(&self, mut wanted: Vec<S>) -> Option<Vec<S>> {
        let zero = S::truncate(0);
        let mut values = vec![zero; self.vectors];
        for bit in 0..self.bits {
            let Some(vector) = self.with_first[bit] else {
                // Nothing that is left has this bit first, nor any that is behind.
                if wanted[bit] != zero {
                    return None;
                }
                continue;
            };
            let value = wanted[bit];
            values[vector] = value;
            for other in ones(&self.reduced[vector * self.words..][..self.words]) {
                wanted[other] = wanted[other].xor(value);
            }
        }
        // From the reduced vectors to the vectors: those taken off are there again.
        for vector in (0..self.vectors).rev() {
            let value = values[vector];
            for other in ones(&self.less[vector * self.words..][..self.words]) {
                values[other] = values[other].xor(value);
            }
        }
        Some(values)
    }
}

fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(i, &word)| {
        let next = |&rest: &u64| Some(rest & (rest - 1)).filter(|&rest| rest != 0);
        core::iter::successors(Some(word).filter(|&word| word != 0), next)
            .map(move |rest| i * 64 + rest.trailing_zeros() as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pds_testkit::SplitMix64;

    /// Values for random vectors, against the sums that they must give; and how many vectors a basis takes.
    #[test]
    fn values_sum_up_to_what_is_wanted_or_there_are_none() {
        let mut random = SplitMix64::new(1);
        let (mut solved, mut unsolved) = (0, 0);
        for bits in (1..200usize).flat_map(|bits| [bits; 3]) {
            let words = bits.div_ceil(64);
            let mut vector = || -> Vec<u64> {
                // Few ones, so that some vectors depend on others.
                let mask = if bits % 64 == 0 { !0 } else { !0 >> (64 - bits % 64) };
                let mut vector: Vec<u64> =
                    (0..words).map(|_| random.next_u64() & random.next_u64() & random.next_u64()).collect();
                vector[words - 1] &= mask;
                vector
            };
            let mut basis = Basis::new(bits);
            let vectors: Vec<Vec<u64>> =
                (0..bits + 3).map(|_| vector()).filter(|vector| basis.insert(vector)).collect();
            assert!(vectors.len() <= bits);
            let wanted: Vec<u16> = (0..bits).map(|_| random.next_u64() as u16).collect();
            let Some(values) = basis.combine(wanted.clone()) else {
                assert!(vectors.len() < bits, "{bits} vectors of {bits} bits give everything");
                unsolved += 1;
                continue;
            };
            solved += 1;
            for (bit, &wanted) in wanted.iter().enumerate() {
                let sum = vectors
                    .iter()
                    .zip(&values)
                    .filter(|(vector, _)| vector[bit / 64] >> (bit % 64) & 1 == 1)
                    .fold(0, |sum, (_, value)| sum ^ value);
                assert_eq!(sum, wanted, "bit {bit} of {bits}");
            }
        }
        assert!(solved > 100 && unsolved > 100, "{solved} and {unsolved}");
    }

    #[test]
    fn a_sum_of_vectors_is_refused_and_equations_that_say_the_same_have_a_solution() {
        let mut basis = Basis::new(3);
        assert!(basis.insert(&[0b011]) && basis.insert(&[0b110]) && !basis.insert(&[0b101]));
        assert!(!basis.insert(&[0]));
        assert_eq!(basis.combine(vec![5u8, 5 ^ 9, 9]), Some(vec![5, 9]));
        assert_eq!(basis.combine(vec![5u8, 5 ^ 9, 8]), None);
    }
}
