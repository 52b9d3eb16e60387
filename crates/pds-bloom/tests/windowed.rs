//! What the windowed filter promises, as laws.

use pds_bloom::prelude::*;
use pds_bloom::{BlockedBloomFilter, BlockedBloomParams, WindowedBloomFilter, WindowedBloomParams, WyHasher};
use pds_testkit::{
    DistinctKeys, WireLaws, idempotent_merge_law, laws, merge_laws, refused_merge_law, wire_laws,
};
use proptest::prelude::*;

fn shape(bits: u64, k: u32, generations: u32) -> WindowedBloomFilter {
    let params = WindowedBloomParams::with_shape(bits, k, generations).expect("a valid shape");
    WindowedBloomFilter::new(params)
}

/// Keys of one generation, which is not the first.
fn filter(keys: &[u64]) -> WindowedBloomFilter {
    let mut filter = shape(1000, 5, 3);
    (0..7).for_each(|_| filter.advance());
    filter.extend(keys);
    filter
}

/// Keys of five generations, of which four are left; which one is a key's own does not depend on its place.
fn filter_of_many_generations(keys: &[u64]) -> WindowedBloomFilter {
    let mut filter = shape(600, 9, 4);
    for generation in 0..5 {
        filter.advance();
        filter.extend(keys.iter().filter(|key| **key % 5 == generation));
    }
    filter
}

merge_laws! { merging, filter, idempotent }
merge_laws! { merging_with_advances_at_equal_times, filter_of_many_generations, idempotent }

const WIRE: WireLaws<WindowedBloomFilter> = WireLaws {
    exercise: |filter| {
        let _ = (filter.contains(&1u64), filter.age("key"), filter.fill_ratio(), filter.is_saturated());
        let mut filter = filter.clone();
        filter.insert(&1u64);
        assert_eq!(filter.age(&1u64), Some(0));
        let generations = filter.params().generations();
        assert_eq!(filter.estimated_len_of(generations), None);
        for age in 1..generations {
            filter.advance();
            assert!(filter.contains(&1u64) && filter.age(&1u64).is_some_and(|found| found <= age));
            assert!(filter.estimated_len_of(age).is_some_and(|len| len > 0.0));
        }
        (0..generations).for_each(|_| filter.advance());
        assert!(filter.is_empty());
    },
    view: |bytes| {
        if let Ok(view) = WindowedBloomFilter::view(bytes) {
            let _ = (view.contains(&1u64), view.contains("key"), view.verify().is_ok());
            assert_eq!(view.age("key").is_some(), view.contains("key"));
            let mut found = [false; 3];
            assert_eq!(view.contains_batch(&[1, 2, 3], &mut found), 3);
            assert!((0.0..=1.0).contains(&view.fill_ratio()) && (0.0..=1.0).contains(&view.estimated_fpr()));
            let _ = (view.estimated_len_of(0), view.estimated_len_of(u32::MAX), view.is_saturated());
        }
        let _ = WindowedBloomParams::peek(bytes);
    },
    ..WireLaws::new(WindowedBloomFilter::from_bytes)
};

wire_laws! { wire, WIRE, filter, canonical }
wire_laws! { wire_of_many_generations, WIRE, filter_of_many_generations, canonical }

#[test]
fn what_decodes_is_canonical_and_equal() {
    for filter in [filter(&[1, 2, 3]), filter_of_many_generations(&[1, 2, 3])] {
        WIRE.round_trips_to_an_equal(&filter);
        WIRE.accepts_canonical_bytes_only(&filter.to_bytes());
    }
    let sized = |keys: &[u64]| {
        let params = WindowedBloomParams::for_fpr(100, 0.01, 5).expect("valid targets");
        let mut filter = WindowedBloomFilter::new(params);
        filter.extend(keys);
        filter
    };
    WIRE.round_trips_to_an_equal(&sized(&[1, 2, 3]));
    idempotent_merge_law(sized, &[1, 2, 3]);
}

/// Generations as blocked filters of their own, the current one first.
struct Model {
    generations: Vec<BlockedBloomFilter>,
}

impl Model {
    fn new(params: WindowedBloomParams) -> Self {
        let each = BlockedBloomParams::with_shape(params.bits_per_generation(), params.k());
        let each = BlockedBloomFilter::new(each.expect("a valid shape"));
        Self { generations: vec![each; params.generations() as usize] }
    }

    fn insert(&mut self, hash: u64) -> bool {
        self.generations[0].insert_hash(hash)
    }

