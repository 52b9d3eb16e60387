//! Structures that forget by themselves: not before they may.

use std::collections::{HashMap, VecDeque};

use arbitrary::Unstructured;
use pds_bloom::{WindowedBloomFilter, WindowedBloomParams};
use pds_cms::Pane;
use pds_cms::prelude::*;
use pds_hash::WyHasher;

use super::{calls, hash, hashes, history, recode, weight};
use crate::subject::Subject;

/// [`WindowedBloomFilter`]: no key is too old, and none is lost before its time.
pub fn windowed(data: &[u8]) {
    history(data, |u| {
        let generations = u.int_in_range(2..=64)?;
        let params =
            WindowedBloomParams::with_shape(u.int_in_range(1..=2000)?, u.int_in_range(1..=24)?, generations)
                .expect("a shape");
        let (mut filter, mut last) = (WindowedBloomFilter::new(params), HashMap::new());
        calls(u, |u, call| {
            let now = filter.generation();
            match call % 16 {
                0..6 => {
                    let hash = hash(u)?;
                    filter.insert_hash(hash);
                    last.insert(hash, now);
                }
                6 | 7 => {
                    let hashes = hashes(u)?;
                    filter.insert_batch(&hashes);
                    last.extend(hashes.into_iter().map(|hash| (hash, now)));
                }
                8..11 => filter.advance(),
                11 => {
                    let by = weight(u)?;
                    let to = now.saturating_add(by).min(u64::MAX - 1);
                    filter.advance_to(to);
                    assert_eq!(filter.generation(), to.max(now));
                }
                12 => filter.advance_to(u.arbitrary::<u8>()?.into()),
                13 => recode(&mut filter),
                14 => {
                    let (mut other, hashes) = (WindowedBloomFilter::new(params), hashes(u)?);
                    other.advance_to(now);
                    other.insert_batch(&hashes);
                    assert_eq!(filter.merge(&other), Ok(()));
                    last.extend(hashes.into_iter().map(|hash| (hash, now)));
                    other.advance();
                    assert!(now == u64::MAX || filter.merge(&other).is_err());
                }
                _ => {
                    filter.clear();
                    last.clear();
                }
            }
            // Behind the last number there is, ages cannot be told from numbers.
            if filter.generation() == u64::MAX - 1 {
                filter = WindowedBloomFilter::new(params);
                last.clear();
            }
            Ok(())
        })?;
        for (&hash, &generation) in &last {
            let age = filter.generation() - generation;
            if age < u64::from(generations) {
                assert!(
                    filter.age_hash(hash).is_some_and(|found| u64::from(found) <= age),
                    "lost, or too old"
                );
                assert!(filter.contains_hash(hash));
            }
        }
        Ok(())
    });
}

/// Exact counts pane by pane, the newest first.
type Panes = VecDeque<HashMap<u64, u64>>;

/// [`SlidingCountMin`] of either pane: never below the count within the window.
pub fn sliding(data: &[u8]) {
    history(data, |u| {
        if u.arbitrary()? { slide::<CountMinSketch<u16>>(u) } else { slide::<ConservativeCountMin<u32>>(u) }
    });
}

