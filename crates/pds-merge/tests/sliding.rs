//! Sliding windows against a list of all events.

mod kin;

use kin::{dd_of, hll_with};
use pds_hll::SipHasher;
use pds_merge::{RollupParams, Sketch, SlidingWindow, TimeError};
use pds_quantiles::prelude::*;
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    Current(u64),
    At(u64, u64),
    Merge(u64, Vec<u64>),
    Advance(u64),
    Ask,
}

fn ops(base: u64) -> impl Strategy<Value = Vec<Op>> {
    let time = (0..200u64).prop_map(move |time| base + time);
    let op = prop_oneof![
        3 => (0..100u64).prop_map(Op::Current),
        3 => (time.clone(), 0..100u64).prop_map(|(time, key)| Op::At(time, key)),
        1 => (time.clone(), vec(0..100u64, 1..4)).prop_map(|(time, keys)| Op::Merge(time, keys)),
        3 => time.prop_map(Op::Advance),
        4 => Just(Op::Ask),
    ];
    vec(op, 0..80)
}

proptest! {
    #[test]
    fn the_answer_is_the_sketch_of_the_windows_events_however_often_it_is_asked(
        width in 1..40u64,
        buckets in 1..6u64,
        (base, ops) in prop_oneof![Just(0), Just(u64::MAX - 200)].prop_flat_map(|base| (Just(base), ops(base))),
    ) {
        let params = RollupParams::new(width, buckets).unwrap();
        let mut window = SlidingWindow::new(params, dd_of(&[]), base);
        let (mut events, mut now): (Vec<(u64, u64)>, u64) = (Vec::new(), base);
        let (mut late, mut ahead) = (0, 0);
        let has_expired = |time: u64, now: u64| (now / width).saturating_sub(time / width) >= buckets;
        for op in ops {
            let mut judge = |time: u64, now: u64| {
                let is_late = has_expired(time, now);
                let is_ahead = time / width > now / width;
                late += u64::from(is_late);
                ahead += u64::from(is_ahead);
                !is_late && !is_ahead
            };
            match op {
                Op::Current(key) => {
                    window.current_mut().insert(key as f64);
                    events.push((now, key));
                }
                Op::At(time, key) => {
                    let result = window.insert_at(time, |sketch| sketch.insert(key as f64));
                    prop_assert_eq!(result.is_ok(), judge(time, now));
                    if result.is_ok() {
                        events.push((time, key));
                    }
                }
                Op::Merge(time, keys) => {
                    let result = window.merge_at(time, &dd_of(&keys));
                    prop_assert_eq!(result.is_ok(), judge(time, now));
                    if result.is_ok() {
                        events.extend(keys.into_iter().map(|key| (time, key)));
                    }
                }
                Op::Advance(time) => {
                    window.advance(time);
                    now = now.max(time);
                }
                Op::Ask => {
                    let alive = events.iter().filter(|(time, _)| !has_expired(*time, now));
                    let keys: Vec<u64> = alive.map(|&(_, key)| key).collect();
                    let expected = dd_of(&keys).to_bytes();
                    prop_assert_eq!(window.merged().unwrap().to_bytes(), expected.clone());
                    prop_assert_eq!(window.merged().unwrap().to_bytes(), expected);
                    let each: u64 = window.buckets().map(|(_, sketch)| sketch.count()).sum();
                    prop_assert_eq!(each, keys.len() as u64);
                    prop_assert!(window.buckets().count() as u64 <= buckets);
                    // After a restart.
                    let mut restored = SlidingWindow::new(params, dd_of(&[]), now);
                    for (start, sketch) in window.buckets() {
                        let _ = restored.merged();
                        restored.insert_bucket(start, sketch.clone()).unwrap();
                    }
                    prop_assert!(restored.buckets().eq(window.buckets()));
                    prop_assert_eq!(restored.merged(), window.merged());
                }
            }
            prop_assert_eq!((window.refused_late(), window.refused_ahead(), window.now()), (late, ahead, now));
        }
    }

    #[test]
    fn an_event_is_remembered_for_all_but_one_width_and_forgotten_at_all_of_them(
        width in 1..100u64, buckets in 1..10u64, born in 0..1_000u64, age in 0..1_500u64
    ) {
        let mut window = SlidingWindow::new(RollupParams::new(width, buckets).unwrap(), dd_of(&[]), born);
        window.current_mut().insert(1.0);
        let _ = window.merged();
        window.advance(born + age);
        let remembered = window.merged().unwrap().count() == 1;
        if age <= (buckets - 1) * width {
            prop_assert!(remembered);
        }
        if age >= buckets * width {
            prop_assert!(!remembered);
        }
    }
}

#[test]
fn a_jump_of_any_length_forgets_everything() {
    for jump in [60 * 12, 60 * 12 + 59, u64::MAX] {
        let mut window = SlidingWindow::new(RollupParams::new(60, 12).unwrap(), dd_of(&[]), 0);
        window.insert_at(0, |sketch| sketch.insert(1.0)).unwrap();
        assert_eq!(window.merged().unwrap().count(), 1);
        window.advance(jump);
        assert_eq!(window.merged().unwrap().to_bytes(), dd_of(&[]).to_bytes());
        assert_eq!(window.buckets().count(), 0);
        assert!(matches!(window.insert_at(0, |_| ()), Err(TimeError::Late { time: 0, .. })));
    }
}

#[test]
fn a_lead_is_not_taken_over() {
    let params = RollupParams::new(60, 12).unwrap().with_lead(5);
    let mut window = SlidingWindow::new(params, dd_of(&[]), 0);
    let refused = window.insert_at(60, |_| ());
    assert_eq!(refused, Err(TimeError::Ahead { time: 60, newest: 59 }));
}

#[test]
fn a_foreign_sketch_changes_no_bucket() {
    let own = || hll_with(SipHasher::new([1; 16]), &[1, 2]);
    let foreign = hll_with(SipHasher::new([2; 16]), &[3]);
    let empty = hll_with(SipHasher::new([1; 16]), &[]);
    let mut window = SlidingWindow::new(RollupParams::new(60, 3).unwrap(), empty, 120);
    window.merge_at(60, &own()).unwrap();
    window.merge_at(120, &own()).unwrap();
    let before: Vec<_> = window.buckets().map(|(start, sketch)| (start, sketch.to_bytes())).collect();
    for time in [0, 60, 120] {
        assert!(matches!(window.merge_at(time, &foreign), Err(TimeError::Sketch(_))));
    }
    let after: Vec<_> = window.buckets().map(|(start, sketch)| (start, sketch.to_bytes())).collect();
    assert_eq!(after, before);
    assert_eq!(window.merged().unwrap().to_bytes(), own().to_bytes());
}