    fn advance(&mut self) {
        self.generations.rotate_right(1);
        self.generations[0].clear();
    }

    fn age(&self, hash: u64) -> Option<u32> {
        self.generations.iter().position(|each| each.contains_hash(hash)).map(|age| age as u32)
    }

    fn fill(&self) -> f64 {
        let fills: f64 = self.generations.iter().map(BlockedBloomFilter::fill_ratio).sum();
        fills / self.generations.len() as f64
    }
}

proptest! {
    #[test]
    fn a_window_is_its_generations(
        streams in proptest::collection::vec(proptest::collection::vec(0..500u64, 0..80), 1..12),
        strangers: Vec<u64>, bits in 1..3000u64, k in 1..=24u32, generations in 2..=64u32, large: bool,
    ) {
        // The large shape takes the prefetching loop.
        let bits = if large { (1 << 22) / u64::from(generations) + 512 } else { bits };
        let (mut filter, mut batch) = (shape(bits, k, generations), shape(bits, k, generations));
        let mut model = Model::new(filter.params());
        for (generation, stream) in streams.iter().enumerate() {
            if generation > 0 {
                filter.advance();
                batch.advance();
                model.advance();
            }
            batch.insert_batch(stream);
            for &hash in stream {
                prop_assert_eq!(filter.insert_hash(hash), model.insert(hash));
                prop_assert_eq!(filter.age_hash(hash), Some(0));
            }
        }
        prop_assert_eq!(filter.generation(), streams.len() as u64 - 1);
        prop_assert!(filter == batch, "a batch is its hashes one by one");

        let image = filter.to_bytes();
        let view = WindowedBloomFilter::view(&image).expect("its own bytes");
        prop_assert_eq!((view.generation(), view.params()), (filter.generation(), filter.params()));
        let asked = [&streams.concat()[..], &strangers[..]].concat();
        let (mut found, mut viewed) = (vec![false; asked.len() + 2], vec![false; asked.len()]);
        prop_assert_eq!(filter.contains_batch(&asked, &mut found), asked.len());
        prop_assert_eq!(view.contains_batch(&asked, &mut viewed), asked.len());
        for (i, &hash) in asked.iter().enumerate() {
            let age = model.age(hash);
            prop_assert_eq!([filter.age_hash(hash), view.age_hash(hash)], [age; 2]);
            let answers = [found[i], viewed[i], filter.contains_hash(hash), view.contains_hash(hash)];
            prop_assert_eq!(answers, [age.is_some(); 4]);
        }

        prop_assert!((filter.fill_ratio() - model.fill()).abs() < 1e-12);
        let bits = |number: Option<f64>| number.map(f64::to_bits);
        for (age, each) in model.generations.iter().enumerate() {
            prop_assert_eq!(bits(filter.estimated_len_of(age as u32)), bits(Some(each.estimated_len())));
            prop_assert_eq!(bits(view.estimated_len_of(age as u32)), bits(Some(each.estimated_len())));
        }
        prop_assert_eq!([filter.estimated_len_of(generations), view.estimated_len_of(u32::MAX)], [None; 2]);
        prop_assert_eq!(filter.is_saturated(), model.generations[0].is_saturated());
        prop_assert_eq!(view.is_saturated(), filter.is_saturated());
        prop_assert_eq!(view.fill_ratio().to_bits(), filter.fill_ratio().to_bits());
        prop_assert_eq!(view.estimated_fpr().to_bits(), filter.estimated_fpr().to_bits());
    }

    #[test]
    fn keys_and_their_hashes_are_one(key: String, number: i32) {
        let params = WindowedBloomParams::with_shape(1000, 5, 3).expect("a valid shape");
        let mut filter = WindowedBloomFilter::with_hasher(params, SipHasher::new([9; 16]));
        let hash = filter.hasher().hash_key(&key);
        prop_assert!(filter.insert(&key));
        prop_assert!(filter.contains_hash(hash) && !filter.insert_hash(hash));
        filter.advance();
        prop_assert_eq!((filter.age(&key), filter.age_hash(hash)), (Some(1), Some(1)));
        prop_assert!(filter.insert(&key), "the current generation did not have it");
        filter.insert(&number);
        prop_assert!(filter.contains(&i64::from(number)));
    }
}

