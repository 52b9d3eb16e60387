//! What merging promises, as functions that assert and a macro that makes property tests of them.

use pds_core::{Error, ExactMerge, Merge, Sketch};
use proptest::prelude::*;

use crate::DistinctKeys;

/// Asserts the law of [`ExactMerge`] on three streams.
///
/// * Merging equals concatenating: the bytes of the merged sketches are those of the sketch of both streams;
/// * it commutes and associates, and the order of a stream does not matter;
/// * an empty sketch is neutral on either side;
/// * what is merged in does not change.
///
/// Merging a sketch into its like twice is no part of the law: see [`idempotent_merge_law`].
///
/// # Panics
///
/// If the law does not hold.
pub fn exact_merge_laws<S: Sketch + ExactMerge>(
    build: impl Fn(&[u64]) -> S,
    a: &[u64],
    b: &[u64],
    c: &[u64],
) {
    let whole = build(&[a, b, c].concat()).to_bytes();

    let left = merged(merged(build(a), &build(b)), &build(c));
    assert_same(&left, &whole, "(a merge b) merge c is not the sketch of a, b, c");
    let right = merged(build(a), &merged(build(b), &build(c)));
    assert_same(&right, &whole, "a merge (b merge c) is not the sketch of a, b, c");

    let pair = build(&[a, b].concat()).to_bytes();
    assert_same(&merged(build(a), &build(b)), &pair, "a merge b is not the sketch of a, b");
    assert_same(&merged(build(b), &build(a)), &pair, "b merge a is not the sketch of a, b");
    let backwards: Vec<u64> = [a, b].concat().into_iter().rev().collect();
    assert_same(&build(&backwards), &pair, "the order of a stream matters");

    let alone = build(a).to_bytes();
    assert_same(&merged(build(a), &build(&[])), &alone, "merging an empty sketch changes one");
    assert_same(&merged(build(&[]), &build(a)), &alone, "merging into an empty sketch gives another");

    let other = build(b);
    let _ = merged(build(a), &other);
    assert_same(&other, &build(b).to_bytes(), "merging changes what is merged in");
}

/// Asserts that merging a sketch with its like changes nothing: for sets, not for counts.
///
/// # Panics
///
/// If the law does not hold.
pub fn idempotent_merge_law<S: Sketch + Merge>(build: impl Fn(&[u64]) -> S, a: &[u64]) {
    assert_same(&merged(build(a), &build(a)), &build(a).to_bytes(), "a merge a is not a");
}

/// Asserts that a merge is refused and leaves both sides as they were; gives the reason.
///
/// # Panics
///
/// If the merge succeeds, or changes anything.
pub fn refused_merge_law<S: Sketch + Merge>(mut left: S, right: &S) -> Error {
    let (before_left, before_right) = (left.to_bytes(), right.to_bytes());
    let Err(error) = left.merge(right) else {
        panic!("a merge of incompatible sketches succeeds");
    };
    assert_same(&left, &before_left, "a refused merge changes its left side");
    assert_same(right, &before_right, "a refused merge changes its right side");
    error
}

/// Streams of keys for a property: few and many, with repetitions and without, of up to 2,000 keys.
pub fn key_lists() -> BoxedStrategy<Vec<u64>> {
    use proptest::collection::vec;
    prop_oneof![
        vec(any::<u64>(), 0..64),
        vec(0..64u64, 0..256),
        (any::<u64>(), 0..2000u64).prop_map(|(seed, n)| DistinctKeys::new(seed).range(0..n).collect()),
    ]
    .boxed()
}

