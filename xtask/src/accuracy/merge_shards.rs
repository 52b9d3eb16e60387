//! Shards of one stream, merged: the bytes of the whole stream's sketch, for every structure whose merge is exact.

use pds_bloom::{
    BlockedBloomFilter, BlockedBloomParams, BloomFilter, BloomParams, CountingBloomFilter,
    CountingBloomParams, SplitBlockBloomFilter, SplitBlockParams, WindowedBloomFilter, WindowedBloomParams,
};
use pds_cms::{
    CountMinParams, CountMinSketch, CountSketch, CountSketchParams, SlidingCountMin, SlidingCountMinParams,
};
use pds_core::{Error, ExactMerge, Merge, Sketch};
use pds_hash::{KeyHasher, WyHasher, route};
use pds_hll::{HllParams, HyperLogLog, UllParams, UltraLogLog};
use pds_quantiles::{DDSketch, DDSketchParams, QuantileSketch};
use pds_testkit::{Cell, Experiment, Row, Scale, SplitMix64, Zipf, laws};
use pds_theta::{ThetaParams, ThetaSketch};

/// Events of the stream.
pub(super) const EVENTS: usize = 1_200_000;

/// Keys that it is drawn from.
pub(super) const RANKS: u64 = 300_000;

/// Every structure whose merge is exact, and how it is compared.
const EXACT: [(&str, fn(&Stream) -> Compared); 15] = [
    ("Bloom filter, 1%", |stream| {
        let params = BloomParams::for_fpr(RANKS, 0.01).expect(USUAL);
        stream.compare(|| BloomFilter::new(params), |filter, key| _ = filter.insert(&key), |_| ())
    }),
    ("blocked Bloom filter, 1%", |stream| {
        let params = BlockedBloomParams::for_fpr(RANKS, 0.01).expect(USUAL);
        stream.compare(|| BlockedBloomFilter::new(params), |filter, key| _ = filter.insert(&key), |_| ())
    }),
    ("split-block Bloom filter, 1%", |stream| {
        let params = SplitBlockParams::for_fpr(RANKS, 0.01).expect(USUAL);
        stream.compare(|| SplitBlockBloomFilter::new(params), |filter, key| _ = filter.insert(&key), |_| ())
    }),
    // Many copies: counters that stick are among those that are added.
    ("counting Bloom filter, 1%", |stream| {
        let params = CountingBloomParams::for_fpr(RANKS, 0.01).expect(USUAL);
        stream.compare(|| CountingBloomFilter::new(params), |filter, key| _ = filter.insert(&key), |_| ())
    }),
    ("windowed Bloom filter, 4 generations", |stream| {
        let params = WindowedBloomParams::for_fpr(RANKS / PERIODS as u64, 0.01, 4).expect(USUAL);
        let new = || WindowedBloomFilter::new(params);
        stream.compare(new, |filter, key| _ = filter.insert(&key), WindowedBloomFilter::advance)
    }),
    ("HyperLogLog, p = 12", |stream| {
        let params = HllParams::with_precision(12).expect(USUAL);
        stream.compare(|| HyperLogLog::new(params), |sketch, key| _ = sketch.insert(&key), |_| ())
    }),
    // Shards of few keys, which are listed one by one, merge into registers.
    ("HyperLogLog, p = 16", |stream| {
        let params = HllParams::with_precision(16).expect(USUAL);
        stream.compare(|| HyperLogLog::new(params), |sketch, key| _ = sketch.insert(&key), |_| ())
    }),
    ("UltraLogLog, p = 12", |stream| {
        let params = UllParams::with_precision(12).expect(USUAL);
        stream.compare(|| UltraLogLog::new(params), |sketch, key| _ = sketch.insert(&key), |_| ())
    }),
    ("theta, k = 4096", |stream| {
        let params = ThetaParams::with_lg_k(12).expect(USUAL);
        stream.compare(|| ThetaSketch::new(params), |sketch, key| _ = sketch.insert(&key), |_| ())
    }),
    ("count-min, 0.1% at 1%", |stream| {
        let params = CountMinParams::for_error(0.001, 0.01).expect(USUAL);
        let new = || CountMinSketch::<u32>::new(params);
        stream.compare(new, |sketch, key| _ = sketch.insert(&key), |_| ())
    }),
    // Some of the cells saturate, most do not.
    ("count-min, 0.01% at 1%, bytes", |stream| {
        let params = CountMinParams::for_error(0.0001, 0.01).expect(USUAL);
        let new = || CountMinSketch::<u8, _>::with_hasher(params, WyHasher::default());
        stream.compare(new, |sketch, key| _ = sketch.insert(&key), |_| ())
    }),
    ("count-sketch, 1% at 1%", |stream| {
        let params = CountSketchParams::for_error(0.01, 0.01).expect(USUAL);
        let new = || CountSketch::<i32>::new(params);
        stream.compare(new, |sketch, key| _ = sketch.insert(&key).expect("few events"), |_| ())
    }),
    ("sliding count-min, 3 panes", |stream| {
        let pane = CountMinParams::for_error(0.001, 0.01).expect(USUAL);
        let params = SlidingCountMinParams::with_panes(pane, 3).expect(USUAL);
        let new = || SlidingCountMin::<CountMinSketch>::new(params);
        stream.compare(new, |sketch, key| _ = sketch.insert(&key), SlidingCountMin::advance)
    }),
    ("DDSketch, 1%", |stream| {
        let params = DDSketchParams::for_accuracy(0.01).expect(USUAL);
        stream.compare(|| DDSketch::new(params), |sketch, key| _ = sketch.insert(value(key)), |_| ())
    }),
    ("DDSketch, 1%, collapsed to 128 bins", |stream| {
        let params = DDSketchParams::for_accuracy(0.01).and_then(|params| params.with_max_bins(128));
        let new = || DDSketch::new(params.expect(USUAL));
        stream.compare(new, |sketch, key| _ = sketch.insert(value(key)), |_| ())
    }),
];