/// The guarantee: found for G - 1 advances, gone with the next but for false positives.
#[test]
fn a_key_lives_for_all_generations_and_no_longer() {
    const KEYS: u64 = 500;
    for generations in [2, 3, 8, 64] {
        let params = WindowedBloomParams::for_fpr(KEYS, 0.001, generations).expect("valid targets");
        let mut filter = WindowedBloomFilter::new(params);
        let keys = DistinctKeys::new(u64::from(generations));
        let of = |generation: u64| keys.range(generation * KEYS..(generation + 1) * KEYS);
        for generation in 0..3 * u64::from(generations) {
            filter.extend(of(generation));
            assert_eq!(filter.generation(), generation);
            for age in 0..u64::from(generations).min(generation + 1) {
                // A younger generation may say yes wrongly, an older one is not asked for.
                let mut ages = of(generation - age).map(|key| filter.age(&key));
                assert!(ages.all(|found| found.is_some_and(|found| u64::from(found) <= age)));
            }
            if generation + 1 < 3 * u64::from(generations) {
                filter.advance();
                continue;
            }
            for age in 0..u64::from(generations) {
                let exact = of(generation - age).filter(|key| filter.age(key) == Some(age as u32)).count();
                laws::rate_at_most(KEYS - exact as u64, KEYS, 0.001).assert("ages that are too young");
                let gone = of(generation - u64::from(generations) - age);
                let hits = gone.filter(|key| filter.contains(key)).count() as u64;
                laws::rate_at_most(hits, KEYS, 0.001).assert("generations that made room");
            }
        }
        (0..generations).for_each(|_| filter.advance());
        assert!(filter.is_empty(), "after as many advances as generations nothing is left");
    }
}

/// Others: expiry by age was asked for, for years, and a rotating set forgot keys of a moment ago.
#[test]
fn a_key_of_a_moment_ago_survives_the_next_advance() {
    for generations in 2..=64 {
        let mut filter = shape(512, 6, generations);
        for start in 0..=2 * generations {
            let key = u64::from(start);
            filter.insert(&key);
            for age in 1..generations {
                filter.advance();
                assert_eq!(filter.age(&key), Some(age), "{generations} generations, begun at {start}");
            }
            filter.advance();
            assert_eq!((filter.age(&key), filter.is_empty()), (None, true));
            filter.advance();
        }
    }
}

/// Others: inserting was skipped where an older generation said yes, and the key was gone with that one.
#[test]
fn a_key_that_comes_again_begins_its_life_again() {
    let mut filter = shape(512, 6, 3);
    for _ in 0..10 {
        assert!(filter.insert("key"), "written though older generations have it");
        assert_eq!(filter.age("key"), Some(0));
        filter.advance();
        assert_eq!(filter.age("key"), Some(1));
        filter.advance();
        assert_eq!(filter.age("key"), Some(2));
    }
    filter.advance();
    assert_eq!(filter.age("key"), None);
}

/// n = 5,000 keys in each generation, 1,000,000 probes, alpha 1e-9 a tail.
#[test]
fn strangers_are_taken_for_members_as_often_as_the_law_says() {
    const KEYS: u64 = 5_000;
    const PROBES: u64 = 1_000_000;
    for (i, (fpr, generations)) in
        [(0.1, 2), (0.01, 4), (0.01, 7), (0.001, 3), (0.05, 64)].into_iter().enumerate()
    {
        let params = WindowedBloomParams::for_fpr(KEYS, fpr, generations).expect("valid targets");
        let keys = DistinctKeys::new(i as u64);
        let mut filter = WindowedBloomFilter::new(params);
        let members = u64::from(generations) * KEYS;
        for generation in 0..u64::from(generations) {
            if generation > 0 {
                filter.advance();
            }
            filter.extend(keys.range(generation * KEYS..(generation + 1) * KEYS));
            assert!(!filter.is_saturated(), "at its design load");
        }
        let hits = keys.range(members..members + PROBES).filter(|key| filter.contains(key)).count() as u64;
        laws::rate_is(hits, PROBES, filter.estimated_fpr()).assert("the rate of this filter");
        laws::rate_at_most(hits, PROBES, fpr).assert("the promise, with every generation full");
        filter.extend(keys.range(members..members + KEYS));
        assert!(filter.is_saturated(), "at twice its design load");
        filter.advance();
        assert!(!filter.is_saturated(), "a new generation");
    }
}

