//! What someone who chooses the keys does to a sketch whose hash is public, and does not do to one under a secret key.

use std::iter::repeat_with;

use pds_bloom::{BloomFilter, BloomParams};
use pds_cms::{CountMinParams, CountMinSketch};
use pds_core::{Key, KeyHasher};
use pds_cuckoo::{CuckooFilter, CuckooParams};
use pds_hash::{Probes, SipHasher, WyHasher};
use pds_hll::{HllParams, HyperLogLog};
use pds_static_filters::BinaryFuseFilter8;
use pds_testkit::{Cell, DistinctKeys, Experiment, Row, SplitMix64, laws};
use pds_theta::{ThetaParams, ThetaSketch};

/// An attack: what is done, what is measured, what the sketch promises, and the trial.
struct Attack {
    structure: &'static str,
    keys: &'static str,
    figure: &'static str,
    /// Its outcome with a hasher; the second number is the number of tries or the true value.
    trial: fn(&Victim, u64) -> (f64, f64),
    /// Whether the outcome, over so many trials, is what the sketch promises.
    law: fn(outcomes: &[(f64, f64)]) -> laws::Verdict,
    /// The least that the attack does, if any number tells it: the figure's bounds.
    damage: Option<(f64, f64)>,
}

/// Whose sketch is attacked. The attacker computes public hashes either way.
enum Victim {
    Public,
    Secret(SipHasher),
}

impl Victim {
    fn hash<K: Key + ?Sized>(&self, key: &K) -> u64 {
        match self {
            Self::Public => PUBLIC.hash_key(key),
            Self::Secret(hasher) => hasher.hash_key(key),
        }
    }
}

const PUBLIC: WyHasher = WyHasher::new();

/// Keys that have one public hash: eight of their bytes cancel the hash's secret, the other eight are free.
fn family(member: u64) -> [u8; 16] {
    let [low, high] = [member as u32, (member >> 32) as u32].map(u32::to_le_bytes);
    let mut key = [0; 16];
    for (part, bytes) in
        [0xe703_7ed1_u32.to_le_bytes(), low, 0xa0b4_28db_u32.to_le_bytes(), high].iter().enumerate()
    {
        key[part * 4..][..4].copy_from_slice(bytes);
    }
    key
}

/// Keys of a filter, all that it was made for.
const FILTER_KEYS: u64 = 10_000;
const STRANGERS: u64 = 100_000;
const FPR: f64 = 0.01;

fn filter() -> BloomFilter {
    BloomFilter::new(BloomParams::for_fpr(FILTER_KEYS, FPR).expect("usual targets"))
}

/// The family's share that a filter accepts which holds one of them.
fn accepted_kin(victim: &Victim, seed: u64) -> (f64, f64) {
    let mut filter = filter();
    for key in DistinctKeys::new(seed).range(1..FILTER_KEYS) {
        filter.insert_hash(victim.hash(&key));
    }
    filter.insert_hash(victim.hash(&family(0)));
    let accepted =
        (1..=STRANGERS).filter(|&member| filter.contains_hash(victim.hash(&family(member)))).count();
    (accepted as f64, STRANGERS as f64)
}

/// The share of honest strangers that a filter accepts which was filled with keys that set as many new bits as could be found.
fn accepted_after_pollution(victim: &Victim, seed: u64) -> (f64, f64) {
    /// Keys that the attacker tries for each one that is inserted.
    const TRIED: u64 = 16;
    let mut filter = filter();
    let words = filter.params().bits() / 64;
    let mut foreseen = vec![0u64; words as usize];
    let probes = |hash: u64, k: u32| {
        let mut probes = Probes::new(hash);
        repeat_with(move || probes.next(words)).take(k as usize)
    };
    let keys = DistinctKeys::new(seed);
    for turn in 0..FILTER_KEYS {
        let fresh = |key: &u64| {
            let places = probes(PUBLIC.hash_key(key), filter.params().k());
            places.filter(|&(word, bit)| foreseen[word as usize] >> bit & 1 == 0).count()
        };
        let key = keys.range(turn * TRIED..(turn + 1) * TRIED).max_by_key(fresh).expect("some were tried");
        for (word, bit) in probes(PUBLIC.hash_key(&key), filter.params().k()) {
            foreseen[word as usize] |= 1 << bit;
        }
        filter.insert_hash(victim.hash(&key));
    }
    let strangers = keys.range(FILTER_KEYS * TRIED..FILTER_KEYS * TRIED + STRANGERS);
    (strangers.filter(|key| filter.contains_hash(victim.hash(key))).count() as f64, STRANGERS as f64)
}

