//! Counting filters: their price, counters that stick, removals of strangers; beside a textbook filter.

use pds_bloom::{BloomParams, CountingBloomFilter, CountingBloomParams};
use pds_hash::{KeyHasher, Probes, WyHasher};
use pds_testkit::{Cell, DistinctKeys, Experiment, Row, laws};

use super::filters::{self, Found, Layout};

/// The greatest count of four bits.
const GREATEST: u64 = 15;

pub(super) const COUNTING: Experiment = Experiment {
    id: "bloom-counting",
    table: Some("T4"),
    claim: "A counting filter keeps its rate at five times a blocked filter's bits, four fifths of them \
          counters, and forgets what is removed without a trace.",
    law: "fill, own rate and wrong yeses as blocked-fpr, and wrong yeses against the target as an upper \
          bound; sizes exactly; counters that stick against (k n/m)^15/15!, the chance that one is hit by \
          15 of n keys, as an upper bound; after half of the keys were removed none of the others is lost, \
          and the filter equals one that never held them, in every trial.",
    cells: |scale| {
        let probes = scale.pick(50_000.0, 200_000.0, 1e6, 1e7);
        Cell::numbered(scale.pick(2, 4, 10, 100), [0.1, 0.01, 0.001].map(|fpr| [fpr, probes]))
    },
    trial: |cell, seed| {
        let [fpr, probes] = cell.inputs[..] else { return Vec::new() };
        let stream = DistinctKeys::new(seed);
        let params = CountingBloomParams::for_fpr(KEYS, fpr).expect("a usual target");
        let mut filter = CountingBloomFilter::new(params);
        let mut results = filters::loaded(&mut filter, stream, KEYS, probes as u64).to_vec();
        results.push(filter.saturated_cells() as f64);
        let refused = stream.range(0..KEYS / 2).filter(|key| filter.remove(key).is_err()).count();
        let lost = KEYS / 2 - filters::found(&filter, stream.range(KEYS / 2..KEYS));
        let mut never = CountingBloomFilter::new(params);
        filters::insert(&mut never, stream.range(KEYS / 2..KEYS));
        results.extend([refused as f64, lost as f64, f64::from(u8::from(filter != never))]);
        results
    },
    rows: |cell, outcomes| {
        let [fpr, probes] = cell.inputs[..] else { return Vec::new() };
        let params = CountingBloomParams::for_fpr(KEYS, fpr).expect("a usual target");
        let [classic, blocked] = [Layout::Classic, Layout::Blocked]
            .map(|layout| layout.for_fpr(KEYS, fpr).expect("a usual target"));
        let found = Found::of(outcomes, 0, 1, probes as u64);
        let sum = |i: usize| outcomes.iter().map(|outcome| outcome[i]).sum::<f64>() as u64;
        let ours = params.size_bytes() as f64 * 8.0;
        let classic_bits = classic.bits() as f64;
        let cells = params.bits() * found.filters;
        let load = f64::from(params.k()) * KEYS as f64 / params.bits() as f64;
        let sticks = (1..=GREATEST).map(|i| load / i as f64).product();
        let row = Row::new()
            .percent("target", fpr, 3)
            .count("k", u64::from(params.k()))
            .real("classic bits/key", classic_bits / KEYS as f64, 4)
            .real("its counters alone, bits/key", 4.0 * classic_bits / KEYS as f64, 4)
            .real("ours, bits/key", ours / KEYS as f64, 4)
            .real("ours / classic", ours / classic_bits, 4)
            .real("ours / blocked", ours / blocked.bits() as f64, 4)
            .percent("predicted", params.fpr(KEYS), 4)
            .percent("measured", found.rate(), 4)
            .count("counters that stick", sum(4))
            .count("removed", KEYS / 2 * found.filters)
            .count("refused", sum(5))
            .count("others lost", sum(6));
        vec![
            found
                .judged_by_shape(row, &blocked, KEYS)
                .check("promise", found.at_most(fpr))
                .check("size", laws::equals(ours, 5.0 * blocked.bits() as f64))
                .check("counters that stick", laws::rate_at_most(sum(4), cells, sticks))
                .check("none refused", laws::all_hold(sum(5), KEYS / 2 * found.filters))
                .check("none lost", laws::all_hold(sum(6), KEYS / 2 * found.filters))
                .check("no trace", laws::all_hold(sum(7), found.filters)),
        ]
    },
    plot: None,
};

const KEYS: u64 = 100_000;

