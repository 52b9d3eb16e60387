//! Roll-ups against a list of all events.

mod kin;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use kin::dd_of;
use pds_hll::{HllParams, HyperLogLog, SipHasher};
use pds_merge::{Error, Merge, Rollup, RollupParams, Sketch, TimeError};
use pds_quantiles::prelude::*;
use proptest::collection::vec;
use proptest::prelude::*;

type Event = (u64, u8, u64);

/// Keeps every event that was accepted, and selects from all of them by the definition.
struct Oracle {
    params: RollupParams,
    now: u64,
    events: Vec<Event>,
    late: u64,
    ahead: u64,
}

impl Oracle {
    fn index(&self, time: u64) -> u128 {
        u128::from(time) / u128::from(self.params.width())
    }

    fn has_expired(&self, time: u64) -> bool {
        self.index(time) + u128::from(self.params.retention()) <= self.index(self.now)
    }

    fn is_ahead(&self, time: u64) -> bool {
        self.index(time) > self.index(self.now) + u128::from(self.params.lead())
    }

    fn accepts(&mut self, time: u64) -> bool {
        self.late += u64::from(self.has_expired(time));
        self.ahead += u64::from(self.is_ahead(time));
        !self.has_expired(time) && !self.is_ahead(time)
    }

    /// Whether some time of this bucket lies in the range.
    fn touches(&self, time: u64, (from, to): (Bound<u64>, Bound<u64>)) -> bool {
        let width = u128::from(self.params.width());
        let first = self.index(time) * width;
        let from = match from {
            Bound::Included(from) => u128::from(from),
            Bound::Excluded(from) => u128::from(from) + 1,
            Bound::Unbounded => 0,
        };
        let end = match to {
            Bound::Included(to) => u128::from(to) + 1,
            Bound::Excluded(to) => u128::from(to),
            Bound::Unbounded => 1 << 64,
        };
        from < end && first < end && from < first + width
    }

    fn select<G: Ord>(&self, key: impl Fn(&Event) -> Option<G>) -> BTreeMap<G, Vec<u8>> {
        let mut groups: BTreeMap<G, Vec<u64>> = BTreeMap::new();
        for event in self.events.iter().filter(|(time, ..)| !self.has_expired(*time)) {
            if let Some(group) = key(event) {
                groups.entry(group).or_default().push(event.2);
            }
        }
        groups.into_iter().map(|(group, keys)| (group, dd_of(&keys).to_bytes())).collect()
    }
}

fn bytes<G: Ord>(sketches: BTreeMap<G, DDSketch>) -> BTreeMap<G, Vec<u8>> {
    sketches.into_iter().map(|(group, sketch)| (group, sketch.to_bytes())).collect()
}

#[derive(Clone, Debug)]
enum Op {
    Insert(u64, u8, u64),
    Merge(u64, u8, Vec<u64>),
    Advance(u64),
    Query(Bound<u64>, Bound<u64>, u8),
}

/// Times of some buckets, at the beginning of time or at its end.
fn times(base: u64) -> impl Strategy<Value = u64> + Clone {
    prop_oneof![20 => (0..200u64).prop_map(move |time| base + time), 1 => any::<u64>(), 1 => Just(u64::MAX)]
}

fn bounds(base: u64) -> impl Strategy<Value = Bound<u64>> {
    let time = times(base);
    prop_oneof![
        time.clone().prop_map(Bound::Included),
        time.prop_map(Bound::Excluded),
        Just(Bound::Unbounded)
    ]
}

fn ops(base: u64) -> impl Strategy<Value = Vec<Op>> {
    // Absurd times come with data, not from the clock.
    let clock = (0..200u64).prop_map(move |time| base + time);
    let op = prop_oneof![
        4 => (times(base), 0..3u8, 0..100u64).prop_map(|(time, dim, key)| Op::Insert(time, dim, key)),
        1 => (times(base), 0..3u8, vec(0..100u64, 1..5)).prop_map(|(time, dim, keys)| Op::Merge(time, dim, keys)),
        1 => clock.prop_map(Op::Advance),
        2 => (bounds(base), bounds(base), 0..4u8).prop_map(|(from, to, dims)| Op::Query(from, to, dims)),
    ];
    vec(op, 0..60)
}

