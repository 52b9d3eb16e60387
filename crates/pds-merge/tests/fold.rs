//! What folds and trees promise.

mod kin;

use kin::{dd_of, hll_of, hll_with};
use pds_bloom::{BloomFilter, BloomParams};
use pds_cms::{CountMinParams, CountMinSketch};
use pds_hll::{HyperLogLog, SipHasher, WyHasher};
use pds_merge::{
    Error, ExactMerge, Fold, Merge, MergeError, Sketch, merge_all, merge_all_lenient, merge_encoded,
    merge_encoded_lenient, merge_tree, merge_tree_parallel,
};
use pds_quantiles::prelude::*;
use pds_testkit::{ExactQuantiles, SplitMix64, laws, seed_for};
use pds_theta::{ThetaParams, ThetaSketch};
use proptest::collection::vec;
use proptest::prelude::*;

fn bloom_of(keys: &[u64]) -> BloomFilter {
    let mut filter = BloomFilter::new(BloomParams::for_fpr(1_000, 0.01).expect("a shape"));
    for key in keys {
        filter.insert(key);
    }
    filter
}

fn count_min_of(keys: &[u64]) -> CountMinSketch<u32> {
    let mut sketch = CountMinSketch::new(CountMinParams::for_error(0.01, 0.01).expect("a shape"));
    for key in keys {
        sketch.insert(key);
    }
    sketch
}

fn theta_of(keys: &[u64]) -> ThetaSketch {
    let mut sketch = ThetaSketch::new(ThetaParams::with_lg_k(5).expect("a shape"));
    for key in keys {
        sketch.insert(key);
    }
    sketch
}

/// Lists of keys of up to 40 shards.
fn shards() -> impl Strategy<Value = Vec<Vec<u64>>> {
    vec(vec(0..500u64, 0..60), 0..40)
}

/// Serial and parallel trees and the fold give the bytes of the whole stream.
fn all_ways_agree<S: Sketch + ExactMerge + Clone + Send>(build: impl Fn(&[u64]) -> S, shards: &[Vec<u64>]) {
    let sketches: Vec<S> = shards.iter().map(|keys| build(keys)).collect();
    let whole = build(&shards.concat()).to_bytes();

    let mut fold = build(&[]);
    merge_all(&mut fold, &sketches).expect("one shape");
    assert!(fold.to_bytes() == whole, "the fold");
    for (way, merged) in [
        ("the tree", merge_tree(sketches.clone())),
        ("the parallel tree", merge_tree_parallel(sketches.clone())),
    ] {
        assert_eq!((merged.taken, merged.refused.len()), (shards.len(), 0), "{way}");
        let bytes = merged.sketch.map(|sketch| sketch.to_bytes());
        assert!(bytes == (!shards.is_empty()).then(|| whole.clone()), "{way}");
    }
}

/// What a lenient fold onto the first sketch gives.
fn serial<S: Merge + Clone>(sketches: &[S]) -> (S, Vec<MergeError>) {
    let mut first = sketches[0].clone();
    let refused = merge_all_lenient(&mut first, &sketches[1..]);
    (first, refused.into_iter().map(|r| MergeError { index: r.index + 1, ..r }).collect())
}