pub(super) const COPIES: Experiment = Experiment {
    id: "bloom-counting-copies",
    table: Some("T4"),
    claim: "Copies of a key make its counters stick from the 15th on: it is then found for ever, and nobody \
          else is lost. Counters that are taken back from their greatest value lose others.",
    law: "counters that stick against the binomial chance of 15 hits by others' single copies and these \
          keys' many, by Chernoff's law; no removal is refused, no other key is lost, and from 15 copies on \
          every copied key is still found, in every trial. The textbook filter is not judged.",
    cells: |scale| {
        [1.0, 5.0, 12.0, 14.0, 15.0, 20.0, 100.0]
            .map(|copies| Cell {
                index: copies as u64,
                trials: scale.pick(2, 10, 100, 1000),
                inputs: vec![copies],
            })
            .into()
    },
    trial: |cell, seed| {
        let copies = cell.inputs[0] as u64;
        let stream = DistinctKeys::new(seed);
        let (others, copied) = (stream.range(0..FEW), stream.range(FEW..FEW + COPIED));
        let mut filter = CountingBloomFilter::new(copies_params());
        let mut textbook = Textbook::new(FEW + COPIED, 0.01);
        filters::insert(&mut filter, others.clone());
        others.clone().for_each(|key| textbook.insert(key));
        for key in copied.clone() {
            for _ in 0..copies {
                filter.insert(&key);
                textbook.insert(key);
            }
        }
        let sticky = filter.saturated_cells();
        let mut refused = 0;
        for key in copied.clone() {
            for _ in 0..copies {
                refused += u64::from(filter.remove(&key).is_err());
                textbook.remove(key, true);
            }
        }
        let lost = FEW - filters::found(&filter, others.clone());
        let still = filters::found(&filter, copied);
        let textbook_lost = others.filter(|&key| !textbook.contains(key)).count() as u64;
        [sticky, refused, lost, still, textbook_lost].map(|count| count as f64).into()
    },
    rows: |cell, outcomes| {
        let copies = cell.inputs[0] as u64;
        let sum = |i: usize| outcomes.iter().map(|outcome| outcome[i]).sum::<f64>() as u64;
        let params = copies_params();
        let cells = params.bits() * cell.trials;
        let hit = f64::from(params.k()) / params.bits() as f64;
        // By how many copied keys a counter is hit, and at least how often by the others to make up 15.
        let predicted: f64 = (0..=COPIED)
            .map(|i| {
                let missing = GREATEST.saturating_sub(i * copies);
                let fewer: f64 = (0..missing).map(|j| binomial(FEW, hit, j)).sum();
                binomial(COPIED, hit, i) * if missing == 0 { 1.0 } else { (1.0 - fewer).max(0.0) }
            })
            .sum();
        let (all_others, all_copied) = (FEW * cell.trials, COPIED * cell.trials);
        let row = Row::new()
            .count("copies of each of 100 keys", copies)
            .percent("share of counters that stick", sum(0) as f64 / cells as f64, 3)
            .percent("predicted", predicted, 3)
            .count("removals refused", sum(1))
            .percent("still found when all copies are gone", sum(3) as f64 / all_copied as f64, 3)
            .percent("others lost", sum(2) as f64 / all_others as f64, 3)
            .percent("others lost by the textbook's", sum(4) as f64 / all_others as f64, 3)
            .check("stick", laws::rate_is(sum(0), cells, predicted))
            .check("none refused", laws::all_hold(sum(1), copies * all_copied))
            .check("none lost", laws::all_hold(sum(2), all_others));
        vec![if copies >= GREATEST {
            row.check("found for ever", laws::all_hold(all_copied - sum(3), all_copied))
        } else {
            row
        }]
    },
    plot: None,
};

/// Keys that are inserted once, and keys with copies.
const FEW: u64 = 10_000;
const COPIED: u64 = 100;

fn copies_params() -> CountingBloomParams {
    CountingBloomParams::for_fpr(FEW + COPIED, 0.01).expect("a usual target")
}

/// The chance of `hits` out of `trials`, each with a small chance.
fn binomial(trials: u64, chance: f64, hits: u64) -> f64 {
    let choose: f64 = (0..hits).map(|i| (trials - i) as f64 / (i + 1) as f64 * chance).product();
    choose * libm::exp((trials - hits) as f64 * libm::log1p(-chance))
}