fn cases() -> impl Strategy<Value = (RollupParams, u64, Vec<Op>)> {
    const HUGE: u64 = u64::MAX / 2;
    let width = prop_oneof![8 => 1..40u64, 1 => Just(HUGE), 1 => Just(u64::MAX)];
    let retention = prop_oneof![8 => 1..6u64, 1 => Just(HUGE), 1 => Just(u64::MAX)];
    let lead = prop_oneof![8 => 0..3u64, 1 => Just(HUGE), 1 => Just(u64::MAX)];
    let base = prop_oneof![Just(0), Just(1_000), Just(u64::MAX - 200)];
    (width, retention, lead, base).prop_flat_map(|(width, retention, lead, base)| {
        let params = RollupParams::new(width, retention).expect("not 0").with_lead(lead);
        (Just(params), Just(base), ops(base))
    })
}

proptest! {
    #[test]
    fn every_answer_is_the_sketch_of_the_events_it_covers((params, base, ops) in cases()) {
        let mut rollup = Rollup::<DDSketch, u8>::new(params, dd_of(&[]), base);
        let mut oracle = Oracle { params, now: base, events: Vec::new(), late: 0, ahead: 0 };
        for op in ops {
            match op {
                Op::Insert(time, dimension, key) => {
                    let result = rollup.insert(time, &dimension, |sketch| sketch.insert(key as f64));
                    prop_assert_eq!(result.is_ok(), oracle.accepts(time));
                    if result.is_ok() {
                        oracle.events.push((time, dimension, key));
                    }
                }
                Op::Merge(time, dimension, keys) => {
                    let result = rollup.merge(time, &dimension, &dd_of(&keys));
                    prop_assert_eq!(result.is_ok(), oracle.accepts(time));
                    if result.is_ok() {
                        oracle.events.extend(keys.into_iter().map(|key| (time, dimension, key)));
                    }
                }
                Op::Advance(now) => {
                    let start = |&(time, dimension, _): &Event| Some((params.start_of(time), dimension));
                    let mut before = oracle.select(start);
                    let expired = rollup.advance(now);
                    oracle.now = oracle.now.max(now);
                    before.retain(|(start, _), _| oracle.has_expired(*start));
                    let expired: BTreeMap<_, _> = expired.into_iter().map(|(t, d, s)| ((t, d), s)).collect();
                    prop_assert_eq!(bytes(expired), before);
                }
                Op::Query(from, to, dimensions) => {
                    let (range, keep) = ((from, to), |dimension: &u8| *dimension < dimensions);
                    let chosen = |event: &Event| oracle.touches(event.0, range) && keep(&event.1);
                    let all = oracle.select(|event| chosen(event).then_some(()));
                    let answer = rollup.query(range, keep).unwrap().map(|sketch| sketch.to_bytes());
                    prop_assert_eq!(answer.as_ref(), all.get(&()));
                    if answer.is_some() {
                        let covered = rollup.covered(range).unwrap();
                        prop_assert_eq!(params.start_of(*covered.start()), *covered.start());
                        prop_assert_eq!(params.end_of(*covered.end()), *covered.end());
                        let inside = oracle.select(|event| (covered.contains(&event.0) && keep(&event.1)).then_some(()));
                        prop_assert_eq!(inside, all);
                    }
                    let by_dimension = rollup.group_by(range, |_, &dimension| Some(dimension)).unwrap();
                    let expected = oracle.select(|event| oracle.touches(event.0, range).then_some(event.1));
                    prop_assert_eq!(bytes(by_dimension), expected);
                }
            }
            prop_assert_eq!((rollup.refused_late(), rollup.refused_ahead()), (oracle.late, oracle.ahead));
            prop_assert_eq!(rollup.now(), oracle.now);
        }
        let rows: BTreeMap<_, _> = rollup.rows().map(|(start, &dim, sketch)| ((start, dim), sketch.to_bytes())).collect();
        let expected = oracle.select(|&(time, dimension, _)| Some((params.start_of(time), dimension)));
        prop_assert_eq!(rollup.len(), expected.len());
        prop_assert_eq!(rollup.is_empty(), expected.is_empty());
        prop_assert_eq!(rows, expected);

        // Stored and put back.
        let mut restored = Rollup::<DDSketch, u8>::new(params, dd_of(&[]), rollup.now());
        for (start, &dimension, sketch) in rollup.rows() {
            let sketch = DDSketch::from_bytes(&sketch.to_bytes()).unwrap();
            restored.insert_bucket(start, dimension, sketch).unwrap();
        }
        prop_assert!(restored.rows().eq(rollup.rows()));
    }

    #[test]
    fn the_window_holds_the_kept_buckets_and_those_ahead(
        width in 1..=u64::MAX, retention in 1..=u64::MAX, lead: u64, now: u64, time: u64
    ) {
        let params = RollupParams::new(width, retention).unwrap().with_lead(lead);
        let oracle = Oracle { params, now, events: Vec::new(), late: 0, ahead: 0 };
        let window = params.window(now);
        prop_assert!(window.contains(&now));
        for time in [time, *window.start(), *window.end()] {
            let expected = !oracle.has_expired(time) && !oracle.is_ahead(time);
            prop_assert_eq!(window.contains(&time), expected);
        }
        for outside in [window.start().checked_sub(1), window.end().checked_add(1)].into_iter().flatten() {
            prop_assert!(oracle.has_expired(outside) || oracle.is_ahead(outside));
        }
    }
}

