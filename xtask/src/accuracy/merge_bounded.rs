//! Sketches that merge within a bound: the bound after a random tree of merges.

use pds_bloom::{ScalableBloomFilter, ScalableBloomParams};
use pds_cms::{
    ConservativeCountMin, CountMinParams, DecayingCountMin, DecayingCountMinParams, MisraGries,
    MisraGriesParams, SpaceSaving, SpaceSavingParams, TopK,
};
use pds_core::{Error, Merge, Sketch};
use pds_hash::WyHasher;
use pds_quantiles::{Contract, KllParams, KllSketch, QuantileSketch, Quantiles, TDigest, TDigestParams};
use pds_testkit::{Cell, DistinctKeys, ExactQuantiles, Experiment, Row, SplitMix64, Zipf, laws, seed_for};

use super::heavy_merge::{CAPACITY, judged, top_k};
use super::merge_shards::{EVENTS, RANKS, TREE_SHARDS, in_a_tree};
use super::quantile_merge::{COMPARED, DOUBT, FACTOR};
use super::quantile_sketches::{SHARES, Stream as Values};

/// What is bounded, and how.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Scalable,
    Conservative,
    Decaying,
    SpaceSaving,
    MisraGries,
    TopK,
    Kll,
    TDigest,
}

/// Each with its name, and what of it is bounded.
const KINDS: [(Kind, &str, &str); 8] = [
    (Kind::Scalable, "scalable Bloom filter, 1%", "rate of wrong yeses"),
    (Kind::Conservative, "conservative count-min, 0.1% at 1%", "over-count / events"),
    (Kind::Decaying, "decaying count-min, 0.1% at 1%", "over-count / faded total"),
    (Kind::SpaceSaving, "SpaceSaving, 256 counters", "width of a key's bounds / events"),
    (Kind::MisraGries, "Misra-Gries, 256 counters", "width of a key's bounds / events"),
    (Kind::TopK, "top-k, k = 256, 0.4% at 1%", "width of a key's bounds / events"),
    (Kind::Kll, "KLL, k = 200", "greatest error of a rank"),
    (Kind::TDigest, "t-digest, 100", "mean error of a rank, p50, p99, p99.9"),
];

