//! Rates and loads beside their predictions. Each tail of each law rejects what is true with a chance of 1e-9.

use pds_cuckoo::prelude::*;
use pds_testkit::{DistinctKeys, laws, seed_for};

/// Hashes that differ from trial to trial.
fn hashes(id: &str, cell: u64, trial: u64) -> DistinctKeys {
    DistinctKeys::new(seed_for(id, cell, trial))
}

/// 100,000 keys, up to 2,000,000 strangers; 8, 12 and 16 bits, and the shortest, at three loads.
#[test]
fn strangers_are_taken_for_members_as_often_as_the_law_says_at_every_load() {
    const KEYS: u64 = 100_000;
    for bits in [4, 5, 8, 12, 13, 16] {
        // 25,001 buckets: odd, and no power of two; every load up to 100,000 of 100,004 slots.
        for (percent, buckets) in [(50, 50_000), (90, 27_778), (95, 26_316)] {
            let params = CuckooParams::with_shape(buckets, bits).expect("a valid shape");
            let keys = hashes("rate", u64::from(bits), percent);
            let mut filter = CuckooFilter::new(params);
            for hash in keys.range(0..KEYS) {
                _ = filter.insert_hash(hash);
            }
            let probes = if bits < 8 { 100_000 } else { 2_000_000 };
            let strangers: Vec<u64> = keys.range(KEYS..KEYS + probes).collect();
            let mut found = vec![false; strangers.len()];
            assert_eq!(filter.contains_batch(&strangers, &mut found), strangers.len());
            let hits = found.iter().filter(|&&found| found).count() as u64;
            laws::rate_is(hits, probes, params.fpr(filter.len()))
                .assert(&format!("{bits} bits at {percent}% load"));
            // The published bound, 2b / 2^f, is never passed.
            let bound = 8.0 / f64::from(params.fingerprint_bits()).exp2();
            laws::rate_at_most(hits, probes, bound.min(1.0)).assert("the published bound");
        }
    }
}

/// Many tiny filters, one stranger each: here one bucket in m is both buckets of a key where m is odd.
#[test]
fn the_law_is_exact_in_tiny_tables_too() {
    const FILTERS: u64 = 200_000;
    for (buckets, keys) in [(1u64, 3u64), (2, 5), (3, 4), (5, 8), (6, 10)] {
        for bits in [4, 7] {
            let params = CuckooParams::with_shape(buckets, bits).expect("a valid shape");
            let mut filter = CuckooFilter::new(params);
            let (mut hits, mut trials) = (0, 0);
            for trial in 0..FILTERS {
                let hashes = hashes("tiny", buckets << 8 | u64::from(bits), trial);
                filter.clear();
                if hashes.range(0..keys).all(|hash| filter.insert_hash(hash).is_ok()) {
                    trials += 1;
                    hits += u64::from(filter.contains_hash(hashes.key(keys)));
                }
            }
            // Few are refused: what is left is as good as all.
            assert!(trials > FILTERS * 99 / 100, "{buckets} buckets: {trials}");
            laws::rate_is(hits, trials, params.fpr(keys)).assert(&format!("{buckets} buckets, {bits} bits"));
        }
    }
}

/// Some 2,000,000 keys in filters of each size; 1,000 seeds at least, 200,000 of the smallest.
#[test]
fn as_many_keys_as_promised_find_room_whatever_the_seed() {
    for (cell, keys) in [3, 8, 9, 20, 50, 100, 300, 1000, 2000].into_iter().enumerate() {
        let trials = (2_000_000 / keys).clamp(1000, 200_000);
        for bits in [5, 8, 12] {
            let params = (1..2000)
                .map(|pairs| CuckooParams::with_shape(2 * pairs, bits).expect("a valid shape"))
                .find(|params| params.capacity() >= keys)
                .expect("a table for so few");
            let capacity = params.capacity();
            let mut filter = CuckooFilter::new(params);
            let mut failures = 0;
            for trial in 0..trials {
                filter.clear();
                let hashes = hashes("capacity", (cell as u64) << 8 | u64::from(bits), trial);
                failures +=
                    u64::from(hashes.range(0..capacity).any(|hash| filter.insert_hash(hash).is_err()));
            }
            laws::rate_at_most(failures, trials, CuckooParams::FAILURE_PROBABILITY)
                .assert(&format!("{keys} keys, {bits} bits, {} buckets", params.buckets()));
        }
    }
}

