//! What a poor hash does to a structure, and what the remix repairs.

use pds_bloom::{BloomFilter, BloomParams};
use pds_hash::{KeyHasher, WyHasher, mix, route};
use pds_hll::{HllParams, HyperLogLog};
use pds_testkit::{Cell, Experiment, Row, laws};

/// Hash functions, from none at all to ours.
const HASHES: [(&str, fn(u64) -> u64); 7] = [
    ("identity", |key| key),
    ("linear", |key| key.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
    ("one round of multiply and shift", |key| {
        let x = (key ^ (key >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x ^ (x >> 32)
    }),
    ("wyhash cut to 32 bits", |key| WyHasher::default().hash_u64(key) >> 32),
    ("identity, remixed", mix),
    ("linear, remixed", |key| mix(key.wrapping_mul(0x9e37_79b9_7f4a_7c15))),
    ("wyhash", |key| WyHasher::default().hash_u64(key)),
];

/// From here on the hashes are good and judged.
const FIRST_GOOD: usize = 4;

/// Ids as applications make them.
const IDS: [(&str, fn(u64) -> u64); 4] = [
    ("0, 1, 2, ..", |i| i),
    ("i << 32", |i| i << 32),
    ("multiples of 4096", |i| i * 4096),
    ("time in ms << 22 | node << 12", |i| ((1_700_000_000_000 + i) << 22) | (3 << 12)),
];

const KEYS: u64 = 100_000;
const PROBES: u64 = 1_000_000;
const FPR: f64 = 0.01;
const PRECISION: u8 = 12;

pub(super) const QUALITY: Experiment = Experiment {
    id: "hash-quality",
    table: Some("T15"),
    claim: "On structured ids a poor hash ruins filters and counts; the remix repairs any hash that keeps keys apart.",
    law: "for the remixed hashes and wyhash: wrong yeses at most 1% by Chernoff's law, the count within 6.1 standard \
          errors, low and high bits uniform over 1024 buckets by the chi-square law. The rows above them show the damage \
          and are not judged.",
    cells: |_| {
        let count = IDS.len() * HASHES.len();
        let place = |i: usize| vec![(i / HASHES.len()) as f64, (i % HASHES.len()) as f64];
        (0..count).map(|i| Cell { index: i as u64, trials: 1, inputs: place(i) }).collect()
    },
    trial: |cell, _| {
        let (_, id) = IDS[cell.inputs[0] as usize];
        let (_, hash) = HASHES[cell.inputs[1] as usize];
        let mut filter = BloomFilter::new(BloomParams::for_fpr(KEYS, FPR).expect("a usual shape"));
        let mut counter = HyperLogLog::new(HllParams::with_precision(PRECISION).expect("a usual precision"));
        let (mut low, mut high) = (vec![0u64; 1024], vec![0u64; 1024]);
        for i in 0..KEYS {
            let hash = hash(id(i));
            filter.insert_hash(hash);
            counter.insert_hash(hash);
            low[(hash % 1024) as usize] += 1;
            high[(hash >> 54) as usize] += 1;
        }
        let hits = (KEYS..KEYS + PROBES).filter(|&i| filter.contains_hash(hash(id(i)))).count();
        let mut outcome = vec![hits as f64, counter.estimate() / KEYS as f64 - 1.0];
        outcome.extend(low.iter().chain(&high).map(|&count| count as f64));
        outcome
    },
    rows: |cell, outcomes| {
        let (ids, _) = IDS[cell.inputs[0] as usize];
        let which = cell.inputs[1] as usize;
        let outcome = &outcomes[0];
        let counts: Vec<u64> = outcome[2..].iter().map(|&count| count as u64).collect();
        let (low, high) = counts.split_at(1024);
        let (low, high) = (laws::chi_square_uniform(low), laws::chi_square_uniform(high));
        let sigma = HllParams::with_precision(PRECISION).expect("a usual precision").predicted_error(KEYS);
        let row = Row::new()
            .text("ids", ids)
            .text("hash", HASHES[which].0)
            .percent("wrong yeses (1% filter)", outcome[0] / PROBES as f64, 3)
            .percent("error of the count (p = 12)", outcome[1], 3)
            .real("chi-square / df, low bits", low.observed, 3)
            .real("chi-square / df, high bits", high.observed, 3);
        vec![if which < FIRST_GOOD {
            row
        } else {
            row.check("promise", laws::rate_at_most(outcome[0] as u64, PROBES, FPR))
                .check("count", laws::bias_is_zero(outcome[1], sigma, 1, 0.0))
                .check("low bits", at_most_random(low))
                .check("high bits", at_most_random(high))
        }]
    },
    plot: None,
};

/// A multiplicative hash of a sequence is more even than chance, which harms no structure.
fn at_most_random(verdict: laws::Verdict) -> laws::Verdict {
    laws::at_most(verdict.observed, verdict.high)
}

const SHARDS: u32 = 16;

pub(super) const ROUTING: Experiment = Experiment {
    id: "hash-routing",
    table: Some("T15"),
    claim: "A shard picked by the hash's own bits skews the shard's sketches; route() does not.",
    law: "for route(): the mean over the shards of the count's error is 0 within 6.1 standard errors, and wrong yeses of \
          the shards' filters are at most 1% by Chernoff's law. The other rows show the damage.",
    cells: |scale| {
        let trials = scale.pick(2, 4, 20, 100);
        (0..3).map(|i| Cell { index: i, trials, inputs: vec![i as f64] }).collect()
    },
    trial: |cell, seed| {
        let shard_of: fn(u64) -> u32 = match cell.index {
            0 => |hash| (hash % u64::from(SHARDS)) as u32,
            1 => |hash| (hash >> 60) as u32,
            _ => |hash| route(hash, SHARDS),
        };
        let keys = pds_testkit::DistinctKeys::new(seed);
        let shard = SHARDS / 2;
        let hashes = |range| keys.range(range).map(|key| WyHasher::default().hash_key(&key));
        let routed: Vec<u64> = hashes(0..KEYS * 4).filter(|&hash| shard_of(hash) == shard).collect();
        let mut filter =
            BloomFilter::new(BloomParams::for_fpr(routed.len() as u64, FPR).expect("a usual shape"));
        let mut counter = HyperLogLog::new(HllParams::with_precision(PRECISION).expect("a usual precision"));
        filter.insert_batch(&routed);
        counter.insert_batch(&routed);
        let strangers: Vec<u64> =
            hashes(KEYS * 4..KEYS * 4 + PROBES * 4).filter(|&hash| shard_of(hash) == shard).collect();
        let hits = strangers.iter().filter(|&&hash| filter.contains_hash(hash)).count();
        let n = routed.len() as f64;
        vec![counter.estimate() / n - 1.0, hits as f64, strangers.len() as f64, n]
    },
    rows: |cell, outcomes| {
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let mean_error = laws::mean(&column(0));
        let (hits, probes) = (column(1).iter().sum::<f64>() as u64, column(2).iter().sum::<f64>() as u64);
        let params = HllParams::with_precision(PRECISION).expect("a usual precision");
        let sigma = params.predicted_error(laws::mean(&column(3)) as u64);
        let names = ["low bits of the hash", "high bits of the hash", "route()"];
        let row = Row::new()
            .text("shard picked by", names[cell.index as usize])
            .count("shards", u64::from(SHARDS))
            .percent("mean error of a shard's count (p = 12)", mean_error, 3)
            .percent("wrong yeses of a shard's 1% filter", hits as f64 / probes as f64, 3);
        vec![if cell.index < 2 {
            row
        } else {
            row.check("count", laws::bias_is_zero(mean_error, sigma, cell.trials, COUNT_BIAS))
                .check("promise", laws::rate_at_most(hits, probes, FPR))
        }]
    },
    plot: None,
};

/// The stated tolerance of the estimator's bias.
const COUNT_BIAS: f64 = 0.0005;