/// Makes a module of property tests that hold an [`ExactMerge`] type to [`exact_merge_laws`].
///
/// Takes the module's name and a function or closure from `&[u64]` to the sketch of these keys; `idempotent`
/// behind it adds [`idempotent_merge_law`]. The calling crate needs no dependency on proptest.
///
/// ```
/// use pds_core::{Error, ExactMerge, Merge, Sketch, wire};
///
/// # #[derive(Default)] struct Or(u64);
/// # impl Merge for Or { fn merge(&mut self, other: &Self) -> Result<(), Error> { self.0 |= other.0; Ok(()) } }
/// # impl ExactMerge for Or {}
/// # impl Sketch for Or {
/// #     const KIND: wire::Kind = wire::Kind(255);
/// #     type Hasher = ();
/// #     fn to_bytes(&self) -> Vec<u8> { self.0.to_le_bytes().to_vec() }
/// #     fn from_bytes_with(_: &[u8], (): ()) -> Result<Self, Error> { Err(Error::Checksum) }
/// # }
/// /// The bitwise or of the keys.
/// fn or_of(keys: &[u64]) -> Or {
///     Or(keys.iter().fold(0, |or, key| or | key))
/// }
///
/// pds_testkit::merge_laws! { or_merges, or_of, idempotent }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! merge_laws {
    ($name:ident, $build:expr $(, $idempotent:ident)? $(,)?) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            $crate::proptest::proptest! {
                #[test]
                fn merging_equals_concatenating_in_any_order_and_grouping(
                    a in $crate::key_lists(),
                    b in $crate::key_lists(),
                    c in $crate::key_lists(),
                ) {
                    $crate::exact_merge_laws($build, &a, &b, &c);
                }
            }

            $($crate::merge_laws! { @ $idempotent, $build })?
        }
    };
    (@ idempotent, $build:expr) => {
        $crate::proptest::proptest! {
            #[test]
            fn merging_twice_is_merging_once(a in $crate::key_lists()) {
                $crate::idempotent_merge_law($build, &a);
            }
        }
    };
}

fn merged<S: Merge>(mut into: S, from: &S) -> S {
    if let Err(error) = into.merge(from) {
        panic!("sketches of one shape refuse to merge: {error}");
    }
    into
}

/// As `assert_eq!`, without printing megabytes.
#[track_caller]
fn assert_same<S: Sketch>(sketch: &S, expected: &[u8], broken: &str) {
    let bytes = sketch.to_bytes();
    let first = bytes.iter().zip(expected).position(|(a, b)| a != b);
    assert!(
        bytes == expected,
        "{broken}: {} and {} bytes, the first difference at {first:?}",
        bytes.len(),
        expected.len()
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::{Bag, Set};

    crate::merge_laws! { sets, Set::of, idempotent }
    crate::merge_laws! { bags, |keys| Bag::of(&keys.repeat(2)) }

    #[test]
    #[should_panic(expected = "is not the sketch of")]
    fn a_sketch_that_forgets_on_merging_is_caught() {
        exact_merge_laws(|keys| Bag::of(&keys[..keys.len().min(1)]), &[1], &[2], &[3]);
    }

    #[test]
    #[should_panic(expected = "the order of a stream matters")]
    fn a_sketch_that_depends_on_order_is_caught() {
        let unless_descending = |keys: &[u64]| Set::of(if keys.is_sorted() { keys } else { &[] });
        exact_merge_laws(unless_descending, &[1], &[2], &[3]);
    }

    #[test]
    #[should_panic(expected = "a merge a is not a")]
    fn a_count_is_not_idempotent() {
        idempotent_merge_law(Bag::of, &[1]);
    }

    #[test]
    fn a_refusal_that_changes_nothing_gives_its_reason() {
        let error = refused_merge_law(Set::of(&[1, 2]), &Set::of(&[u64::MAX]));
        assert_eq!(error, Error::Incompatible { field: "range" });
    }

    #[test]
    #[should_panic(expected = "succeeds")]
    fn a_merge_that_should_be_refused_and_is_not_is_caught() {
        refused_merge_law(Set::of(&[1]), &Set::of(&[2]));
    }

    #[test]
    #[should_panic(expected = "changes its left side")]
    fn a_refusal_that_changes_something_is_caught() {
        refused_merge_law(Bag::of(&[1]), &Bag::of(&[2, u64::MAX]));
    }
}