const USUAL: &str = "usual targets";

/// A number for a key: of both signs, some zero, over five orders of magnitude.
fn value(key: u64) -> f64 {
    match key % 16 {
        0 => 0.0,
        1..4 => -(key as f64),
        _ => key as f64,
    }
}

/// How a stream comes apart and together.
#[derive(Clone, Copy)]
enum Merging {
    /// Four shards by key and four by turn, each in order and in reverse, into an empty sketch.
    Rows,
    /// A random one of 64 shards for each event, and random pairs of sketches until one is left.
    Tree,
}

impl Merging {
    fn shards(self) -> u32 {
        match self {
            Self::Rows => 4,
            Self::Tree => TREE_SHARDS as u32,
        }
    }

    /// Merged sketches of a trial.
    fn compared(self) -> u64 {
        match self {
            Self::Rows => 4,
            Self::Tree => 1,
        }
    }
}

/// Leaves of the tree.
pub(super) const TREE_SHARDS: usize = 64;

/// Windows advance between these.
const PERIODS: usize = 4;

struct Stream {
    events: Vec<u64>,
    seed: u64,
    merging: Merging,
}

/// Merged sketches whose bytes are not those of the whole stream's, and how many bytes there are.
struct Compared {
    unequal: u32,
    bytes: usize,
}

/// The shard of the event of a turn and its key.
type ShardOf<'a> = &'a dyn Fn(usize, u64) -> usize;