pub(super) const TREE: Experiment = Experiment {
    id: "merge-bounded",
    table: Some("T13"),
    claim: "Sketches whose merge is not exact keep their bounds when 64 shards are merged in random pairs until one is left.",
    law: "no merge is refused. Scalable filter: wrong yeses at most 1% by Chernoff's law, no key lost. Count-min: no key of the stream \
          under-counted (decaying: but for the rounding of its sums), the share over-counted by more than the bound at most delta by Chernoff's \
          law. SpaceSaving and Misra-Gries: every key's count within its bounds, none of them wider than the bound, and every \
          key listed that is above what is said of those that are not. Top-k: the same, but for a share of at most delta below the lower \
          bound. KLL: sketches whose greatest error, at every permille, is beyond the bound at most 1% by Chernoff's law. t-digest, which has no \
          proved bound: mean error less 1.3 times that of one pass at most 0 but for what its spread explains, at each of the three shares.",
    cells: |scale| {
        let events = scale.pick(100_000, EVENTS, EVENTS, EVENTS) as f64;
        let cell = |(i, (kind, _, _)): (usize, (Kind, _, _))| {
            // What has a law of its own for each sketch takes more of them.
            let trials = match kind {
                Kind::Kll | Kind::TDigest => scale.pick(3, 4, 50, 500),
                _ => scale.pick(1, 1, 5, 50),
            };
            Cell { index: i as u64, trials, inputs: vec![i as f64, events] }
        };
        KINDS.into_iter().enumerate().map(cell).collect()
    },
    trial: |cell, seed| {
        let [which, events] = cell.inputs[..] else { return Vec::new() };
        let stream = Stream::new(seed, events as usize);
        match KINDS[which as usize].0 {
            Kind::Scalable => scalable(&stream),
            Kind::Conservative => conservative(&stream),
            Kind::Decaying => decaying(&stream),
            Kind::SpaceSaving => {
                let params = SpaceSavingParams::with_capacity(CAPACITY).expect("a usual capacity");
                listed(
                    &stream,
                    &judged(|| SpaceSaving::new(params), TREE_SHARDS, &stream.events, |it| stream.tree(it)),
                )
            }
            Kind::MisraGries => {
                let params = MisraGriesParams::with_capacity(CAPACITY).expect("a usual capacity");
                listed(
                    &stream,
                    &judged(|| MisraGries::new(params), TREE_SHARDS, &stream.events, |it| stream.tree(it)),
                )
            }
            Kind::TopK => listed(
                &stream,
                &judged(|| TopK::new(top_k()), TREE_SHARDS, &stream.events, |it| stream.tree(it)),
            ),
            Kind::Kll => {
                let new = |part| KllSketch::with_seed(KllParams::default(), seed_for("parts", part, seed));
                ranks(&stream, new)
            }
            Kind::TDigest => {
                let params = TDigestParams::with_compression(100).expect("a usual compression");
                ranks(&stream, |_| TDigest::new(params))
            }
        }
    },
    rows: |cell, outcomes| {
        let (kind, name, what) = KINDS[cell.inputs[0] as usize];
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let sum = |i: usize| column(i).iter().sum::<f64>() as u64;
        let (answers, beyond) = (sum(ANSWERS), sum(BEYOND));
        let allowed = match kind {
            Kind::Scalable => RATE,
            Kind::Conservative | Kind::Decaying => table().delta(),
            Kind::TopK => top_k().sketch().delta(),
            Kind::Kll => DOUBT,
            Kind::SpaceSaving | Kind::MisraGries | Kind::TDigest => 0.0,
        };
        let equal = cell.trials - sum(UNEQUAL);
        let row = Row::new()
            .text("structure", name)
            .count("shards", TREE_SHARDS as u64)
            .text("bounded", what)
            .percent("bound", laws::mean(&column(BOUND)), 3)
            .percent("merged", laws::mean(&column(MERGED)), 3)
            .percent("one sketch of the stream", laws::mean(&column(ONE)), 3)
            .count("answers", answers);
        // Its law is about means.
        let row = if kind == Kind::TDigest {
            row.missing("beyond the bound").missing("allowed beyond")
        } else {
            row.count("beyond the bound", beyond).percent("allowed beyond", allowed, 2)
        };
        let row = row
            .text("equal bytes", format!("{equal} of {}", cell.trials))
            .check("none refused", laws::all_hold(sum(REFUSED), cell.trials))
            .check("certain", laws::all_hold(sum(WRONG), answers));
        vec![match kind {
            Kind::SpaceSaving | Kind::MisraGries => row.check("bound", laws::all_hold(beyond, answers)),
            Kind::TDigest => COMPARED.iter().enumerate().fold(row, |row, (i, _)| {
                row.check(["p50", "p99", "p99.9"][i], laws::mean_at_most(&column(EXCESS + i), 0.0))
            }),
            _ => row.check("bound", laws::rate_at_most(beyond, answers, allowed)),
        }]
    },
    plot: None,
};

/// The columns of an outcome: answers asked for, and of these those that are wrong where none may be, and those beyond the bound; the
/// bound, and what it bounds, of the merged sketch and of one of the whole stream; whether the bytes of the two differ, and
/// whether a merge was refused. Behind them the excess errors of a t-digest.
const ANSWERS: usize = 0;
const WRONG: usize = 1;
const BEYOND: usize = 2;
const BOUND: usize = 3;
const MERGED: usize = 4;
const ONE: usize = 5;
const UNEQUAL: usize = 6;
const REFUSED: usize = 7;
const EXCESS: usize = 8;

/// The rate of the scalable filter.
const RATE: f64 = 0.01;

/// Distinct keys that the first layer of a shard's scalable filter has room for.
const FIRST: u64 = 50_000;

const PROBES: u64 = 1_000_000;

/// The shape of the counts.
fn table() -> CountMinParams {
    CountMinParams::for_error(0.001, 0.01).expect("usual targets")
}

/// Events with a random shard each.
struct Stream {
    seed: u64,
    keys: DistinctKeys,
    /// Shard and key.
    events: Vec<(usize, u64)>,
    /// How often each rank occurs.
    counts: Vec<u64>,
}