/// The share of strangers that a filter accepts which were searched in a copy with the public hash.
fn accepted_after_search(victim: &Victim, seed: u64) -> (f64, f64) {
    /// Strangers that are searched for.
    const FOUND: usize = 1_000;
    let keys = DistinctKeys::new(seed);
    let (mut copy, mut filter) = (filter(), filter());
    for key in keys.range(0..FILTER_KEYS) {
        copy.insert(&key);
        filter.insert_hash(victim.hash(&key));
    }
    let found = keys.range(FILTER_KEYS..u64::MAX).filter(|key| copy.contains(key)).take(FOUND);
    (found.filter(|key| filter.contains_hash(victim.hash(key))).count() as f64, FOUND as f64)
}

/// What a static filter of one slot byte a key accepts of a family that half of its keys are of.
fn accepted_by_static(victim: &Victim, seed: u64) -> (f64, f64) {
    let honest = DistinctKeys::new(seed).range(0..FILTER_KEYS / 2).map(|key| victim.hash(&key));
    let kin = (0..FILTER_KEYS / 2).map(|member| victim.hash(&family(member)));
    let hashes: Vec<u64> = honest.chain(kin).collect();
    let filter = BinaryFuseFilter8::from_hashes(&hashes).expect("a usual number of keys");
    let strangers = FILTER_KEYS..FILTER_KEYS + STRANGERS;
    (
        strangers.filter(|&member| filter.contains_hash(victim.hash(&family(member)))).count() as f64,
        STRANGERS as f64,
    )
}

/// How many of a family a cuckoo filter with room for all takes, up to the first that it refuses.
fn taken_by_cuckoo(victim: &Victim, _: u64) -> (f64, f64) {
    const KIN: u64 = 1_000;
    let mut filter = CuckooFilter::new(CuckooParams::for_fpr(FILTER_KEYS, FPR).expect("usual targets"));
    let taken = (0..KIN).take_while(|&member| filter.insert_hash(victim.hash(&family(member))).is_ok());
    (taken.count() as f64, KIN as f64)
}

const EPS: f64 = 0.001;
const DELTA: f64 = 0.01;
const HONEST: u64 = 100_000;
/// Each of the accomplices occurs as often as one may unnoticed.
const ACCOMPLICES: u64 = 1_000;
const EACH: u64 = 20;

/// By how many thousandths of all events a key of the family is over-counted after events of others of the family.
fn framed(victim: &Victim, seed: u64) -> (f64, f64) {
    let mut counts =
        CountMinSketch::<u32>::new(CountMinParams::for_error(EPS, DELTA).expect("usual targets"));
    for key in DistinctKeys::new(seed).range(0..HONEST) {
        counts.insert_hash(victim.hash(&key));
    }
    for accomplice in 1..=ACCOMPLICES {
        counts.insert_hash_n(victim.hash(&family(accomplice)), EACH);
    }
    let over = counts.estimate_hash(victim.hash(&family(0)));
    (over as f64 / counts.total() as f64 / EPS, 0.0)
}

const PRECISION: u8 = 12;
const HIDDEN: u64 = 100_000;

/// The count of a family by a HyperLogLog.
fn hidden(victim: &Victim, seed: u64) -> (f64, f64) {
    let mut counter = HyperLogLog::new(HllParams::with_precision(PRECISION).expect("a usual precision"));
    let offset = SplitMix64::new(seed).next_u64();
    for member in 0..HIDDEN {
        counter.insert_hash(victim.hash(&family(member.wrapping_add(offset))));
    }
    (counter.estimate(), HIDDEN as f64)
}