pub(super) const STRANGERS: Experiment = Experiment {
    id: "bloom-counting-strangers",
    table: Some("T4"),
    claim: "The removal of a key that was never inserted is refused but for the filter's rate of false \
          positives; each one that is not, takes others along. A filter that does not look first loses far \
          more.",
    law: "removals that are accepted against the filter's own rate before all of them as an upper bound, \
          and after all of them as a lower bound, by Chernoff's law. Keys lost are the price of breaking \
          the rule, and are not judged.",
    cells: |scale| {
        let trials = scale.pick(2, 5, 20, 200);
        let mut cells = Vec::new();
        for (i, fpr) in [0.1, 0.01, 0.001].into_iter().enumerate() {
            for (j, share) in [0.01, 0.1, 1.0].into_iter().enumerate() {
                cells.push(Cell { index: (10 * i + j) as u64, trials, inputs: vec![fpr, share] });
            }
        }
        cells
    },
    trial: |cell, seed| {
        let [fpr, share] = cell.inputs[..] else { return Vec::new() };
        let stream = DistinctKeys::new(seed);
        let members = stream.range(0..MEMBERS);
        let strangers = stream.range(MEMBERS..MEMBERS + (MEMBERS as f64 * share) as u64);
        let params = CountingBloomParams::for_fpr(MEMBERS, fpr).expect("a usual target");
        let mut filter = CountingBloomFilter::new(params);
        let [mut looks, mut blind] = [(); 2].map(|()| Textbook::new(MEMBERS, fpr));
        filters::insert(&mut filter, members.clone());
        for key in members.clone() {
            looks.insert(key);
            blind.insert(key);
        }
        let before = filter.estimated_fpr();
        let [mut accepted, mut accepted_by_textbook] = [0u64; 2];
        for key in strangers {
            accepted += u64::from(filter.remove(&key).is_ok());
            accepted_by_textbook += u64::from(looks.remove(key, true));
            blind.remove(key, false);
        }
        let lost = MEMBERS - filters::found(&filter, members.clone());
        let [looks, blind] =
            [looks, blind].map(|textbook| members.clone().filter(|&key| !textbook.contains(key)).count());
        vec![
            accepted as f64,
            before,
            filter.estimated_fpr(),
            lost as f64,
            accepted_by_textbook as f64,
            looks as f64,
            blind as f64,
        ]
    },
    rows: |cell, outcomes| {
        let [fpr, share] = cell.inputs[..] else { return Vec::new() };
        let column = |i: usize| outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>();
        let sum = |i: usize| column(i).iter().sum::<f64>() as u64;
        let strangers = (MEMBERS as f64 * share) as u64 * cell.trials;
        let members = (MEMBERS * cell.trials) as f64;
        let (before, after) = (laws::mean(&column(1)), laws::mean(&column(2)));
        let row = Row::new()
            .percent("target", fpr, 3)
            .percent("strangers removed / keys", share, 3)
            .percent("refused", 1.0 - sum(0) as f64 / strangers as f64, 5)
            .percent("1 - own rate, before", 1.0 - before, 5)
            .percent("after", 1.0 - after, 5)
            .percent("keys lost", sum(3) as f64 / members, 3);
        let row = if sum(0) > 0 {
            row.real("lost per accepted removal", sum(3) as f64 / sum(0) as f64, 3)
        } else {
            row.missing("lost per accepted removal")
        };
        vec![
            row.percent("lost by the textbook's", sum(5) as f64 / members, 3)
                .percent("lost by one that does not look", sum(6) as f64 / members, 3)
                .check("at most", laws::rate_at_most(sum(0), strangers, before))
                .check("at least", laws::rate_at_least(sum(0), strangers, after)),
        ]
    },
    plot: None,
};

const MEMBERS: u64 = 20_000;

/// The textbook's counting filter \[FanEtAl00\]: a counter of four bits for each bit of a classic filter. Counters stop
/// at their greatest value, and are counted down from there like any other.
struct Textbook {
    counters: Vec<u8>,
    k: u32,
}

impl Textbook {
    fn new(keys: u64, fpr: f64) -> Self {
        let params = BloomParams::for_fpr(keys, fpr).expect("a usual target");
        Self { counters: vec![0; params.bits() as usize], k: params.k() }
    }

    fn cells(&self, key: u64) -> impl Iterator<Item = usize> + use<> {
        let words = self.counters.len() as u64 / 64;
        let mut probes = Probes::new(WyHasher::default().hash_key(&key));
        (0..self.k).map(move |_| {
            let (word, bit) = probes.next(words);
            (word * 64) as usize + bit as usize
        })
    }

    fn insert(&mut self, key: u64) {
        for cell in self.cells(key) {
            self.counters[cell] = (self.counters[cell] + 1).min(GREATEST as u8);
        }
    }

    /// Whether it was done: `look` makes it refuse a key that it says no to.
    fn remove(&mut self, key: u64, look: bool) -> bool {
        if look && !self.contains(key) {
            return false;
        }
        for cell in self.cells(key) {
            self.counters[cell] = self.counters[cell].saturating_sub(1);
        }
        true
    }

    fn contains(&self, key: u64) -> bool {
        self.cells(key).all(|cell| self.counters[cell] > 0)
    }
}