impl Stream {
    fn new(seed: u64, events: usize) -> Self {
        let keys = DistinctKeys::new(seed);
        let mut random = SplitMix64::new(seed);
        let mut counts = vec![0; RANKS as usize + 1];
        let dealt = Zipf::new(RANKS, 1.0, seed).take(events).map(|rank| {
            counts[rank as usize] += 1;
            (random.below(TREE_SHARDS as u64) as usize, keys.key(rank))
        });
        let events = dealt.collect();
        Self { seed, keys, events, counts }
    }

    /// Keys that occur, and how often.
    fn occurring(&self) -> impl Iterator<Item = (u64, u64)> {
        let counts = self.counts.iter().zip(0..).filter(|&(&count, _)| count > 0);
        counts.map(|(&count, rank)| (self.keys.key(rank), count))
    }

    fn try_tree<S: Merge>(&self, shards: Vec<S>) -> Result<S, Error> {
        in_a_tree(shards, &mut SplitMix64::new(seed_for("tree", 0, self.seed)))
    }

    fn tree<S: Merge>(&self, shards: Vec<S>) -> S {
        self.try_tree(shards).expect("of one shape")
    }

    /// The sketch of the tree, and that of the whole stream; `insert` is given turn and key.
    fn both<S: Merge>(
        &self,
        new: impl Fn() -> S,
        insert: impl Fn(&mut S, usize, u64),
    ) -> (Result<S, Error>, S) {
        let mut shards: Vec<S> = (0..TREE_SHARDS).map(|_| new()).collect();
        let mut whole = new();
        for (turn, &(shard, key)) in self.events.iter().enumerate() {
            insert(&mut shards[shard], turn, key);
            insert(&mut whole, turn, key);
        }
        (self.try_tree(shards), whole)
    }
}

fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

fn scalable(stream: &Stream) -> Vec<f64> {
    let params = ScalableBloomParams::for_fpr(FIRST, RATE).expect("usual targets");
    let insert = |filter: &mut ScalableBloomFilter, _, key: u64| {
        filter.insert(&key).expect("room for few keys");
    };
    let (merged, whole) = stream.both(|| ScalableBloomFilter::new(params), insert);
    let Ok(merged) = merged else { return vec![PROBES as f64, 0.0, 0.0, RATE, 0.0, 0.0, 1.0, 1.0] };
    let lost = stream.occurring().filter(|(key, _)| !merged.contains(key)).count();
    let strangers = || stream.keys.range(RANKS + 1..RANKS + 1 + PROBES);
    let hits = strangers().filter(|key| merged.contains(key)).count() as f64;
    let once = strangers().filter(|key| whole.contains(key)).count() as f64;
    let rate = |hits: f64| hits / PROBES as f64;
    let unequal = flag(merged.to_bytes() != whole.to_bytes());
    vec![PROBES as f64, lost as f64, hits, RATE, rate(hits), rate(once), unequal, 0.0]
}

fn conservative(stream: &Stream) -> Vec<f64> {
    let new = || <ConservativeCountMin>::with_hasher(table(), WyHasher::with_seed(stream.seed));
    let (merged, whole) = stream.both(new, |sketch, _, key| _ = sketch.insert(&key));
    let merged = merged.expect("of one shape");
    let total = merged.total();
    let bound = table().error_bound(total);
    let mut outcome = vec![0.0; 8];
    let mut worst = [0; 2];
    for (key, count) in stream.occurring() {
        let estimates = [&merged, &whole].map(|sketch| sketch.estimate(&key));
        outcome[ANSWERS] += 1.0;
        outcome[WRONG] += flag(estimates[0] < count);
        outcome[BEYOND] += flag(estimates[0] > count + bound);
        worst = [0, 1].map(|i| worst[i].max(estimates[i].saturating_sub(count)));
    }
    let share = |count: u64| count as f64 / total as f64;
    (outcome[BOUND], outcome[MERGED], outcome[ONE]) = (share(bound), share(worst[0]), share(worst[1]));
    outcome[UNEQUAL] = flag(merged.to_bytes() != whole.to_bytes());
    outcome
}

