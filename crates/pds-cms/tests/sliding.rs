//! The claims of the window.

use std::collections::VecDeque;

use pds_cms::prelude::*;
use pds_cms::{Pane, WyHasher};
use pds_core::wire::{CACHE_LINE, Kind, seal};
use pds_testkit::{WireLaws, refused_merge_law};
use proptest::prelude::*;

fn shape(width: u64, depth: u32) -> CountMinParams {
    CountMinParams::with_shape(width, depth).expect("a legal shape")
}

fn params(width: u64, depth: u32, panes: u32) -> SlidingCountMinParams {
    SlidingCountMinParams::with_panes(shape(width, depth), panes).expect("a legal shape")
}

#[derive(Clone, Debug)]
enum Step {
    Count(u64, u64),
    Advance(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let far = prop_oneof![6 => 0..3u64, 1 => 3..9u64, 1 => Just(1 << 40)];
    prop::collection::vec(
        prop_oneof![6 => (0..20u64, 0..6u64).prop_map(|(key, n)| Step::Count(key, n)), 1 => far.prop_map(Step::Advance)],
        0..80,
    )
}

fn check<S: Pane<Hasher = WyHasher> + PartialEq>(params: SlidingCountMinParams, steps: &[Step]) {
    let count = params.panes() as usize;
    let mut window = SlidingCountMin::<S>::with_hasher(params, WyHasher::default());
    // Newest first.
    let mut exact: VecDeque<Vec<(u64, u64)>> = std::iter::repeat_n(Vec::new(), count).collect();
    let mut generation = 0u64;
    for step in steps {
        match *step {
            Step::Count(key, n) => {
                assert_eq!(window.insert_n(&key, n), n > 0);
                exact[0].push((key, n));
            }
            Step::Advance(by) => {
                window.advance_by(by);
                generation += by;
                for _ in 0..by.min(count as u64) {
                    exact.pop_back();
                    exact.push_front(Vec::new());
                }
            }
        }
    }
    assert_eq!((window.generation(), window.params()), (generation, params));
    let bytes = window.to_bytes();
    let view = SlidingCountMin::<S>::view_with(&bytes, WyHasher::default()).expect("its own bytes");
    assert_eq!((view.generation(), view.params(), view.total()), (generation, params, window.total()));
    assert!(view.verify().is_ok() && view.to_owned().is_ok_and(|owned| owned == window));
    let mut whole = CountMinSketch::new(params.pane());
    exact.iter().flatten().for_each(|(key, n)| _ = whole.insert_n(key, *n));
    assert_eq!((window.total(), window.is_empty()), (whole.total(), whole.total() == 0));
    for key in 0..25u64 {
        let truth = |newest: usize| -> u64 {
            exact.iter().take(newest).flatten().filter(|(counted, _)| *counted == key).map(|(_, n)| n).sum()
        };
        let (lower, upper) = window.bounds(&key);
        assert!(
            truth(count) <= upper && upper <= whole.estimate(&key),
            "never looser than one sketch of the window"
        );
        assert!(lower <= upper && upper == window.estimate(&key));
        assert_eq!((view.estimate(&key), view.bounds(&key)), (upper, (lower, upper)));
        assert_eq!(lower, upper.saturating_sub(params.pane().error_bound(window.total())));
        for newest in 0..=count + 1 {
            assert!(truth(newest) <= window.estimate_within(&key, newest as u32));
        }
        assert_eq!(window.estimate_within(&key, u32::MAX), upper);
    }
    let read = <SlidingCountMin<S> as Sketch>::from_bytes_with(&window.to_bytes(), WyHasher::default());
    assert!(read.is_ok_and(|read| read == window));
    assert_eq!(SlidingCountMinParams::peek(&window.to_bytes()), Ok(params));
    assert!(window.pane(params.panes()).is_none() && window.pane(0).is_some());
}

proptest! {
    #[test]
    fn a_window_never_under_counts_what_is_within(
        (width, depth, panes) in (1..20u64, 1..5u32, 1..6u32),
        steps in steps(),
    ) {
        check::<CountMinSketch>(params(width, depth, panes), &steps);
        check::<CountMinSketch<u16>>(params(width, depth, panes), &steps);
        check::<ConservativeCountMin>(params(width, depth, panes), &steps);
    }
}

/// Each key in the generation that it names.
fn built<S: Pane<Hasher = WyHasher>>(keys: &[u64]) -> SlidingCountMin<S> {
    let mut window = SlidingCountMin::with_hasher(params(17, 4, 3), WyHasher::default());
    for generation in 0..5 {
        keys.iter().filter(|&&key| key % 5 == generation).for_each(|key| _ = window.insert(key));
        if generation < 4 {
            window.advance();
        }
    }
    window
}

fn laws<S>() -> WireLaws<SlidingCountMin<S>>
where
    S: Pane<Hasher = WyHasher>,
{
    WireLaws {
        decode: <SlidingCountMin<S> as Sketch>::from_bytes,
        exercise: |window| {
            let (lower, upper) = window.bounds(&1u64);
            assert!(lower <= upper);
            let mut more = window.clone();
            more.insert_n(&1u64, u64::MAX);
            more.merge(window).expect("a window merges with its like");
            more.advance_by(u64::MAX);
            assert!(more.is_empty() || window.generation() == u64::MAX);
        },
        view: |bytes| {
            if let Ok(view) = SlidingCountMin::<S>::view_with(bytes, WyHasher::default()) {
                let (lower, upper) = view.bounds(&1u64);
                assert!(lower <= upper);
                let _ = (view.estimate("key"), view.total(), view.verify(), view.to_owned());
            }
            let _ = SlidingCountMinParams::peek(bytes);
        },
    }
}

pds_testkit::merge_laws! { merging, built::<CountMinSketch> }
pds_testkit::wire_laws! { bytes, laws::<CountMinSketch>(), built::<CountMinSketch>, canonical }
pds_testkit::wire_laws! { bytes_of_conservative_panes, laws::<ConservativeCountMin>(), built::<ConservativeCountMin> }

#[test]
fn one_state_has_one_byte_form() {
    laws::<CountMinSketch>().accepts_canonical_bytes_only(&built::<CountMinSketch>(&[1, 2, 3]).to_bytes());
}

#[test]
fn an_age_is_forgotten_after_as_many_advances_as_there_are_panes() {
    let mut window = SlidingCountMin::new(params(64, 4, 3));
    window.insert_n("key", 5);
    window.advance();
    window.insert_n("key", 2);
    window.advance();
    assert_eq!(
        (window.estimate("key"), window.estimate_within("key", 1), window.estimate_within("key", 2)),
        (7, 0, 2)
    );
    window.advance();
    assert_eq!(window.estimate("key"), 2);
    window.advance_by(2);
    assert!(window.is_empty());
}

#[test]
fn saturated_panes_are_within_true_bounds() {
    let mut window =
        SlidingCountMin::<CountMinSketch<u8>>::with_hasher(params(64, 4, 3), WyHasher::default());
    window.insert_n("key", 300);
    window.advance();
    window.insert_n("key", 200);
    window.insert_n("other", 100);
    assert!(window.is_saturated());
    let (lower, upper) = window.bounds("key");
    assert!(lower <= 500 && upper == 500);
    let mut wide = SlidingCountMin::<CountMinSketch<u64>>::with_hasher(params(64, 4, 3), WyHasher::default());
    for _ in 0..3 {
        wide.insert_n("key", u64::MAX - 1);
        wide.advance();
    }
    wide.insert_n("key", u64::MAX);
    assert_eq!((wide.total(), wide.bounds("key")), (u64::MAX, (0, u64::MAX)));
}

#[test]
fn windows_of_another_shape_generation_or_pane_do_not_merge() {
    let window = |width, panes, generation| {
        let mut window = SlidingCountMin::new(params(width, 4, panes));
        window.insert("key");
        window.advance_by(generation);
        window
    };
    assert_eq!(refused_merge_law(window(8, 3, 0), &window(9, 3, 0)), Error::Incompatible { field: "width" });
    assert_eq!(refused_merge_law(window(8, 3, 0), &window(8, 4, 0)), Error::Incompatible { field: "panes" });
    assert_eq!(
        refused_merge_law(window(8, 3, 1), &window(8, 3, 2)),
        Error::Incompatible { field: "generation" }
    );
    let mut behind = window(8, 3, 1);
    behind.advance();
    behind.merge(&window(8, 3, 2)).unwrap();
    assert_eq!(behind.estimate("key"), 2);
    let bytes = behind.to_bytes();
    let other = <SlidingCountMin<ConservativeCountMin> as Sketch>::from_bytes(&bytes);
    assert_eq!(other.err(), Some(Error::Incompatible { field: "pane" }));
    let other = <SlidingCountMin<CountMinSketch<u8>> as Sketch>::from_bytes(&bytes);
    assert_eq!(other.err(), Some(Error::Incompatible { field: "cell_bytes" }));
}

#[test]
fn no_panes_and_too_many_are_refused() {
    for panes in [0, 1025, u32::MAX] {
        let refused = SlidingCountMinParams::with_panes(shape(8, 3), panes);
        assert!(matches!(refused, Err(Error::Parameter { name: "panes", .. })));
    }
    let large = shape(CountMinParams::MAX_CELLS / 4, 2);
    assert!(SlidingCountMinParams::with_panes(large, 2).is_ok());
    assert!(SlidingCountMinParams::with_panes(large, 3).is_err());
}

#[test]
fn serde_carries_the_envelope() {
    let window = built::<CountMinSketch>(&[1, 2, 3]);
    let text = serde_json::to_string(&window).unwrap();
    assert_eq!(serde_json::from_str::<SlidingCountMin>(&text).unwrap(), window);
}

#[test]
fn panes_that_no_window_has_are_refused() {
    // Two panes of one row of two cells.
    let decode = |cell_bytes: u8, kind: u8, generation: u64, tallies: &[(u64, u8)], cells: [u32; 4]| {
        let body = ((2u64, 1u32, 0.1), cell_bytes, kind, generation, tallies);
        let fingerprint = pds_cms::Fingerprint::fingerprint(&WyHasher::default());
        let bytes = seal(Kind::SLIDING_COUNT_MIN, 1, CACHE_LINE, fingerprint, &body, |payload| {
            payload.extend(cells.iter().flat_map(|cell| cell.to_le_bytes()));
        });
        let decoded = SlidingCountMin::from_bytes(&bytes);
        let viewed = SlidingCountMin::view(&bytes).and_then(|view| view.to_owned());
        assert_eq!(viewed, decoded);
        decoded.map(|window| window.total())
    };
    let malformed = |field| Err(Error::Malformed { field });
    assert_eq!(decode(4, 32, 7, &[(3, 0), (5, 0)], [1, 2, 5, 0]), Ok(8));
    assert_eq!(decode(4, 32, 7, &[(3, 0), (5, 0)], [1, 2, 4, 0]), malformed("row sums"));
    assert_eq!(decode(4, 32, 7, &[(4, 0), (4, 0)], [1, 2, 5, 0]), malformed("row sums"));
    assert_eq!(decode(4, 32, 7, &[(3, 1), (5, 0)], [1, 2, 5, 0]), malformed("flags"));
    // A pane is never halved, and one of a generation below 0 is empty.
    assert_eq!(decode(4, 32, 7, &[(3, 4), (5, 0)], [1, 2, 5, 0]), malformed("flags"));
    assert_eq!(decode(4, 32, 0, &[(3, 0), (5, 0)], [1, 2, 5, 0]), malformed("generation"));
    assert_eq!(decode(4, 32, 0, &[(3, 0), (0, 0)], [1, 2, 0, 0]), Ok(3));
    assert_eq!(decode(4, 31, 7, &[(3, 0), (5, 0)], [1, 2, 5, 0]), malformed("pane kind"));
    assert_eq!(decode(3, 32, 7, &[(3, 0), (5, 0)], [1, 2, 5, 0]), malformed("cell_bytes"));
    assert_eq!(decode(4, 32, 7, &[], [0; 4]), malformed("params"));
    assert_eq!(decode(4, 32, 7, &vec![(0, 0); 1025], [0; 4]), malformed("params"));
    assert_eq!(decode(4, 32, 7, &[(0, 0); 3], [0; 4]), malformed("payload length"));
    let conservative = decode(4, 33, 7, &[(3, 4), (5, 4)], [1, 2, 5, 0]);
    assert_eq!(conservative, Err(Error::Incompatible { field: "pane" }));
}