/// Keys whose public hashes begin with `RARE` zeros: one of 2^RARE that were looked at.
fn rare(seed: u64) -> impl Iterator<Item = u64> {
    const RARE: u32 = 6;
    const LOOKED_AT: u64 = 1 << 22;
    DistinctKeys::new(seed).range(0..LOOKED_AT).filter(|key| PUBLIC.hash_key(key).leading_zeros() >= RARE)
}

/// The count of rare keys by a HyperLogLog.
fn inflated(victim: &Victim, seed: u64) -> (f64, f64) {
    let mut counter = HyperLogLog::new(HllParams::with_precision(PRECISION).expect("a usual precision"));
    let keys = rare(seed).map(|key| counter.insert_hash(victim.hash(&key))).count();
    (counter.estimate(), keys as f64)
}

const THETA_LG_K: u8 = 12;

/// The count of rare keys by a theta sketch.
fn inflated_theta(victim: &Victim, seed: u64) -> (f64, f64) {
    let mut counter = ThetaSketch::new(ThetaParams::with_lg_k(THETA_LG_K).expect("a usual size"));
    let keys = rare(seed).map(|key| counter.insert_hash(victim.hash(&key))).count();
    (counter.estimate(), keys as f64)
}

const ATTACKS: [Attack; 9] = [
    Attack {
        structure: "Bloom filter, 1%",
        keys: "one of a family with one hash inserted, others asked for",
        figure: "share accepted",
        trial: accepted_kin,
        law: |outcomes| rate_at_most(outcomes, FPR),
        damage: Some((1.0, 1.0)),
    },
    Attack {
        structure: "Bloom filter, 1%",
        keys: "as many as it is made for, chosen to set new bits",
        figure: "share of strangers accepted",
        trial: accepted_after_pollution,
        law: |outcomes| rate_at_most(outcomes, FPR),
        damage: None,
    },
    Attack {
        structure: "Bloom filter, 1%",
        keys: "strangers that a copy accepts",
        figure: "share accepted",
        trial: accepted_after_search,
        law: |outcomes| rate_at_most(outcomes, FPR),
        damage: Some((1.0, 1.0)),
    },
    Attack {
        structure: "BinaryFuseFilter8",
        keys: "built of a family and others, strangers of the family asked for",
        figure: "share accepted",
        trial: accepted_by_static,
        law: |outcomes| rate_at_most(outcomes, 1.0 / 256.0),
        damage: Some((1.0, 1.0)),
    },
    Attack {
        structure: "cuckoo filter, 1%",
        keys: "a family of 1000",
        figure: "share taken before a refusal",
        trial: taken_by_cuckoo,
        law: |outcomes| laws::equals(share(outcomes), 1.0),
        damage: None,
    },
    Attack {
        structure: "count-min, 0.1% at 1%",
        keys: "1000 of a family, 20 events each, among 100,000",
        figure: "a relative's excess over eps N",
        trial: framed,
        law: |outcomes| {
            let beyond = outcomes.iter().filter(|outcome| outcome.0 > 1.0).count();
            laws::rate_at_most(beyond as u64, outcomes.len() as u64, DELTA)
        },
        // All that the others of the family were counted for.
        damage: Some((
            (ACCOMPLICES * EACH) as f64 / ((HONEST + ACCOMPLICES * EACH) as f64 * EPS),
            f64::INFINITY,
        )),
    },
    Attack {
        structure: "HyperLogLog, p = 12",
        keys: "100,000 of a family",
        figure: "count / keys",
        trial: hidden,
        law: count_is_unbiased,
        damage: Some((0.0, 2.0 / HIDDEN as f64)),
    },
    Attack {
        structure: "HyperLogLog, p = 12",
        keys: "one of 64 that were looked at, by leading zeros",
        figure: "count / keys",
        trial: inflated,
        law: count_is_unbiased,
        damage: None,
    },
    Attack {
        structure: "theta sketch, k = 4096",
        keys: "one of 64 that were looked at, by leading zeros",
        figure: "count / keys",
        trial: inflated_theta,
        law: |outcomes| {
            let keys = outcomes[0].1;
            let params = ThetaParams::with_lg_k(THETA_LG_K).expect("a usual size");
            unbiased(outcomes, params.predicted_error(keys as u64))
        },
        damage: None,
    },
];

