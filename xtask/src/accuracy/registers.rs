//! Sketches of counts that nobody can insert: registers drawn from the distribution that keys would give them.
//!
//! **The model.** `n` keys arrive as a Poisson process, so that each of the m registers meets a Poisson number of hashes, of
//! mean x = n/m, independently of the others. A hash has the value v (its leading zeros and one) with probability 2^-v, and
//! the last value, 47, with 2^-46. The greatest value of a register is at most r with probability e^(-x 2^-r): it is drawn by
//! inverting that distribution. Arrivals of different values are independent, so that a register of UltraLogLog, whose greatest
//! value is drawn, has seen each of the two values below with probability 1 - e^(-x 2^-v), whatever the greatest is.
//!
//! **The sketch** is made by its public interface: for each value drawn, a hash of this register and this value is inserted. Where
//! so few would leave it counting keys one by one, each value has two hashes; a register does not tell them from one.
//!
//! **What differs from keys**: their number varies as a Poisson variable does, so that errors have the variance 1/n more, relative
//! to n. [`error`] adds it to a prediction.

use pds_hll::{UllParams, UltraLogLog};
use pds_testkit::SplitMix64;

/// The greatest value: 46 leading zeros, and one.
const MAX_VALUE: usize = 47;

/// Values up to this leave the hash's bit [`TWIN`] free.
const MAX_TWIN_VALUE: u8 = 38;

/// A bit above every index and below every leading one up to [`MAX_TWIN_VALUE`], which tells two hashes of one value apart.
const TWIN: u64 = 1 << 18;

/// Below so many keys a register, values have two hashes each.
const FEW: f64 = 1.0;

/// Hashes inserted at a time.
const CHUNK: usize = 1024;

/// The distribution of registers.
pub(super) struct Drawn {
    /// Whether values have two hashes each.
    few: bool,
    /// Probabilities that the greatest value is above 0, 1, .. 46, in units of 2^-64.
    above: [u64; MAX_VALUE],
    /// By the top byte of a uniform number, the least value that it leads to.
    least: [u8; 256],
    /// Probabilities that a value was seen, in units of 2^-32.
    seen: [u64; MAX_VALUE + 1],
    params: UllParams,
}

impl Drawn {
    /// Of `keys` keys, 3 m / 16 or more.
    pub(super) fn new(params: UllParams, keys: f64) -> Self {
        let x = keys / params.registers() as f64;
        let probability = |rate: f64| -libm::expm1(-rate);
        let above: [u64; MAX_VALUE] =
            std::array::from_fn(|r| libm::ldexp(probability(libm::ldexp(x, -(r as i32))), 64) as u64);
        let least = std::array::from_fn(|top| value_of(&above, 0, (top as u64) << 56 | u64::MAX >> 8));
        let seen = std::array::from_fn(|value| {
            libm::ldexp(probability(libm::ldexp(x, -(value.min(MAX_VALUE - 1) as i32))), 32) as u64
        });
        Self { few: x < FEW, above, least, seen, params }
    }

    /// An UltraLogLog; `HyperLogLog::from` gives the HyperLogLog of the same registers.
    pub(super) fn ull(&self, seed: u64) -> UltraLogLog {
        let mut random = SplitMix64::new(seed);
        let mut sketch = UltraLogLog::new(self.params);
        let mut hashes = Hashes { hashes: Vec::with_capacity(CHUNK + 6), twins: self.few };
        for register in 0..self.params.registers() as u64 {
            let greatest = self.greatest(random.next_u64());
            hashes.add(register, greatest);
            let flags = random.next_u64();
            for (below, flag) in [(1, flags >> 32), (2, flags & u64::from(u32::MAX))] {
                if greatest > below && flag < self.seen[usize::from(greatest - below)] {
                    hashes.add(register, greatest - below);
                }
            }
            if hashes.hashes.len() >= CHUNK {
                sketch.insert_batch(&hashes.hashes);
                hashes.hashes.clear();
            }
        }
        sketch.insert_batch(&hashes.hashes);
        sketch
    }

    /// The value of a uniform number.
    #[inline]
    fn greatest(&self, uniform: u64) -> u8 {
        value_of(&self.above, self.least[(uniform >> 56) as usize], uniform)
    }
}

/// A predicted relative error at `keys` keys, if their number is a Poisson variable.
pub(super) fn error(prediction: f64, keys: f64) -> f64 {
    libm::sqrt(prediction * prediction + 1.0 / keys)
}

/// The least value, from `least` on, that is not exceeded.
#[inline]
fn value_of(above: &[u64; MAX_VALUE], least: u8, uniform: u64) -> u8 {
    let mut value = least;
    while usize::from(value) < MAX_VALUE && uniform < above[usize::from(value)] {
        value += 1;
    }
    value
}

struct Hashes {
    hashes: Vec<u64>,
    /// Whether to add two of each.
    twins: bool,
}

impl Hashes {
    /// Adds a hash of a register and a value; of no value none.
    #[inline]
    fn add(&mut self, register: u64, value: u8) {
        if value == 0 {
            return;
        }
        let leading = if usize::from(value) < MAX_VALUE { 1 << (64 - value) } else { 0 };
        self.hashes.push(leading | register);
        if self.twins && value <= MAX_TWIN_VALUE {
            self.hashes.push(leading | TWIN | register);
        }
    }
}

#[cfg(test)]
mod tests {
    use pds_testkit::{DistinctKeys, laws};

    use super::*;

    fn drawn(p: u8, keys: f64) -> Drawn {
        Drawn::new(UllParams::with_precision(p).unwrap(), keys)
    }

    /// The share of registers of a value, by drawing and by inserting keys.
    #[test]
    fn registers_are_distributed_as_those_of_keys() {
        const P: u8 = 14;
        for keys in [4096u64, 50_000, 400_000] {
            let model = drawn(P, keys as f64);
            let counts = |registers: &[u8]| {
                let mut counts = [0u64; 256];
                for &register in registers {
                    counts[usize::from(register)] += 1;
                }
                counts
            };
            let (mut expected, mut found) = ([0; 256], [0; 256]);
            for seed in 0..20 {
                let mut sketch = UltraLogLog::new(model.params);
                sketch.extend(DistinctKeys::new(seed).range(0..keys));
                for (sum, registers) in
                    [(&mut expected, sketch.registers()), (&mut found, model.ull(seed).registers())]
                {
                    sum.iter_mut().zip(counts(&registers)).for_each(|(sum, count)| *sum += count);
                }
            }
            let all = 20 << P;
            for (register, (found, expected)) in found.into_iter().zip(expected).enumerate() {
                let same = laws::rate_is(found, all, expected as f64 / all as f64);
                // Both sides are samples, and few registers tell little.
                assert!(same.pass || expected < 200, "{keys} keys, register {register}: {same}");
            }
        }
    }

    #[test]
    fn few_keys_make_registers_too() {
        for p in 10..=18 {
            let model = drawn(p, 0.25 * f64::from(1u32 << p));
            assert!(!model.ull(1).is_sparse(), "p = {p}");
        }
    }

    #[test]
    fn the_last_value_is_reached_and_not_exceeded() {
        let registers = drawn(10, libm::ldexp(1.0, 70)).ull(1).registers().into_owned();
        assert!(registers.iter().all(|&register| register == 4 * 47 + 3));
    }
}
