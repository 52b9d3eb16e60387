//! The read path of a log-structured store: sorted files on disk, each with a filter in a file of its own, and reads that are
//! counted.

mod store;

use pds_bloom::BloomParams;
use pds_testkit::{Cell, Experiment, Row, laws};

use store::{Filter, Lookups, Store, Tally};

/// Files that a lookup may have to search, the newest first.
const FILES: usize = 7;

/// Lookups of a mix that are for keys in the store.
const HEAVY: f64 = 0.9;

const FILTERS: [Filter; 8] = [
    Filter::None,
    Filter::Bloom(0.1),
    Filter::Ribbon(0.1),
    Filter::Bloom(0.01),
    Filter::Ribbon(0.01),
    Filter::Fuse,
    Filter::Bloom(0.001),
    Filter::Ribbon(0.001),
];

/// What is looked up in the files of one size, in the order of the columns.
const WORKLOADS: [Lookups; 4] = [
    Lookups { present: 0.0, stops: true },
    Lookups { present: 1.0, stops: true },
    Lookups { present: 1.0, stops: false },
    Lookups { present: HEAVY, stops: true },
];

const KEYS_OF_A_FILE: u64 = 20_000;

/// A ribbon filter takes at most so much of the bytes of a Bloom filter of its rate: 1 / 1.44, and a little.
const RIBBON_OF_BLOOM: f64 = 0.75;

pub(super) const READS: Experiment = Experiment {
    id: "lsm-reads",
    table: Some("T14"),
    claim: "With a filter of rate p for each of 7 files a lookup for an absent key reads 7p blocks and not 7, and one for a key that is \
            there reads p for each file that is searched before its own: of Bloom filters as of ribbon filters, which take 30% less.",
    law: "blocks read in vain out of filters asked, against the mean of these filters' own rates, by Chernoff's law, for each of the four \
          kinds of lookup; lookups of absent keys that read nothing against the product of what the rates leave, by the same. Ribbon filters \
          have the fraction of a column at the same places in all files, so that their yeses come together: the share of a lookup's files is \
          one draw, and the product is a lower bound. Every key that is there is found, in its own file, and no filter denies one; a ribbon \
          filter takes at most three quarters of the bytes of the Bloom filter of its rate. All blocks are read from files, and all filters \
          from the bytes of theirs.",
    cells: |scale| {
        let lookups = scale.pick(2_000.0, 10_000.0, 50_000.0, 500_000.0);
        // Without a filter there is no chance in it.
        let lookups = |i: usize| if i == 0 { lookups / 10.0 } else { lookups };
        Cell::numbered(scale.pick(1, 1, 5, 20), (0..FILTERS.len()).map(|i| [i as f64, lookups(i)]))
    },
    trial: |cell, seed| {
        let [which, lookups] = cell.inputs[..] else { return Vec::new() };
        let store = Store::new(FILTERS[which as usize], &[KEYS_OF_A_FILE; FILES], seed);
        let views = store.views();
        let mut outcome = vec![store.filter_bytes(FILES) as f64, store.denied(&views) as f64];
        for workload in WORKLOADS {
            outcome.extend(store.run(&views, workload, lookups as u64, seed).columns());
        }
        outcome
    },
    rows: |cell, outcomes| {
        let filter = FILTERS[cell.inputs[0] as usize];
        let keys = (KEYS_OF_A_FILE * FILES as u64) as f64;
        let bits = laws::mean(&outcomes.iter().map(|outcome| outcome[0]).collect::<Vec<_>>()) * 8.0 / keys;
        let denied = outcomes.iter().map(|outcome| outcome[1]).sum::<f64>() as u64;
        let tallies: [Tally; 4] = std::array::from_fn(|i| Tally::sum(outcomes, 2 + i * Tally::COLUMNS));
        let [absent, present, every, mix] = tallies;
        let row = Row::new().text("filter of a file", filter.name());
        let row = match filter.rate() {
            Some(rate) => row.percent("p", rate, 3).real("bits/key", bits, 4),
            None => row.missing("p").missing("bits/key"),
        };
        let row = row
            .real("absent: reads expected", absent.predicted_reads(), 3)
            .real("measured", absent.reads_each(), 3)
            .percent("absent: nothing read, expected", absent.predicted_nothing(), 3)
            .percent("nothing read, measured", absent.nothing_share(), 3)
            .real("present, newest file first: expected", present.predicted_reads(), 4)
            .real("newest first, measured", present.reads_each(), 4)
            .real("present, every file asked: expected", every.predicted_reads(), 4)
            .real("every file, measured", every.reads_each(), 4)
            .real("90% present: expected", mix.predicted_reads(), 4)
            .real("90% present, measured", mix.reads_each(), 4)
            .check("absent", absent.wasted(filter, FILES))
            .check("nothing read", absent.nothing(filter))
            .check("present", present.wasted(filter, FILES))
            .check("every file", every.wasted(filter, FILES))
            .check("mix", mix.wasted(filter, FILES))
            .check("none denied", laws::all_hold(denied, keys as u64 * cell.trials))
            .check("all found", laws::all_hold(tallies.iter().map(Tally::missed).sum(), absent.asked()));
        vec![match filter {
            Filter::Ribbon(rate) => {
                let bloom =
                    BloomParams::for_fpr(KEYS_OF_A_FILE, rate).expect("a usual rate").size_bytes() * 8;
                let most = RIBBON_OF_BLOOM * bloom as f64 / KEYS_OF_A_FILE as f64;
                row.check("bytes", laws::at_most(bits, most))
            }
            _ => row,
        }]
    },
    plot: None,
};