/// The outcomes' sum by that of their tries.
fn share(outcomes: &[(f64, f64)]) -> f64 {
    let sum = |part: fn(&(f64, f64)) -> f64| outcomes.iter().map(part).sum::<f64>();
    sum(|outcome| outcome.0) / sum(|outcome| outcome.1)
}

fn rate_at_most(outcomes: &[(f64, f64)], promised: f64) -> laws::Verdict {
    let sum = |part: fn(&(f64, f64)) -> f64| outcomes.iter().map(part).sum::<f64>() as u64;
    laws::rate_at_most(sum(|outcome| outcome.0), sum(|outcome| outcome.1), promised)
}

fn count_is_unbiased(outcomes: &[(f64, f64)]) -> laws::Verdict {
    let params = HllParams::with_precision(PRECISION).expect("a usual precision");
    unbiased(outcomes, params.predicted_error(outcomes[0].1 as u64))
}

/// The stated tolerance of an estimator's bias.
const COUNT_BIAS: f64 = 0.0005;

fn unbiased(outcomes: &[(f64, f64)], sigma: f64) -> laws::Verdict {
    let errors: Vec<f64> = outcomes.iter().map(|&(count, keys)| count / keys - 1.0).collect();
    laws::bias_is_zero(laws::mean(&errors), sigma, outcomes.len() as u64, COUNT_BIAS)
}

pub(super) const ADVERSARY: Experiment = Experiment {
    id: "adversary",
    table: None,
    claim: "Keys chosen by a public hash break what sketches promise; under a secret key the same keys do nothing.",
    law: "under a secret key: shares at most the filter's rate and over-counts above eps N at most in delta of all trials, by \
          Chernoff's law; counts within 6.1 standard errors and 0.05%; no refusal. With the public hash the damage is \
          what the attack is made for, or the promise is broken by the same law.",
    cells: |scale| {
        let trials = scale.pick(1, 2, 20, 200);
        (0..ATTACKS.len() as u64).map(|index| Cell { index, trials, inputs: vec![index as f64] }).collect()
    },
    trial: |cell, seed| {
        let attack = &ATTACKS[cell.index as usize];
        let mut random = SplitMix64::new(!seed);
        let key = u128::from(random.next_u64()) << 64 | u128::from(random.next_u64());
        let secret = Victim::Secret(SipHasher::new(key.to_le_bytes()));
        let [public, secret] = [&Victim::Public, &secret].map(|victim| (attack.trial)(victim, seed));
        vec![public.0, public.1, secret.0, secret.1]
    },
    rows: |cell, outcomes| {
        let attack = &ATTACKS[cell.index as usize];
        let of =
            |at: usize| outcomes.iter().map(|outcome| (outcome[at], outcome[at + 1])).collect::<Vec<_>>();
        let [public, secret] = [of(0), of(2)];
        // An excess is none of tries.
        let figure = |outcomes: &[(f64, f64)]| {
            if outcomes[0].1 > 0.0 {
                share(outcomes)
            } else {
                laws::mean(&outcomes.iter().map(|outcome| outcome.0).collect::<Vec<_>>())
            }
        };
        let figures = [&public, &secret].map(|outcomes| figure(outcomes));
        let works = match attack.damage {
            Some((low, _)) if figures[0] < low => laws::at_least(figures[0], low),
            Some((_, high)) => laws::at_most(figures[0], high),
            None => laws::all_hold(u64::from((attack.law)(&public).pass), 1),
        };
        vec![
            Row::new()
                .text("structure", attack.structure)
                .text("keys", attack.keys)
                .text("figure", attack.figure)
                .real("public hash", figures[0], 4)
                .real("secret key", figures[1], 4)
                .check("promise, secret key", (attack.law)(&secret))
                .check("the attack works, public hash", works),
        ]
    },
    plot: None,
};
