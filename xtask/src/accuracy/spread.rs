//! How much filters of one shape differ: deviations of their fill and of their own rate, from the laws of their layouts.

use super::bloom::fill_sigma;
use super::filters::{Shape, WORD, WORDS};

/// A blocked filter's bits of a line, and how many of a key are drawn at a time without repetition.
const LINE: u32 = 512;
const ROUND: u32 = 8;

impl Shape {
    /// Bits of a block; all bits of a classic filter.
    fn block_bits(&self) -> f64 {
        match self {
            Self::Classic(params) => params.bits() as f64,
            Self::SplitBlock(_) => f64::from(WORDS * WORD),
            Self::Blocked(_) => f64::from(LINE),
        }
    }

    /// Bits of a key by the draws without repetition that they come in.
    fn rounds(&self) -> impl Iterator<Item = f64> + Clone {
        let k = self.k();
        (0..k.div_ceil(ROUND)).map(move |round| f64::from((k - round * ROUND).min(ROUND)))
    }

    /// Standard deviation of the share of set bits.
    ///
    /// The ones of a block by Poisson loads, less what the number of all keys being fixed takes away: the load times the
    /// square of the mean's slope. A block's variance is the sum, over pairs of bits, of the chance that both stay clear
    /// less the product of the chances that each does.
    pub(super) fn fill_sigma(&self, keys: u64) -> f64 {
        let m = self.block_bits();
        // The chance that one bit stays clear through a key of its block; pairs of bits, and that both do.
        let (one, pairs) = match self {
            Self::Classic(params) => return fill_sigma(m, params.fill(keys)),
            Self::SplitBlock(_) => {
                let w = f64::from(WORD);
                let one = 1.0 - 1.0 / w;
                (one, vec![(m * (w - 1.0), 1.0 - 2.0 / w), (m * (m - w), one * one)])
            }
            Self::Blocked(_) => {
                let clear = |from: f64| self.rounds().map(|s| (from - s) / from).product::<f64>();
                (clear(m), vec![(m * (m - 1.0), clear(m) * clear(m - 1.0))])
            }
        };
        let blocks = self.bits() as f64 / m;
        let load = keys as f64 / blocks;
        let stays = |chance: f64| libm::exp(-load * (1.0 - chance));
        let second: f64 = pairs.iter().map(|&(pairs, both)| pairs * stays(both)).sum();
        let mean = m * stays(one);
        let slope = (1.0 - one) * mean;
        let variance = (mean + second - mean * mean - load * slope * slope).max(0.0);
        libm::sqrt(variance / blocks) / m
    }

    /// Standard deviation of a filter's own rate.
    ///
    /// Of a classic filter, that of fill^k by the slope. Of others, of a block's rate by Poisson loads, less what the
    /// number of all keys being fixed takes away. The mean square of a block's rate is the chance that two strangers are
    /// both taken for keys.
    pub(super) fn rate_sigma(&self, keys: u64) -> f64 {
        /// The share of the keys over which the slope is taken.
        const STEP: u64 = 1000;
        let m = self.block_bits();
        let blocks = self.bits() as f64 / m;
        let load = keys as f64 / blocks;
        let square = match self {
            Self::Classic(params) => {
                let (k, fill) = (f64::from(params.k()), params.fill(keys));
                return k * libm::pow(fill, k - 1.0) * fill_sigma(m, fill);
            }
            Self::SplitBlock(_) => mean_over_loads(load, |load| {
                // Two choices of a word's bit are the same or not.
                let w = f64::from(WORD);
                let one = libm::pow(1.0 - 1.0 / w, load as f64);
                let both = 1.0 - 2.0 * one + libm::pow(1.0 - 2.0 / w, load as f64);
                libm::pow((1.0 - one) / w + both * (1.0 - 1.0 / w), f64::from(WORDS))
            }),
            Self::Blocked(_) => {
                let mut pairs = Pairs::new(self.rounds());
                mean_over_loads(load, |load| pairs.rate(load))
            }
        };
        let step = (keys / STEP).max(1);
        let rate = self.fpr(keys);
        let slope = (self.fpr(keys + step) - rate) / step as f64 * blocks;
        let variance = square - rate * rate - load * slope * slope;
        libm::sqrt(variance.max(0.0) / blocks)
    }
}