/// Keys that are in every generation: one line is like the other, and asking for all of them costs nothing.
#[test]
fn keys_that_come_again_lower_the_rate() {
    const KEYS: u64 = 5_000;
    const PROBES: u64 = 1_000_000;
    let params = WindowedBloomParams::for_fpr(KEYS, 0.01, 4).expect("valid targets");
    let mut filter = WindowedBloomFilter::new(params);
    let keys = DistinctKeys::new(1);
    for _ in 0..4 {
        filter.advance();
        filter.extend(keys.range(0..KEYS));
    }
    let hits = keys.range(KEYS..KEYS + PROBES).filter(|key| filter.contains(key)).count() as u64;
    laws::rate_at_most(hits, PROBES, 0.01 / 4.0 * 1.01).assert("the rate of one generation");
    laws::rate_at_most(hits, PROBES, filter.estimated_fpr()).assert("the estimate errs upwards");
}

#[test]
fn merging_refuses_what_differs_and_changes_nothing() {
    let mut mine = shape(1024, 5, 3);
    mine.insert("key");
    let incompatible = |field| Error::Incompatible { field };
    for (other, error) in [
        (shape(1024, 5, 4), incompatible("generations")),
        (shape(2048, 5, 3), incompatible("bits")),
        (shape(1024, 6, 3), incompatible("k")),
    ] {
        assert_eq!(refused_merge_law(mine.clone(), &other), error);
    }
    // Also where the ring has come round to the same place.
    let mut later = mine.clone();
    for _ in 0..6 {
        later.advance();
        assert_eq!(refused_merge_law(mine.clone(), &later), incompatible("generation"));
        assert!(mine != later);
    }
    let targeted =
        WindowedBloomFilter::new(WindowedBloomParams::for_fpr(107, 0.01, 3).expect("valid targets"));
    let raw = shape(targeted.params().bits_per_generation(), targeted.params().k(), 3);
    assert_eq!(refused_merge_law(raw, &targeted), incompatible("design_fpr"));
    let params = mine.params();
    let keyed = |key| WindowedBloomFilter::with_hasher(params, SipHasher::new([key; 16]));
    assert!(matches!(refused_merge_law(keyed(1), &keyed(2)), Error::Hasher { .. }));
}

#[test]
fn no_key_at_all_is_legal_and_answers_no() {
    let mut filter =
        WindowedBloomFilter::new(WindowedBloomParams::for_fpr(0, 0.01, 4).expect("no keys are legal"));
    assert!(filter.is_empty() && !filter.contains("key") && !filter.is_saturated());
    assert_eq!((filter.age("key"), filter.estimated_len_of(0)), (None, Some(0.0)));
    assert_eq!((filter.fill_ratio(), filter.estimated_fpr()), (0.0, 0.0));
    assert!(filter.insert("key"));
    filter.advance();
    assert!(!filter.is_empty());
    filter.clear();
    assert!(filter.is_empty() && !filter.contains("key"));
    assert_eq!(filter.generation(), 1, "a shard that was cleared still merges with the others");
}

#[test]
fn every_bit_set_is_full_and_says_so() {
    let mut filter = shape(512, 1, 2);
    filter.extend(0..20_000u64);
    assert_eq!((filter.fill_ratio(), filter.estimated_fpr()), (0.5, 1.0));
    assert!(filter.estimated_len_of(0).is_some_and(f64::is_infinite) && filter.is_saturated());
    assert!(!filter.insert("stranger") && filter.contains("stranger"));
}

#[test]
fn a_merge_across_seeds_is_refused() {
    let params = WindowedBloomParams::with_shape(512, 5, 3).expect("a valid shape");
    let seeded = |seed| WindowedBloomFilter::with_hasher(params, WyHasher::with_seed(seed));
    assert!(matches!(refused_merge_law(seeded(0), &seeded(1)), Error::Hasher { .. }));
}

#[test]
fn advancing_to_a_number_is_advancing_as_often() {
    let params = WindowedBloomParams::with_shape(2000, 4, 5).expect("a valid shape");
    for start in [0u64, 3, 17] {
        for target in [0u64, 3, 4, 17, 18, 20, 21, 22, 100] {
            let mut by_number = WindowedBloomFilter::new(params);
            for _ in 0..start {
                by_number.advance();
                by_number.insert(&by_number.generation());
            }
            let mut by_step = by_number.clone();
            by_number.advance_to(target);
            (start..target).for_each(|_| by_step.advance());
            assert_eq!(by_number.to_bytes(), by_step.to_bytes(), "{start} {target}");
        }
    }
    let mut far = WindowedBloomFilter::new(params);
    far.insert("key");
    far.advance_to(u64::MAX);
    assert!(far.is_empty() && far.generation() == u64::MAX);
}