fn slide<S: Pane + Sketch<Hasher = WyHasher>>(u: &mut Unstructured<'_>) -> arbitrary::Result<()>
where
    SlidingCountMin<S>: Subject + Merge,
{
    let shape =
        CountMinParams::with_shape(u.int_in_range(1..=64)?, u.int_in_range(1..=16)?).expect("a shape");
    let count = u.int_in_range(1..=9)?;
    let Ok(params) = SlidingCountMinParams::with_panes(shape, count) else { return Ok(()) };
    let mut sketch = SlidingCountMin::<S>::with_hasher(params, WyHasher::default());
    let mut panes: Panes = (0..count).map(|_| HashMap::new()).collect();
    let advance = |panes: &mut Panes, by: u64| {
        for _ in 0..by.min(count.into()) {
            panes.rotate_right(1);
            panes[0].clear();
        }
    };
    let add = |panes: &mut Panes, hash: u64, n: u64| {
        let count = panes[0].entry(hash).or_insert(0);
        *count = count.saturating_add(n);
    };
    calls(u, |u, call| {
        match call % 16 {
            0..7 => {
                let (hash, n) = (hash(u)?, weight(u)?);
                sketch.insert_hash_n(hash, n);
                add(&mut panes, hash, n);
            }
            7..9 => {
                let hashes = hashes(u)?;
                sketch.insert_batch(&hashes);
                hashes.into_iter().for_each(|hash| add(&mut panes, hash, 1));
            }
            9..12 => {
                sketch.advance();
                advance(&mut panes, 1);
            }
            12 => {
                let by = u64::from(u.arbitrary::<u8>()?);
                sketch.advance_by(by);
                advance(&mut panes, by);
            }
            13 => recode(&mut sketch),
            14 => {
                let mut other = SlidingCountMin::<S>::with_hasher(params, WyHasher::default());
                let hashes = hashes(u)?;
                other.advance_by(sketch.generation());
                other.insert_batch(&hashes);
                assert_eq!(sketch.merge(&other), Ok(()));
                hashes.into_iter().for_each(|hash| add(&mut panes, hash, 1));
                other.advance();
                assert!(sketch.merge(&other).is_err());
            }
            _ => {
                sketch.clear();
                panes.iter_mut().for_each(HashMap::clear);
            }
        }
        Ok(())
    })?;
    let mut within: HashMap<u64, u64> = HashMap::new();
    for (age, pane) in panes.iter().enumerate() {
        for (&hash, &n) in pane {
            let sum = within.entry(hash).or_default();
            *sum = sum.saturating_add(n);
        }
        for (&hash, &n) in &within {
            assert!(sketch.estimate_hash_within(hash, age as u32 + 1) >= n, "a count is too low");
        }
    }
    let total = within.values().fold(0, |sum: u64, &n| sum.saturating_add(n));
    assert_eq!(sketch.total(), total);
    Ok(())
}

/// [`DecayingCountMin`]: never below the faded count, but for rounding.
pub fn decaying(data: &[u8]) {
    history(data, |u| {
        /// Rounding of the sums here and there, of at most 1024 counts.
        const ROUNDING: f64 = 1e-12;
        let shape =
            CountMinParams::with_shape(u.int_in_range(1..=64)?, u.int_in_range(1..=16)?).expect("a shape");
        let half_life = *u.choose(&[1.0, 0.001, 60.0, 1e6])?;
        let params = DecayingCountMinParams::with_half_life(shape, half_life).expect("a half-life");
        let mut sketch = DecayingCountMin::new(params);
        let mut events: Vec<(u64, f64, u64)> = Vec::new();
        let mut now = 0.0;
        calls(u, |u, call| {
            match call % 8 {
                0..5 => {
                    // Mostly some half-lives around the last, and sometimes any time.
                    let time = match u.arbitrary::<u8>()? {
                        255 => u.arbitrary()?,
                        step => now + half_life * (f64::from(step) - 100.0) / 16.0,
                    };
                    let (hash, n) = (hash(u)?, weight(u)?);
                    if sketch.insert_hash_n(hash, n, time).is_ok() {
                        now = time;
                        events.push((hash, time, n));
                    }
                }
                5 => recode(&mut sketch),
                6 => {
                    let mut other = DecayingCountMin::new(params);
                    let hashes = hashes(u)?;
                    let counted: Vec<_> =
                        hashes.into_iter().filter(|&hash| other.insert_hash(hash, now).is_ok()).collect();
                    if sketch.merge(&other).is_ok() {
                        events.extend(counted.into_iter().map(|hash| (hash, now, 1)));
                    }
                }
                _ => {
                    sketch.clear();
                    events.clear();
                }
            }
            Ok(())
        })?;
        let latest = events.iter().map(|event| event.1).fold(now, f64::max);
        for at in [now, latest, latest + 10.0 * half_life] {
            // Times in half-lives are rounded too, more the farther they are from 0.
            let farthest = events.iter().map(|event| event.1.abs()).fold(at.abs(), f64::max);
            let rounding = ROUNDING + farthest / half_life * f64::EPSILON;
            let mut exact: HashMap<u64, f64> = HashMap::new();
            for &(hash, time, n) in &events {
                *exact.entry(hash).or_default() += n as f64 * ((time - at) / half_life).exp2();
            }
            for (hash, exact) in exact {
                if let Ok(estimate) = sketch.estimate_hash(hash, at) {
                    assert!(estimate >= exact * (1.0 - rounding), "{estimate} of {exact} at {at}");
                }
            }
        }
        Ok(())
    });
}
