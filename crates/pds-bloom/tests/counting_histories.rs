//! Histories of the counting filter: nothing that is held is lost, whatever came and went.

use std::collections::HashMap;

use pds_bloom::prelude::*;
use pds_bloom::{CountingBloomFilter, CountingBloomParams, WyHasher};
use pds_testkit::{DistinctKeys, SplitMix64};
use proptest::prelude::*;

/// Two lines, and rounds that meet: 12 bits a key.
fn params() -> CountingBloomParams {
    CountingBloomParams::with_shape(1024, 12).expect("a valid shape")
}

/// The cells of a key, read off a filter that holds nothing else: an oracle that knows no probes.
fn cells(params: CountingBloomParams, hash: u64) -> Vec<usize> {
    let mut alone = CountingBloomFilter::new(params);
    alone.insert_hash(hash);
    let bytes = alone.to_bytes();
    let bits = &bytes[bytes.len() - params.size_bytes() as usize..][..params.bits() as usize / 8];
    (0..params.bits() as usize).filter(|cell| bits[cell / 8] >> (cell % 8) & 1 == 1).collect()
}

/// A multiset of hashes, and the counters that it has left behind.
struct Model {
    params: CountingBloomParams,
    copies: HashMap<u64, u32>,
    counters: Vec<u8>,
    cells: HashMap<u64, Vec<usize>>,
}

impl Model {
    fn new(params: CountingBloomParams) -> Self {
        let counters = vec![0; params.bits() as usize];
        Self { params, copies: HashMap::new(), counters, cells: HashMap::new() }
    }

    fn cells(&mut self, hash: u64) -> &[usize] {
        self.cells.entry(hash).or_insert_with(|| cells(self.params, hash))
    }

    fn insert(&mut self, hash: u64) {
        *self.copies.entry(hash).or_default() += 1;
        for cell in self.cells(hash).to_vec() {
            self.counters[cell] = (self.counters[cell] + 1).min(15);
        }
    }

    /// Of a hash that is held.
    fn remove(&mut self, hash: u64) {
        let copies = self.copies.get_mut(&hash).expect("a hash that is held");
        *copies -= 1;
        if *copies == 0 {
            self.copies.remove(&hash);
        }
        for cell in self.cells(hash).to_vec() {
            self.counters[cell] -= u8::from(self.counters[cell] < 15);
        }
    }

    fn absorb(&mut self, other: &Self) {
        for (hash, copies) in &other.copies {
            *self.copies.entry(*hash).or_default() += copies;
        }
        for (mine, theirs) in self.counters.iter_mut().zip(&other.counters) {
            *mine = (*mine + theirs).min(15);
        }
    }

    /// The payload: a bit for each counter above 0, then the counters, the even one of two in the low half.
    fn payload(&self) -> Vec<u8> {
        let bits = self.counters.chunks(8).map(|eight| {
            eight.iter().enumerate().fold(0, |byte, (i, count)| byte | u8::from(*count > 0) << i)
        });
        let counters = self.counters.chunks(2).map(|two| two[0] | two[1] << 4);
        bits.chain(counters).collect()
    }

    fn check(&self, filter: &CountingBloomFilter) {
        let bytes = filter.to_bytes();
        assert!(bytes.ends_with(&self.payload()), "bits or counters are not those of the history");
        assert!(self.copies.keys().all(|hash| filter.contains_hash(*hash)), "a hash that is held is denied");
        let sticky: u64 = self.counters.iter().map(|count| u64::from(*count == 15)).sum();
        assert_eq!(filter.saturated_cells(), sticky);
        assert_eq!(CountingBloomFilter::view(&bytes).expect("its own bytes").saturated_cells(), sticky);
    }
}

/// Plays a legal history: keys are inserted, and removed while they are held; removals that the filter refuses change
/// nothing. A shard of the stream goes to a second filter, and is merged in now and then.
fn play(params: CountingBloomParams, keys: u64, steps: u64, seed: u64) {
    let mut random = SplitMix64::new(seed);
    let (mut filter, mut shard) = (CountingBloomFilter::new(params), CountingBloomFilter::new(params));
    let (mut model, mut shard_model) = (Model::new(params), Model::new(params));
    let distinct = DistinctKeys::new(seed);
    // One key gets copy after copy, then they are taken back one by one.
    let hot = distinct.key(u64::MAX);
    for step in 0..steps {
        let (filter, model) =
            if random.below(8) == 0 { (&mut shard, &mut shard_model) } else { (&mut filter, &mut model) };
        let rising = step * 2 < steps;
        let hash = if random.below(steps / 1000 + 2) == 0 { hot } else { distinct.key(random.below(keys)) };
        let held = model.copies.contains_key(&hash);
        let fell_for = !held && filter.contains_hash(hash);
        if random.below(10) < if rising { 5 } else { 4 } {
            let known = filter.contains_hash(hash);
            assert_eq!(filter.insert_hash(hash), !known);
            assert!(filter.contains_hash(hash));
            model.insert(hash);
        } else if held {
            assert_eq!(filter.remove_hash(hash), Ok(()));
            model.remove(hash);
            assert!(!model.copies.contains_key(&hash) || filter.contains_hash(hash));
        } else if !fell_for {
            assert_eq!(filter.remove_hash(hash), Err(Error::NotPresent));
        }
        if step % (steps / 50 + 1) == 0 {
            model.check(filter);
        }
        if step % (steps / 10 + 1) == 0 {
            self::merge(&mut shard, &mut shard_model, params);
        }
    }
    model.check(&filter);
    filter.merge(&shard).expect("equal shapes");
    model.absorb(&shard_model);
    model.check(&filter);
}