#[test]
fn widths_and_retentions_of_nothing_are_refused() {
    let parameter = |name| Error::Parameter { name, value: 0.0, domain: "at least 1" };
    assert_eq!(RollupParams::new(0, 1), Err(parameter("width")));
    assert_eq!(RollupParams::new(1, 0), Err(parameter("retention")));
}

#[test]
fn one_absurd_timestamp_expires_nothing() {
    let mut rollup = Rollup::<DDSketch>::new(RollupParams::new(60, 3).unwrap(), dd_of(&[]), 600);
    rollup.insert(500, &(), |sketch| sketch.insert(1.0)).unwrap();
    let refused = rollup.insert(u64::MAX, &(), |_| unreachable!("it is refused"));
    assert_eq!(refused, Err::<(), _>(TimeError::Ahead { time: u64::MAX, newest: 659 }));
    assert_eq!(rollup.refused_ahead(), 1);
    assert_eq!(rollup.query(.., |()| true).unwrap(), Some(dd_of(&[1])));
}

#[test]
fn time_does_not_go_back() {
    let mut rollup = Rollup::<DDSketch>::new(RollupParams::new(60, 3).unwrap(), dd_of(&[]), 600);
    rollup.insert(600, &(), |sketch| sketch.insert(1.0)).unwrap();
    assert!(rollup.advance(0).is_empty());
    assert_eq!((rollup.now(), rollup.len(), rollup.window()), (600, 1, 480..=659));
}

#[test]
#[allow(clippy::reversed_empty_ranges)]
fn empty_and_inverted_ranges_select_nothing() {
    let mut rollup = Rollup::<DDSketch>::new(RollupParams::new(60, 3).unwrap(), dd_of(&[]), 600);
    rollup.insert(600, &(), |sketch| sketch.insert(1.0)).unwrap();
    assert_eq!((rollup.covered(610..610), rollup.query(610..610, |()| true)), (None, Ok(None)));
    assert_eq!((rollup.covered(650..=610), rollup.query(650..=610, |()| true)), (None, Ok(None)));
    assert_eq!(rollup.covered(610..611), Some(600..=659));
    assert_eq!(rollup.covered(..), Some(480..=659));
    assert_eq!(rollup.covered(..480), None);
}

