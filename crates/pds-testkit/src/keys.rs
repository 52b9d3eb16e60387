//! Keys and random numbers that are the same on every machine.

use std::ops::Range;

/// 2^64 divided by the golden ratio, made odd: the step of `SplitMix64` \[SteeleLeaFlood14\].
const GOLDEN_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The step of the keys: a multiplier of linear congruential generators with a good spectrum \[Steele22\].
const KEY_STEP: u64 = 0xd134_2543_de82_ef95;

/// A one-to-one map from indices to keys: distinct keys in any number, with no set to hold them.
///
/// Key *i* is an odd multiple of *i* plus a mixed seed, finalised by Evensen's `moremur`. None of the constants
/// occurs in wyhash, SipHash, murmur or `SplitMix64`, so that the keys are unrelated to the hash functions under
/// test. Two seeds give two permutations that are not disjoint: `n` keys of one meet `n` keys of the other with
/// probability about `2n / 2^64`. For keys that are surely absent take other indices of the same seed.
///
/// ```
/// use pds_testkit::DistinctKeys;
///
/// let keys = DistinctKeys::new(1);
/// let (members, strangers) = (keys.range(0..1000), keys.range(1000..2000));
/// assert!(members.zip(strangers).all(|(member, stranger)| member != stranger));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DistinctKeys {
    offset: u64,
}

impl DistinctKeys {
    /// The keys of a seed.
    pub fn new(seed: u64) -> Self {
        Self { offset: mix(seed.wrapping_add(GOLDEN_STEP)) }
    }

    /// The key of an index; different indices have different keys.
    pub fn key(self, index: u64) -> u64 {
        moremur(index.wrapping_mul(KEY_STEP).wrapping_add(self.offset))
    }

    /// The keys of a range of indices, in order.
    pub fn range(self, indices: Range<u64>) -> impl Iterator<Item = u64> + Clone {
        indices.map(move |index| self.key(index))
    }
}

/// A small deterministic generator; not for secrets.
///
/// # Source
///
/// `SplitMix64` \[SteeleLeaFlood14\], with variant 13 of Stafford's finaliser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// 64 uniform bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN_STEP);
        mix(self.state)
    }

    /// A uniform number in `[0, 1)`, a multiple of 2^-53.
    pub fn next_f64(&mut self) -> f64 {
        const TWO_TO_MINUS_53: f64 = 1.0 / (1u64 << 53) as f64;
        (self.next_u64() >> 11) as f64 * TWO_TO_MINUS_53
    }

    /// A number below `n`, by multiply and shift; 0 if `n` is 0.
    ///
    /// No value's probability is off by more than 2^-64.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// A standard normal number, by Box and Muller \[Box58\].
    pub fn next_normal(&mut self) -> f64 {
        // 1 - u lies in (0, 1], so that the logarithm is finite.
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.next_f64()));
        radius * libm::cos(std::f64::consts::TAU * self.next_f64())
    }

    /// Puts a slice into a uniformly random order, by Fisher and Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }
}

/// The seed of a trial: FNV-1a of the experiment's id, then one `SplitMix64` finalisation for it, for the cell
/// and for the trial.
///
/// For one id and cell, different trials have different seeds.
pub fn seed_for(id: &str, cell: u64, trial: u64) -> u64 {
    const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const FNV_PRIME: u64 = 0x0100_0000_01b3;
    let id = id.bytes().fold(FNV_BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME));
    mix(mix(mix(id) ^ cell) ^ trial)
}

/// Stafford's variant 13: one-to-one, except that it leaves 0 at 0.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Evensen's `moremur`: one-to-one, since xor-shifts and odd multiplications are.
fn moremur(mut x: u64) -> u64 {
    x = (x ^ (x >> 27)).wrapping_mul(0x3c79_ac49_2ba7_b653);
    x = (x ^ (x >> 33)).wrapping_mul(0x1c69_b3f7_4ac4_ae35);
    x ^ (x >> 27)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::laws;

    #[test]
    fn keys_are_distinct() {
        let keys = DistinctKeys::new(7);
        let set: HashSet<u64> = keys.range(0..1_000_000).collect();
        assert_eq!(set.len(), 1_000_000);
    }

    #[test]
    fn keys_of_two_seeds_do_not_meet_in_a_million() {
        let set: HashSet<u64> = DistinctKeys::new(0).range(0..1_000_000).collect();
        assert!(!DistinctKeys::new(1).range(0..1_000_000).any(|key| set.contains(&key)));
    }

    #[test]
    fn keys_never_change() {
        assert_eq!(DistinctKeys::new(1).range(0..2).collect::<Vec<_>>(), PINNED_KEYS);
    }

    /// Committed tables depend on them.
    const PINNED_KEYS: [u64; 2] = [17_191_812_225_659_306_792, 5_561_049_262_745_404_024];

    #[test]
    fn every_byte_of_the_keys_is_uniform() {
        for shift in (0..64).step_by(8) {
            let mut counts = [0u64; 256];
            for key in DistinctKeys::new(3).range(0..1 << 20) {
                counts[(key >> shift) as usize & 255] += 1;
            }
            laws::chi_square_uniform(&counts).assert("uniform bytes");
        }
    }

    #[test]
    fn the_generator_is_the_published_one() {
        // First outputs for seed 1234567 of the reference code of Vigna.
        let mut random = SplitMix64::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn numbers_below_n_are_below_n_and_uniform() {
        let mut random = SplitMix64::new(5);
        let mut counts = [0u64; 10];
        for _ in 0..100_000 {
            counts[random.below(10) as usize] += 1;
        }
        laws::chi_square_uniform(&counts).assert("uniform numbers");
        assert_eq!(random.below(0), 0);
        assert_eq!(random.below(1), 0);
    }

    #[test]
    fn normal_numbers_have_mean_0_and_deviation_1() {
        let mut random = SplitMix64::new(6);
        let normals: Vec<f64> = (0..100_000).map(|_| random.next_normal()).collect();
        laws::rmse_is(&normals, 1.0).assert("deviation");
        laws::bias_is_zero(laws::mean(&normals), 1.0, 100_000, 0.0).assert("mean");
    }

    #[test]
    fn shuffling_reaches_every_order_equally_often() {
        let mut random = SplitMix64::new(8);
        let mut counts = [0u64; 6];
        for _ in 0..60_000 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            counts[items[0] * 2 + usize::from(items[1] > items[2])] += 1;
        }
        laws::chi_square_uniform(&counts).assert("uniform orders");
    }

    #[test]
    fn seeds_differ_by_id_cell_and_trial_and_never_change() {
        let seeds = [seed_for("a", 0, 0), seed_for("b", 0, 0), seed_for("a", 1, 0), seed_for("a", 0, 1)];
        assert_eq!(seeds.iter().collect::<HashSet<_>>().len(), 4);
        assert_eq!(seed_for("bloom-fpr", 2, 3), PINNED_SEED);
    }

    /// Committed tables depend on it.
    const PINNED_SEED: u64 = 7_780_892_179_475_187_899;
}