/// What is in the shard goes round by its own bytes, and stays what it is.
fn merge(shard: &mut CountingBloomFilter, model: &mut Model, params: CountingBloomParams) {
    let (mut whole, mut whole_model) = (CountingBloomFilter::new(params), Model::new(params));
    whole.insert_hash(1);
    whole_model.insert(1);
    whole.merge(shard).expect("equal shapes");
    whole_model.absorb(model);
    whole_model.check(&whole);
    *shard = CountingBloomFilter::from_bytes(&whole.to_bytes()).expect("its own bytes");
    whole_model.cells = std::mem::take(&mut model.cells);
    *model = whole_model;
}

#[test]
fn a_million_steps_of_a_legal_history_lose_no_key() {
    // At a load within the design, and at one that makes many counters stick.
    play(CountingBloomParams::for_fpr(2_000, 0.01).expect("valid targets"), 2_000, 700_000, 1);
    play(CountingBloomParams::with_shape(2048, 9).expect("a valid shape"), 300, 300_000, 2);
}

proptest! {
    #[test]
    fn any_legal_history_loses_no_key(seed: u64, bits in 1..3000u64, k in 1..=24u32, keys in 1..60u64) {
        play(CountingBloomParams::with_shape(bits, k).expect("a valid shape"), keys, 300, seed);
    }
}

/// 14 copies can be taken back; from the 15th on the bits stay.
#[test]
fn counters_stick_at_fifteen() {
    let once = cells(params(), WyHasher::default().hash_key("key")).len() as u64;
    for copies in [13, 14, 15, 16, 1000] {
        let mut filter = CountingBloomFilter::new(params());
        for _ in 0..copies {
            filter.insert("key");
        }
        assert_eq!(filter.saturated_cells(), if copies < 15 { 0 } else { once }, "{copies} copies");
        for left in (0..copies).rev() {
            assert_eq!(filter.remove("key"), Ok(()));
            assert_eq!(filter.contains("key"), left > 0 || copies >= 15, "{left} of {copies} copies left");
        }
        if copies >= 15 {
            assert_eq!(filter.remove("key"), Ok(()), "a filter that lost count cannot refuse");
            assert!(!filter.is_empty() && filter.contains("key"));
        }
        filter.clear();
        assert!(filter.is_empty() && filter == CountingBloomFilter::new(params()));
    }
}

/// Others: a 4-bit counter that ran over became 0 and cost keys; one of 20 adds and 15 removes was denied.
#[test]
fn more_copies_than_a_counter_holds_are_not_lost() {
    let mut filter =
        CountingBloomFilter::new(CountingBloomParams::for_fpr(100, 0.01).expect("valid targets"));
    for (adds, removes) in [(20, 15), (16, 15), (4, 3), (1000, 999)] {
        for _ in 0..adds {
            filter.insert(&adds);
        }
        for _ in 0..removes {
            assert_eq!(filter.remove(&adds), Ok(()));
        }
        assert!(filter.contains(&adds), "{adds} adds, {removes} removes");
    }
}

/// Others: an addition that met a full counter stopped half-way; its removal then took away what belonged to others.
#[test]
fn a_full_counter_does_not_stop_an_insertion_half_way() {
    let params = CountingBloomParams::with_shape(512, 8).expect("a valid shape");
    let (mut filter, mut model) = (CountingBloomFilter::new(params), Model::new(params));
    let hashes: Vec<u64> = DistinctKeys::new(9).range(0..40).collect();
    for &hash in hashes.iter().flat_map(|hash| std::iter::repeat_n(hash, 6)) {
        filter.insert_hash(hash);
        model.insert(hash);
    }
    let sticky = filter.saturated_cells();
    assert!(sticky > 0 && sticky < 512, "some are full and some are not: {sticky}");
    model.check(&filter);
    for &hash in hashes.iter().flat_map(|hash| std::iter::repeat_n(hash, 5)) {
        assert_eq!(filter.remove_hash(hash), Ok(()));
        model.remove(hash);
    }
    model.check(&filter);
}

/// Others: duplicates were not inserted, so that one removal took away two.
#[test]
fn copies_are_counted_though_no_bit_changes() {
    let mut filter = CountingBloomFilter::new(params());
    assert!(filter.insert("key") && !filter.insert("key"));
    assert_eq!(filter.remove("key"), Ok(()));
    assert!(filter.contains("key"));
    assert_eq!(filter.remove("key"), Ok(()));
    assert_eq!(filter.remove("key"), Err(Error::NotPresent));
}