#[test]
fn a_group_may_be_of_time() {
    let mut rollup = Rollup::<DDSketch, &str>::new(RollupParams::new(60, 10).unwrap(), dd_of(&[]), 599);
    for (time, dimension, key) in [(0, "a", 1), (130, "b", 2), (299, "a", 3), (300, "a", 4)] {
        rollup.insert(time, &dimension, |sketch| sketch.insert(f64::from(key))).unwrap();
    }
    let halves = rollup.group_by(.., |start, _| Some(start / 300)).unwrap();
    assert_eq!(bytes(halves), bytes([(0, dd_of(&[1, 2, 3])), (1, dd_of(&[4]))].into()));
    let dimensions: BTreeSet<&str> = rollup.rows().map(|(_, &dimension, _)| dimension).collect();
    assert_eq!(dimensions, ["a", "b"].into());
    let each = dd_of(&[1]).size_bytes();
    assert_eq!(rollup.size_bytes(|_| each), 4 * each);
}

/// All that a refusal may not change.
fn state<S: Sketch>(rollup: &Rollup<S, u8>) -> Vec<(u64, u8, Vec<u8>)> {
    rollup.rows().map(|(start, &dimension, sketch)| (start, dimension, sketch.to_bytes())).collect()
}

#[test]
fn a_foreign_sketch_is_refused_with_its_error_and_changes_nothing() {
    let params = HllParams::with_precision(5).unwrap();
    let of = |key: u8| HyperLogLog::with_hasher(params, SipHasher::new([key; 16]));
    let (mut own, mut foreign) = (of(1), of(2));
    own.insert("alice");
    foreign.insert("alice");
    let mut rollup = Rollup::<_, u8>::new(RollupParams::new(60, 3).unwrap(), of(1), 600);
    rollup.merge(600, &0, &own).unwrap();
    let before = state(&rollup);
    let error = of(1).merge(&foreign).unwrap_err();
    for dimension in [0, 1] {
        assert_eq!(rollup.merge(600, &dimension, &foreign), Err(TimeError::Sketch(error)));
        let restored = rollup.insert_bucket(600, dimension, foreign.clone());
        assert_eq!(restored, Err(TimeError::Sketch(error)));
    }
    let misaligned = rollup.insert_bucket(601, 0, own.clone());
    assert_eq!(misaligned, Err(TimeError::Misaligned { time: 601, width: 60 }));
    let late = rollup.insert_bucket(420, 0, own);
    assert_eq!(late, Err(TimeError::Late { time: 420, oldest: 480 }));
    assert_eq!(state(&rollup), before);
    assert_eq!((rollup.refused_late(), rollup.refused_ahead()), (1, 0));
}

#[test]
fn a_row_put_back_is_the_row_byte_for_byte() {
    // A t-digest's bytes depend on its history.
    let empty = TDigest::new(TDigestParams::with_compression(20).unwrap());
    let mut rollup = Rollup::<TDigest, u8>::new(RollupParams::new(60, 3).unwrap(), empty.clone(), 600);
    for value in 0..1_000u32 {
        rollup.insert(600, &0, |digest| digest.insert(f64::from(value))).unwrap();
    }
    let stored: Vec<(u64, u8, Vec<u8>)> = state(&rollup);
    let mut restored = Rollup::<TDigest, u8>::new(rollup.params(), empty, rollup.now());
    for (start, dimension, bytes) in &stored {
        restored.insert_bucket(*start, *dimension, TDigest::from_bytes(bytes).unwrap()).unwrap();
    }
    assert_eq!(state(&restored), stored);
}

#[test]
fn an_insertion_that_panics_leaves_no_row_behind() {
    let empty = HyperLogLog::new(HllParams::with_precision(5).unwrap());
    let mut rollup = Rollup::<HyperLogLog, u8>::new(RollupParams::new(60, 3).unwrap(), empty, 600);
    let insertion = std::panic::AssertUnwindSafe(|| rollup.insert(600, &0, |_| panic!("on purpose")));
    assert!(std::panic::catch_unwind(insertion).is_err());
    assert_eq!(rollup.rows().count(), 0);
    rollup.insert(600, &0, |sketch| sketch.insert("alice")).unwrap();
    assert_eq!(rollup.rows().count(), 1);
}