proptest! {
    #[test]
    fn trees_and_folds_of_exact_sketches_give_the_bytes_of_the_stream(shards in shards()) {
        all_ways_agree(hll_of, &shards);
        all_ways_agree(dd_of, &shards);
        all_ways_agree(bloom_of, &shards);
        all_ways_agree(count_min_of, &shards);
        all_ways_agree(theta_of, &shards);
    }

    #[test]
    fn a_tree_refuses_what_the_fold_refuses_with_the_same_error(
        shards in vec((vec(0..500u64, 0..60), 0..3usize), 1..40)
    ) {
        // Mostly of one shape, and some of two others.
        let accuracies = [0.01, 0.02, 0.05];
        let sketches: Vec<DDSketch> = shards.iter().map(|(keys, odd)| {
            let mut sketch = DDSketch::new(DDSketchParams::for_accuracy(accuracies[*odd]).unwrap());
            sketch.extend(keys.iter().map(|&key| key as f64));
            sketch
        }).collect();
        let (fold, refused) = serial(&sketches);
        for merged in [merge_tree(sketches.clone()), merge_tree_parallel(sketches.clone())] {
            prop_assert_eq!(&merged.refused, &refused);
            prop_assert_eq!(merged.taken, sketches.len() - refused.len());
            prop_assert_eq!(merged.sketch.unwrap().to_bytes(), fold.to_bytes());
        }
    }

    /// Counts overflow together, so that what fits depends on what was merged before.
    #[test]
    fn a_tree_on_any_number_of_cores_is_the_tree(
        eighths in vec(0..8u64, 0..40), cores in 1..9usize
    ) {
        let sketches: Vec<DDSketch> = eighths.iter().enumerate().map(|(index, eighth)| {
            let mut sketch = dd_of(&[index as u64]);
            sketch.insert_n(1.0, eighth * (u64::MAX / 8)).unwrap();
            sketch
        }).collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(cores).build().unwrap();
        let merged = pool.install(|| merge_tree_parallel(sketches.clone()));
        prop_assert_eq!(merged, merge_tree(sketches));
    }

    #[test]
    fn one_odd_sketch_anywhere_is_refused_alone(count in 2..40usize, place in 1..40usize) {
        let place = 1 + place % (count - 1);
        let mut sketches: Vec<HyperLogLog<SipHasher>> =
            (0..count as u64).map(|shard| hll_with(SipHasher::new([1; 16]), &[shard, shard + 1])).collect();
        sketches[place] = hll_with(SipHasher::new([2; 16]), &[7]);
        let (fold, refused) = serial(&sketches);
        let merged = merge_tree(sketches);
        prop_assert_eq!(&merged.refused, &refused);
        let is_hasher = matches!(refused[..], [MergeError { index, error: Error::Hasher { .. } }] if index == place);
        prop_assert!(is_hasher);
        prop_assert_eq!(merged.sketch.as_ref().map(Sketch::to_bytes), Some(fold.to_bytes()));
        prop_assert_eq!(merged.all().unwrap_err(), refused[0]);
    }

    #[test]
    fn a_failed_fold_holds_what_came_before_and_nothing_of_the_refused_one(
        shards in vec(vec(0..500u64, 1..20), 0..10),
        rest in vec(vec(0..500u64, 1..20), 0..10),
    ) {
        let before: Vec<DDSketch> = shards.iter().map(|keys| dd_of(keys)).collect();
        let mut odd = DDSketch::new(DDSketchParams::for_accuracy(0.05).unwrap());
        odd.insert(3.0);
        let after: Vec<DDSketch> = rest.iter().map(|keys| dd_of(keys)).collect();
        let all: Vec<&DDSketch> = before.iter().chain([&odd]).chain(&after).collect();
        let refusal = MergeError { index: before.len(), error: Error::Incompatible { field: "alpha" } };

        let mut strict = dd_of(&[]);
        prop_assert_eq!(merge_all(&mut strict, all.iter().copied()), Err(refusal));
        prop_assert_eq!(strict.to_bytes(), dd_of(&shards.concat()).to_bytes());

        let mut lenient = dd_of(&[]);
        prop_assert_eq!(merge_all_lenient(&mut lenient, all.iter().copied()), [refusal]);
        prop_assert_eq!(lenient.to_bytes(), dd_of(&[shards, rest].concat().concat()).to_bytes());
    }

    #[test]
    fn a_fold_of_bytes_is_the_fold_of_their_sketches(
        shards in vec((vec(0..500u64, 0..20), prop::bool::weighted(0.2)), 0..20)
    ) {
        // Some arrive damaged.
        let reports: Vec<Vec<u8>> = shards.iter().map(|(keys, damaged)| {
            let mut bytes = dd_of(keys).to_bytes();
            *bytes.last_mut().unwrap() ^= u8::from(*damaged);
            bytes
        }).collect();
        let sound: Vec<u64> = shards.iter().filter(|(_, d)| !d).flat_map(|(keys, _)| keys.clone()).collect();
        let damaged: Vec<usize> =
            shards.iter().enumerate().filter(|(_, (_, d))| *d).map(|(index, _)| index).collect();

        let mut fold = Fold::<DDSketch>::default();
        for (index, report) in reports.iter().enumerate() {
            let before = fold.sketch().map(Sketch::to_bytes);
            if let Err(refusal) = fold.push(report) {
                prop_assert_eq!(refusal.index, index);
                prop_assert_eq!(fold.sketch().map(Sketch::to_bytes), before);
            }
        }
        prop_assert_eq!(fold.taken() + fold.refused().len(), reports.len());
        let merged = fold.finish();
        prop_assert_eq!(merged.refused.iter().map(|r| r.index).collect::<Vec<_>>(), damaged.clone());
        let expected = (damaged.len() < shards.len()).then(|| dd_of(&sound).to_bytes());
        prop_assert_eq!(merged.sketch.as_ref().map(Sketch::to_bytes), expected.clone());
        let lenient = merge_encoded_lenient::<DDSketch, _>(&reports, ());
        prop_assert_eq!(&lenient, &merged);
        let strict = merge_encoded::<DDSketch, _>(&reports, ());
        prop_assert_eq!(strict.map_err(|r| r.index), match damaged.first() {
            None => Ok(merged.sketch),
            Some(&first) => Err(first),
        });
    }
}