impl Stream {
    fn compare<S: Sketch + ExactMerge + Clone>(
        &self,
        new: impl Fn() -> S,
        insert: impl Fn(&mut S, u64),
        advance: impl Fn(&mut S),
    ) -> Compared {
        let fill = |number: usize, shard_of: ShardOf| {
            let mut shards: Vec<S> = (0..number).map(|_| new()).collect();
            let period = self.events.len().div_ceil(PERIODS);
            for (turn, &key) in self.events.iter().enumerate() {
                if turn > 0 && turn % period == 0 {
                    shards.iter_mut().for_each(&advance);
                }
                insert(&mut shards[shard_of(turn, key)], key);
            }
            shards
        };
        let whole = fill(1, &|_, _| 0).swap_remove(0).to_bytes();
        let differs = |merged: Result<S, Error>| u32::from(!merged.is_ok_and(|it| it.to_bytes() == whole));
        let unequal = match self.merging {
            Merging::Rows => {
                let shards = self.merging.shards();
                let by_key = |_: usize, key: u64| route(WyHasher::default().hash_key(&key), shards) as usize;
                let by_turn = |turn: usize, _: u64| turn % shards as usize;
                let dealt = [&by_key as ShardOf, &by_turn].map(|shard_of| {
                    // The last is given none, and merging begins with it.
                    let mut shards = fill(shards as usize + 1, shard_of);
                    let orders = [(); 2].map(|()| {
                        shards[..self.merging.shards() as usize].reverse();
                        let (empty, shards) = shards.split_last().expect("one more than is filled");
                        differs(in_a_row(empty.clone(), shards))
                    });
                    orders.iter().sum::<u32>()
                });
                dealt.iter().sum()
            }
            Merging::Tree => {
                let mut random = SplitMix64::new(self.seed);
                let leaves: Vec<usize> =
                    self.events.iter().map(|_| random.below(TREE_SHARDS as u64) as usize).collect();
                differs(in_a_tree(fill(TREE_SHARDS, &|turn, _| leaves[turn]), &mut random))
            }
        };
        Compared { unequal, bytes: whole.len() }
    }
}

/// Merges the shards into the first sketch, in their order.
fn in_a_row<S: Merge>(mut merged: S, shards: &[S]) -> Result<S, Error> {
    shards.iter().try_for_each(|shard| merged.merge(shard))?;
    Ok(merged)
}

/// Merges random pairs until one is left.
pub(super) fn in_a_tree<S: Merge>(mut shards: Vec<S>, random: &mut SplitMix64) -> Result<S, Error> {
    while shards.len() > 1 {
        let other = shards.swap_remove(random.below(shards.len() as u64) as usize);
        let into = random.below(shards.len() as u64) as usize;
        shards[into].merge(&other)?;
    }
    Ok(shards.swap_remove(0))
}

fn cells(scale: Scale) -> Vec<Cell> {
    let events = scale.pick(100_000, EVENTS, EVENTS, EVENTS) as f64;
    Cell::numbered(scale.pick(1, 1, 5, 50), (0..EXACT.len()).map(|which| [which as f64, events]))
}

fn trial(cell: &Cell, seed: u64, merging: Merging) -> Vec<f64> {
    let [which, events] = cell.inputs[..] else { return Vec::new() };
    let events = Zipf::new(RANKS, 1.0, seed).take(events as usize).collect();
    let (_, compare) = EXACT[which as usize];
    let Compared { unequal, bytes } = compare(&Stream { events, seed, merging });
    vec![f64::from(unequal), bytes as f64]
}

fn rows(cell: &Cell, outcomes: &[Vec<f64>], merging: Merging) -> Vec<Row> {
    let [which, events] = cell.inputs[..] else { return Vec::new() };
    let unequal = outcomes.iter().map(|outcome| outcome[0]).sum::<f64>() as u64;
    let compared = merging.compared() * cell.trials;
    vec![
        Row::new()
            .text("structure", EXACT[which as usize].0)
            .count("shards", u64::from(merging.shards()))
            .count("events", events as u64)
            .count("bytes of one", outcomes[0][1] as u64)
            .count("merged sketches compared", compared)
            .count("unequal", unequal)
            .check("equal bytes", laws::all_hold(unequal, compared)),
    ]
}

pub(super) const SHARDS: Experiment = Experiment {
    id: "merge-shards",
    table: Some("T13"),
    claim: "Four shards of a stream of 1.2 million events merge to the whole stream's sketch, byte for byte: every structure \
            whose merge is exact.",
    law: "bytes are equal in every trial, for shards by key and for shards by turn, merged in both orders. Windows advance \
          three times, all shards at the same events.",
    cells,
    trial: |cell, seed| trial(cell, seed, Merging::Rows),
    rows: |cell, outcomes| rows(cell, outcomes, Merging::Rows),
    plot: None,
};

pub(super) const TREE: Experiment = Experiment {
    id: "merge-tree",
    table: Some("T13"),
    claim: "So do 64 shards that random events came to, merged in random pairs until one is left.",
    law: "bytes are equal in every trial, of which each has a tree of its own.",
    cells,
    trial: |cell, seed| trial(cell, seed, Merging::Tree),
    rows: |cell, outcomes| rows(cell, outcomes, Merging::Tree),
    plot: None,
};
