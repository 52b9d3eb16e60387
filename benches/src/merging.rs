//! Merging of many sketches: ours and each peer's, as they are, and as bytes.

mod filters;
mod own;
mod peers;

pub use filters::{OxideBlocked, OxideCounting, Windowed};
pub use own::{Dd, Digest, Hll, Kll, Theta};
pub use peers::{DsCpc, DsDigestUnion, DsHll, DsKllUnion, DsTheta, JavaDd};

use pds_merge::{Merge, Sketch};
use pds_quantiles::KllParams;
use pds_testkit::laws::{self, Verdict, Z};
use pds_testkit::{DistinctKeys, ExactQuantiles, SplitMix64, Values};

use crate::quantiles::{SPREAD, STEPS, TAIL, beyond_alpha};

/// Precision of the distinct counters.
pub const P: u8 = 12;

/// What a sketch takes in.
pub trait Item: Copy {
    /// So many; what one seed gives is all different, if it is keys.
    fn stream(seed: u64, count: usize) -> Vec<Self>;
}

impl Item for u64 {
    fn stream(seed: u64, count: usize) -> Vec<u64> {
        DistinctKeys::new(seed).range(0..count as u64).collect()
    }
}

/// Log-normal.
impl Item for f64 {
    fn stream(seed: u64, count: usize) -> Vec<f64> {
        Values::LogNormal { mu: 0.0, sigma: 1.0 }.stream(seed).take(count).collect()
    }
}

/// What is counted in many parts, and the parts.
pub struct Streams<T> {
    items: Vec<T>,
    /// Where each part ends.
    ends: Vec<usize>,
}

/// Items of the shortest and of the longest part, if they differ.
const FEWEST: f64 = 100.0;
const MOST: f64 = 10_000.0;

impl<T: Item> Streams<T> {
    fn new(lengths: impl Iterator<Item = usize>) -> Self {
        let ends: Vec<usize> = lengths
            .scan(0, |end, length| {
                *end += length;
                Some(*end)
            })
            .collect();
        Self { items: T::stream(6, ends.last().copied().unwrap_or(0)), ends }
    }

    /// Parts of 10,000 items each.
    pub fn equal(parts: usize) -> Self {
        Self::new(std::iter::repeat_n(MOST as usize, parts))
    }

    /// Parts of 100 to 10,000 items, as many of each order of magnitude.
    pub fn unequal(parts: usize) -> Self {
        let mut random = SplitMix64::new(7);
        Self::new((0..parts).map(|_| (FEWEST * (MOST / FEWEST).powf(random.next_f64())) as usize))
    }

    /// The parts.
    pub fn parts(&self) -> impl Iterator<Item = &[T]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.items[start..end])
    }
}

/// What the merged sketch of all parts has to keep, with its error.
pub trait Truth<T> {
    /// Of all items.
    fn new(streams: &Streams<T>) -> Self;
    /// The law of the merged sketch's answers, and what is held to it.
    fn judge(&self, contract: Contract, answers: &[f64]) -> (f64, &'static str, Verdict);
}

/// What a structure promises of all items, however they were merged.
#[derive(Clone, Copy, Debug)]
pub enum Contract {
    /// A relative error of this standard deviation.
    Distinct(f64),
    /// Every quantile within alpha of a value of the rank next to the one asked for.
    Alpha,
    /// Every quantile within the bound of KLL at k = 200.
    Rank,
    /// p99.9 within what a mean rank error as of one pass explains.
    Tail,
}

/// The number of keys, which are all different.
pub struct Count(f64);

impl Truth<u64> for Count {
    fn new(streams: &Streams<u64>) -> Self {
        Self(streams.items.len() as f64)
    }
    fn judge(&self, contract: Contract, answers: &[f64]) -> (f64, &'static str, Verdict) {
        let error = (answers[0] / self.0 - 1.0).abs();
        let Contract::Distinct(deviation) = contract else {
            return (error, "no contract of counts", laws::all_hold(1, 1));
        };
        (error, "the error of the merged estimate", laws::at_most(error, Z * deviation))
    }
}

/// What is asked of a merged sketch of values: the thousandths, of which the last is p99.9.
pub fn shares() -> impl Iterator<Item = f64> {
    (1..STEPS).map(|step| step as f64 / STEPS as f64)
}

impl Truth<f64> for ExactQuantiles {
    fn new(streams: &Streams<f64>) -> Self {
        ExactQuantiles::new(streams.items.clone())
    }
    fn judge(&self, contract: Contract, answers: &[f64]) -> (f64, &'static str, Verdict) {
        let ranks = || shares().zip(answers).map(|(q, &answer)| self.rank_error(q, answer));
        match contract {
            Contract::Distinct(_) => (f64::NAN, "no contract of values", laws::all_hold(1, 1)),
            Contract::Alpha => {
                let (failures, worst) = beyond_alpha(self.sorted(), answers);
                (worst, "alpha", laws::all_hold(failures, STEPS - 1))
            }
            Contract::Rank => {
                // A bound that 99% keep, as a number of standard deviations.
                const DEVIATIONS: f64 = 2.576;
                let worst = ranks().fold(0.0, f64::max);
                let bound = KllParams::default().rank_error() * Z / DEVIATIONS;
                (worst, "rank error", laws::at_most(worst, bound))
            }
            Contract::Tail => {
                let error = ranks().last().unwrap_or(f64::NAN);
                let bound = TAIL * (1.0 + Z * SPREAD);
                (error, "rank error of p99.9", laws::at_most(error, bound))
            }
        }
    }
}

/// One of ours, by the thousand.
pub trait Own {
    /// Crate and structure.
    const NAME: &'static str;
    /// What it takes in.
    type Item: Item;
    /// The sketch.
    type Sketch: Merge + Sketch<Hasher: Default + Clone> + Clone + Send;

    /// An empty one.
    fn empty() -> Self::Sketch;
    /// Takes in items.
    fn extend(sketch: &mut Self::Sketch, items: &[Self::Item]);
    /// The estimate, or the quantiles at [`shares`].
    fn answers(sketch: &Self::Sketch) -> Vec<f64>;
}

/// A peer's, by the thousand.
pub trait Part: Sized {
    /// Crate and structure.
    const NAME: &'static str;
    /// What it takes in.
    type Item: Item;
    /// What parts are merged into.
    type Whole;

    /// The sketch of a part.
    fn of(items: &[Self::Item]) -> Self;
    /// What parts are merged into, empty.
    fn whole() -> Self::Whole;
    /// Merges a part.
    fn merge(whole: &mut Self::Whole, part: &Self);
    /// As [`Own::answers`].
    fn answers(whole: &mut Self::Whole) -> Vec<f64>;
    /// The crate's own byte form.
    fn encode(&mut self) -> Vec<u8>;
    /// From that byte form.
    fn decode(bytes: &[u8]) -> Option<Self>;
}