#[test]
fn a_fold_onto_a_sketch_refuses_an_odd_first_report() {
    let odd = hll_with(SipHasher::new([1; 16]), &[1]).to_bytes();
    let mut fold = Fold::onto(hll_of(&[1]), WyHasher::default());
    assert!(matches!(fold.push(&odd), Err(MergeError { index: 0, error: Error::Hasher { .. } })));
    fold.push(&hll_of(&[2]).to_bytes()).unwrap();
    assert_eq!((fold.taken(), fold.refused().len()), (1, 1));
    assert_eq!(fold.finish().sketch, Some(hll_of(&[1, 2])));
}

#[test]
fn a_tree_of_none_and_of_one() {
    assert_eq!(merge_tree(Vec::<DDSketch>::new()).all(), Ok(None));
    assert_eq!(merge_tree_parallel(Vec::<DDSketch>::new()).all(), Ok(None));
    assert_eq!(merge_tree([dd_of(&[5])]).all(), Ok(Some(dd_of(&[5]))));
    assert_eq!(merge_tree_parallel(vec![dd_of(&[5])]).all(), Ok(Some(dd_of(&[5]))));
}

#[test]
fn a_branch_that_overflows_is_refused_and_listed_as_a_whole() {
    let heavy = |n: u64| {
        let mut sketch = dd_of(&[]);
        sketch.insert_n(1.0, n).unwrap();
        sketch
    };
    let most = u64::MAX - 1;
    let merged = merge_tree([heavy(most), heavy(1), heavy(1), heavy(1)]);
    assert_eq!(merged.sketch, Some(heavy(u64::MAX)));
    let refused: Vec<_> = merged.refused.iter().map(|r| (r.index, r.error)).collect();
    assert_eq!((merged.taken, refused), (2, vec![(2, Error::Overflow), (3, Error::Overflow)]));
}

/// For each of 150 trials with 256 shards of 300 normal values: by how much the squared rank errors of a fold exceed those
/// of a tree.
fn excess_of_the_fold<S: QuantileSketch + Merge + Clone>(id: &str, new: impl Fn(u64) -> S) -> Vec<f64> {
    const SHARDS: usize = 256;
    const VALUES: usize = 300;
    const TRIALS: u64 = 150;
    let trial = |trial| {
        let mut random = SplitMix64::new(seed_for(id, 0, trial));
        let values: Vec<f64> = (0..SHARDS * VALUES).map(|_| random.next_normal()).collect();
        let shards = values.chunks(VALUES).map(|shard| {
            let mut sketch = new(random.next_u64());
            for &value in shard {
                sketch.insert(value);
            }
            sketch
        });
        let sketches: Vec<S> = shards.collect();
        let exact = ExactQuantiles::new(values);
        let squares = |sketch: &S| -> f64 {
            let shares = [0.1, 0.25, 0.5, 0.75, 0.9];
            let answers = shares.map(|q| (q, sketch.quantile(q).expect("there are values")));
            answers.into_iter().map(|(q, answer)| exact.rank_error(q, answer).powi(2)).sum()
        };
        let (fold, _) = serial(&sketches);
        squares(&fold) - squares(&merge_tree(sketches).sketch.expect("there are shards"))
    };
    (0..TRIALS).map(trial).collect()
}

/// k = 100.
#[test]
fn a_tree_of_kll_sketches_keeps_ranks_closer_than_a_fold() {
    let params = KllParams::with_k(100).unwrap();
    let excess = excess_of_the_fold("tree-kll", |seed| KllSketch::<f64>::with_seed(params, seed));
    let none = laws::mean_at_most(&excess, 0.0);
    assert!(!none.pass, "{none}");
}

/// Compression 100.
#[test]
fn a_tree_of_digests_gains_nothing() {
    let params = TDigestParams::with_compression(100).unwrap();
    let excess = excess_of_the_fold("tree-digest", |_| TDigest::new(params));
    laws::mean_at_most(&excess, 0.0).assert("the fold errs more");
}