/// 1,000 tables of each size, filled until the first refusal: powers of two and not.
#[test]
fn the_first_refusal_comes_after_95_percent_of_the_slots() {
    for buckets in [400u64, 512, 1000, 1024, 1500] {
        let params = CuckooParams::with_shape(buckets, 12).expect("a valid shape");
        let mut filter = CuckooFilter::new(params);
        let mut early = 0;
        for trial in 0..1000 {
            filter.clear();
            let full = hashes("first refusal", buckets, trial)
                .range(0..params.slots() + 1)
                .find(|&hash| filter.insert_hash(hash).is_err());
            assert!(full.is_some(), "no more entries than slots");
            early += u64::from(filter.load() < CuckooParams::MAX_LOAD);
        }
        laws::rate_at_most(early, 1000, CuckooParams::FAILURE_PROBABILITY)
            .assert(&format!("{buckets} buckets"));
    }
}

/// A large table; only one, for the time it takes.
#[test]
fn a_million_keys_fill_a_table_to_95_percent_with_short_and_long_fingerprints() {
    for bits in [6, 8, 12, 32] {
        let params = CuckooParams::with_shape(263_158, bits).expect("a valid shape");
        assert_eq!(params.capacity(), 1_000_000);
        let keys: Vec<u64> = hashes("million", 0, u64::from(bits)).range(0..1_000_000).collect();
        let mut filter = CuckooFilter::new(params);
        assert_eq!(filter.insert_batch(&keys), keys.len());
        let mut found = vec![false; keys.len()];
        filter.contains_batch(&keys, &mut found);
        assert!(found.iter().all(|&found| found) && filter.is_saturated());
    }
}

/// 64 keys grow to 1,000,000 in one plan; the rate of each moment is the predicted one.
#[test]
fn the_rate_of_a_growing_filter_follows_the_number_of_its_keys() {
    const PROBES: u64 = 1_000_000;
    let params = GrowableCuckooParams::for_fpr(64, 1_000_000, 0.01).expect("valid targets");
    let keys = hashes("growing", 0, 0);
    let strangers: Vec<u64> = keys.range(1_000_000..1_000_000 + PROBES).collect();
    let mut found = vec![false; strangers.len()];
    let mut filter = GrowableCuckooFilter::new(params);
    let mut inserted = 0;
    for target in [64, 1000, 30_000, 500_000, 1_000_000] {
        let batch: Vec<u64> = keys.range(inserted..target).collect();
        assert_eq!(filter.insert_batch(&batch), batch.len());
        inserted = target;
        filter.contains_batch(&strangers, &mut found);
        let hits = found.iter().filter(|&&found| found).count() as u64;
        laws::rate_is(hits, PROBES, params.fpr(target)).assert(&format!("{target} keys"));
    }
    laws::at_most(params.fpr(1_000_000), 0.01).assert("the promise at the end");
    assert_eq!(filter.doublings(), params.doublings());
}

/// Which is why only inserted keys may be removed: 95,000 keys, 20,000 strangers for each of 20 filters.
#[test]
fn removing_strangers_takes_members_away_at_the_rate_of_false_positives() {
    const KEYS: u64 = 95_000;
    const STRANGERS: u64 = 20_000;
    let params = CuckooParams::with_shape(25_000, 12).expect("a valid shape");
    let (mut removed, mut forgotten) = (0, 0);
    for trial in 0..20 {
        let keys = hashes("hazard", 0, trial);
        let mut filter = CuckooFilter::new(params);
        for hash in keys.range(0..KEYS) {
            filter.insert_hash(hash).expect("room");
        }
        let taken =
            keys.range(KEYS..KEYS + STRANGERS).filter(|&hash| filter.remove_hash(hash).is_ok()).count();
        removed += taken as u64;
        let lost = keys.range(0..KEYS).filter(|&hash| !filter.contains_hash(hash)).count();
        assert!(
            lost <= taken,
            "keys that look the same have an entry each, and are lost with the last of them"
        );
        forgotten += lost as u64;
        assert_eq!(filter.len(), KEYS - taken as u64);
    }
    // Removals lower the load by a thousandth at most.
    laws::rate_at_most(removed, 20 * STRANGERS, params.fpr(KEYS)).assert("removals that succeed");
    laws::rate_at_least(removed, 20 * STRANGERS, params.fpr(KEYS - 100)).assert("removals that succeed");
    assert!(forgotten > 0);
}