fn decaying(stream: &Stream) -> Vec<f64> {
    /// Of the stream's time, which runs from 0 to 1.
    const HALF_LIFE: f64 = 0.25;
    let events = stream.events.len();
    let time = |turn: usize| turn as f64 / events as f64;
    let params = DecayingCountMinParams::with_half_life(table(), HALF_LIFE).expect("a usual half-life");
    let new = || DecayingCountMin::with_hasher(params, WyHasher::with_seed(stream.seed));
    let (merged, whole) =
        stream.both(new, |sketch, turn, key| _ = sketch.insert(&key, time(turn)).expect("a finite time"));
    let merged = merged.expect("of one shape");
    let mut exact = std::collections::BTreeMap::new();
    for (turn, &(_, key)) in stream.events.iter().enumerate() {
        *exact.entry(key).or_insert(0.0) += libm::exp2((time(turn) - 1.0) / HALF_LIFE);
    }
    let total: f64 = exact.values().sum();
    let bound = table().epsilon() * total;
    // Of so many sums of rounded terms, in the sketch and in the exact counts.
    let rounding = 4.0 * events as f64 * (f64::EPSILON / 2.0);
    let mut outcome = vec![0.0; 8];
    for (key, &count) in &exact {
        let over = [&merged, &whole].map(|sketch| sketch.estimate(key, 1.0).expect("a finite time") - count);
        outcome[ANSWERS] += 1.0;
        outcome[WRONG] += flag(over[0] < -count * rounding);
        outcome[BEYOND] += flag(over[0] > bound);
        outcome[MERGED] = outcome[MERGED].max(over[0] / total);
        outcome[ONE] = outcome[ONE].max(over[1] / total);
    }
    outcome[BOUND] = table().epsilon();
    outcome[UNEQUAL] = flag(merged.to_bytes() != whole.to_bytes());
    outcome
}

/// What a list of frequent keys was found to do.
fn listed(stream: &Stream, judged: &[f64]) -> Vec<f64> {
    let [keys, lower, upper, wide, missing, _, _, bound, widest, widest_whole, totals, unequal] = judged[..]
    else {
        return Vec::new();
    };
    let share = |count: f64| count / stream.events.len() as f64;
    // The lower bound of a top-k list holds with a chance; that of the others is certain, and none may be beyond it either.
    let (wrong, beyond) = (upper + wide + missing + totals, lower);
    vec![keys, wrong, beyond, share(bound), share(widest), share(widest_whole), unequal, 0.0]
}

/// Merges sketches of numbers, and compares their ranks with those of one pass.
fn ranks<S: Sketch + Merge + QuantileSketch + Quantiles>(
    stream: &Stream,
    new: impl Fn(u64) -> S,
) -> Vec<f64> {
    let values = Values::LogNormal.values(stream.seed, stream.events.len());
    let mut shards: Vec<S> = (1..=TREE_SHARDS as u64).map(&new).collect();
    let mut whole = new(0);
    for (&(shard, _), &value) in stream.events.iter().zip(&values) {
        shards[shard].insert(value);
        whole.insert(value);
    }
    let merged = stream.tree(shards);
    let unequal = flag(merged.to_bytes() != whole.to_bytes());
    let exact = ExactQuantiles::new(values);
    let error = |sketch: &S, share: usize| {
        let q = share as f64 / SHARES as f64;
        sketch.quantile(q).map_or(f64::INFINITY, |value| exact.rank_error(q, value))
    };
    let greatest =
        |sketch: &S| (0..=SHARES).step_by(10).map(|share| error(sketch, share)).fold(0.0, f64::max);
    let mean = |errors: [f64; 3]| laws::mean(&errors);
    let errors = [&merged, &whole].map(|sketch| COMPARED.map(|share| error(sketch, share)));
    if let Contract::Rank { epsilon, .. } = merged.contract() {
        let [merged, whole] = [greatest(&merged), greatest(&whole)];
        return vec![1.0, 0.0, flag(merged > epsilon), epsilon, merged, whole, unequal, 0.0];
    }
    let [after, once] = errors;
    let mut outcome = vec![3.0, 0.0, 0.0, FACTOR * mean(once), mean(after), mean(once), unequal, 0.0];
    outcome.extend((0..COMPARED.len()).map(|i| after[i] - FACTOR * once[i]));
    outcome
}