/// The chance that two strangers are both taken for keys of a line: as the blocked filter's law, which follows one.
struct Pairs<R> {
    rounds: R,
    /// The chance that the two ask for d different bits.
    asked: Vec<f64>,
    /// The chance that d given bits are all set, after as many keys as `rates` is long.
    set: Vec<f64>,
    rates: Vec<f64>,
}

impl<R: Iterator<Item = f64> + Clone> Pairs<R> {
    fn new(rounds: R) -> Self {
        let most = 2 * rounds.clone().sum::<f64>() as usize;
        let mut asked = vec![0.0; most + 1];
        asked[0] = 1.0;
        for s in rounds.clone().chain(rounds.clone()) {
            let before = std::mem::replace(&mut asked, vec![0.0; most + 1]);
            for (d, chance) in before.into_iter().enumerate().take(most + 1 - s as usize) {
                for (o, overlap) in overlaps(d, s).into_iter().enumerate().take(s as usize + 1) {
                    asked[d + s as usize - o] += chance * overlap;
                }
            }
        }
        let mut set = vec![0.0; most + 1];
        set[0] = 1.0;
        Self { rounds, asked, set, rates: vec![0.0] }
    }

    fn rate(&mut self, load: u64) -> f64 {
        while self.rates.len() as u64 <= load {
            for s in self.rounds.clone() {
                for d in (1..self.set.len()).rev() {
                    let overlaps = overlaps(d, s).into_iter().enumerate().take(d + 1);
                    self.set[d] = overlaps.map(|(o, overlap)| overlap * self.set[d - o]).sum();
                }
            }
            self.rates.push(self.asked.iter().zip(&self.set).map(|(asked, set)| asked * set).sum());
        }
        self.rates[load as usize]
    }
}

/// The chances that `s` different bits of a line hit so many of `d` given ones: one bit after the other.
fn overlaps(d: usize, s: f64) -> [f64; ROUND as usize + 1] {
    let mut row = [0.0; ROUND as usize + 1];
    row[0] = 1.0;
    for drawn in 0..s as usize {
        for o in (0..=drawn).rev() {
            let hit = d.saturating_sub(o) as f64 / (f64::from(LINE) - drawn as f64);
            row[o + 1] += row[o] * hit;
            row[o] *= 1.0 - hit;
        }
    }
    row
}

/// The mean over a Poisson number of keys.
fn mean_over_loads(load: f64, mut value: impl FnMut(u64) -> f64) -> f64 {
    /// Rare loads have high rates: terms are left out only far from where any of them counts.
    const NEGLIGIBLE: f64 = 1e-40;
    let mode = load as u64;
    let (mut weights, mut sum) = (1.0, value(mode));
    let mut add = |at: u64, weight: f64| {
        weights += weight;
        sum += weight * value(at);
    };
    let (mut at, mut weight) = (mode, 1.0);
    while weight > NEGLIGIBLE {
        at += 1;
        weight *= load / at as f64;
        add(at, weight);
    }
    (at, weight) = (mode, 1.0);
    while at > 0 && weight > NEGLIGIBLE {
        weight *= at as f64 / load;
        at -= 1;
        add(at, weight);
    }
    sum / weights
}

#[cfg(test)]
mod tests {
    use pds_testkit::{DistinctKeys, laws, seed_for};

    use super::super::filters::{self, LAYOUTS};

    /// The prediction is of leading order in the number of blocks: some hundreds.
    const SPREAD: f64 = 0.02;

    /// The predicted deviations against those of many filters.
    #[test]
    fn fills_and_own_rates_vary_as_predicted() {
        const KEYS: u64 = 5000;
        for layout in LAYOUTS {
            for fpr in [0.1, 0.01, 0.001] {
                let shape = layout.for_fpr(KEYS, fpr).expect("a usual target");
                let (mut fills, mut rates) = (Vec::new(), Vec::new());
                for i in 0..1000 {
                    let stream = DistinctKeys::new(seed_for("deviations", i, 0));
                    let [fill, rate, ..] = filters::loaded(&mut *shape.filter(), stream, KEYS, 0);
                    fills.push(fill - shape.fill(KEYS));
                    rates.push(rate - shape.fpr(KEYS));
                }
                let (fill, rate) = (shape.fill_sigma(KEYS), shape.rate_sigma(KEYS));
                let name = layout.name();
                laws::rmse_is_within(&fills, fill, SPREAD).assert(name);
                laws::rmse_is_within(&rates, rate, SPREAD).assert(name);
            }
        }
    }
}