/// Keys of the files of a store in levels: four young ones, and a level of each ten times the last.
const LEVELS: [u64; FILES] = [500, 500, 500, 500, 2_000, 20_000, 200_000];

const LEVEL_FILTERS: [Filter; 4] =
    [Filter::Bloom(0.1), Filter::Bloom(0.01), Filter::Ribbon(0.01), Filter::Ribbon(0.001)];

/// Shares of the lookups that are for keys in the store.
const PRESENT: [f64; 4] = [0.0, 0.5, HEAVY, 1.0];

pub(super) const LAST_LEVEL: Experiment = Experiment {
    id: "lsm-last-level",
    table: Some("T14"),
    claim: "Where levels grow tenfold, the filter of the last takes nine tenths of all filters' bytes, and saves a read only to lookups of \
            absent keys: without it each of these reads one block more, and what is there costs what it did.",
    law: "blocks read in vain out of files that were asked, against the mean of their filters' own rates (1 without a filter), by \
          Chernoff's law, with the last level's filter and without (of ribbon filters, the share of a lookup's files is one draw); every key that is there is found in its own file.",
    cells: |scale| {
        let lookups = scale.pick(2_000.0, 10_000.0, 50_000.0, 500_000.0);
        Cell::numbered(scale.pick(1, 1, 3, 20), (0..LEVEL_FILTERS.len()).map(|i| [i as f64, lookups]))
    },
    trial: |cell, seed| {
        let [which, lookups] = cell.inputs[..] else { return Vec::new() };
        let store = Store::new(LEVEL_FILTERS[which as usize], &LEVELS, seed);
        let mut views = store.views();
        let mut outcome = vec![store.filter_bytes(FILES) as f64, store.filter_bytes(FILES - 1) as f64];
        for _ in 0..2 {
            for present in PRESENT {
                let workload = Lookups { present, stops: true };
                outcome.extend(store.run(&views, workload, lookups as u64, seed).columns());
            }
            views[FILES - 1] = store::View::None;
        }
        outcome
    },
    rows: |cell, outcomes| {
        let filter = LEVEL_FILTERS[cell.inputs[0] as usize];
        let [all, without] = [0, 1].map(|i| outcomes[0][i]);
        let row = |(i, present): (usize, f64)| {
            let tally = |i: usize| Tally::sum(outcomes, 2 + i * Tally::COLUMNS);
            let (full, less) = (tally(i), tally(PRESENT.len() + i));
            Row::new()
                .text("filter of a file", filter.name())
                .percent("p", filter.rate().unwrap_or(1.0), 3)
                .percent("lookups of keys that are there", present, 2)
                .count("bytes of all filters", all as u64)
                .count("but the last level's", without as u64)
                .percent("saved", 1.0 - without / all, 3)
                .real("reads expected", full.predicted_reads(), 4)
                .real("measured", full.reads_each(), 4)
                .real("without the last: expected", less.predicted_reads(), 4)
                .real("without, measured", less.reads_each(), 4)
                .real("reads added", less.reads_each() - full.reads_each(), 3)
                .check("all filters", full.wasted(filter, FILES))
                .check("without the last", less.wasted(filter, FILES))
                .check("all found", laws::all_hold(full.missed() + less.missed(), full.asked()))
        };
        PRESENT.into_iter().enumerate().map(row).collect()
    },
    plot: None,
};
