//! Whatever the kind: the same bytes and answers as of the structure itself.

mod samples;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use pds_bloom::{BloomFilter, BloomParams};
use pds_cms::{CountMinParams, CountMinSketch, CountSketch, CountSketchParams};
use pds_core::{Key, KeyHasher, wire};
use pds_hash::WyHasher;
use pds_hll::{HllParams, HyperLogLog};
use pds_merge::{Answer, AnySketch, Error, Merge, MergeError, MergeLaw, Sketch, Stated, Value};
use pds_quantiles::{
    DDSketch, DDSketchParams, KllItem, KllParams, KllSketch, Quantiles, TDigest, TDigestParams,
};
use samples::{Sample, shard, strangers};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of all crates").to_owned()
}

/// The kinds that the core knows, from its source: none can be left out here.
fn kinds() -> BTreeSet<u8> {
    let source = fs::read_to_string(crates().join("pds-core/src/wire.rs")).expect("the core");
    let number = |line: &str| line.split_once("Self = Self(")?.1.split_once(')')?.0.parse().ok();
    let kinds: BTreeSet<u8> =
        source.lines().filter(|line| line.contains("pub const")).filter_map(number).collect();
    assert!(kinds.len() > 20, "the list of kinds is not where it was");
    kinds
}

#[test]
fn every_kind_of_the_core_is_read() {
    for kind in 0..=u8::MAX {
        let mut bytes = wire::seal(wire::Kind(kind), 1, 0, 1, &(), |_| ());
        bytes.push(0);
        let unknown = Error::Kind { expected: AnySketch::ANY_KIND.0, found: kind };
        let error = AnySketch::from_bytes(&bytes).expect_err("no structure is so small");
        assert_eq!(error != unknown, kinds().contains(&kind), "kind {kind}: {error}");
        assert_eq!(error == unknown, error.to_string().ends_with("which is not read here"));
    }
}

#[test]
fn the_golden_files_of_all_crates_are_read_and_written_back() {
    let mut seen = BTreeSet::new();
    for folder in fs::read_dir(crates()).unwrap() {
        let Ok(files) = fs::read_dir(folder.unwrap().path().join("golden")) else { continue };
        for file in files {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "bin") {
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            // Some lists are seeded: they alone need their hasher.
            let read = AnySketch::from_bytes(&bytes).or_else(|error| match error {
                Error::Hasher { .. } => AnySketch::from_bytes_with(&bytes, samples::seeded()),
                error => Err(error),
            });
            let sketch = match read {
                Ok(sketch) => sketch,
                Err(error) => panic!("{}: {error}", path.display()),
            };
            assert!(sketch.to_bytes() == bytes, "{} is written otherwise", path.display());
            assert_eq!(sketch.kind(), wire::peek(&bytes).unwrap().kind);
            assert_eq!(sketch.fingerprint(), wire::peek(&bytes).unwrap().fingerprint);
            exercise(&sketch);
            seen.insert(sketch.kind().0);
        }
    }
    assert_eq!(seen, kinds(), "some kind has no golden file");
}

/// Asks everything.
fn exercise(sketch: &AnySketch) {
    for hash in [0, 1, u64::MAX, 0x9e37_79b9_7f4a_7c15] {
        let _ = (sketch.contains_hash(hash), sketch.bounds_hash(hash));
    }
    assert_eq!((sketch.quantile(-0.1), sketch.quantile(f64::NAN)), (None, None));
    let _ = sketch.quantile(0.5);
    let (answer, description) = (sketch.answer(), sketch.describe());
    assert!(!answer.to_string().is_empty());
    assert_eq!(description.encoded_bytes, sketch.to_bytes().len());
    let lines = description.to_string();
    let first = lines.lines().next().expect("the name");
    assert!(first.starts_with("structure  ") && first.ends_with(description.name), "{first}");
    let column = first.len() - description.name.len();
    assert!(
        lines.lines().all(|line| line[..column].ends_with("  ") && !line[column..].starts_with(' ')),
        "{lines}"
    );
}

#[test]
fn every_type_and_shape_is_written_as_it_was_read() {
    let samples = samples::all();
    for sample in &samples {
        for keys in [vec![], vec![7], shard(0)] {
            let bytes = sample.bytes(&keys);
            let sketch = sample.read(&bytes);
            assert!(
                sketch.to_bytes() == bytes,
                "{} of {} keys is written otherwise",
                sample.name,
                keys.len()
            );
            assert_eq!(sketch.kind(), sample.kind, "{}", sample.name);
            assert!(sketch.size_bytes() > 0 || keys.len() < 2, "{}", sample.name);
            exercise(&sketch);
        }
    }
    let sampled: BTreeSet<u8> = samples.iter().map(|sample| sample.kind.0).collect();
    assert_eq!(sampled, kinds(), "some kind has no sample");
}

/// Merges, or absorbs where that is what there is.
fn combine(sketch: &mut AnySketch, other: &AnySketch) -> Result<(), Error> {
    if sketch.merge_law() == MergeLaw::Absorb { sketch.absorb(other) } else { sketch.merge(other) }
}

#[test]
fn merging_gives_the_bytes_of_the_structures_own_merge() {
    let samples = samples::all();
    for left in &samples {
        for right in samples.iter().filter(|right| left.fits(right) || left.name == right.name) {
            let (a, b) = (left.bytes(&shard(0)), right.bytes(&shard(1)));
            let mut sketch = left.read(&a);
            let result = combine(&mut sketch, &right.read(&b));
            match left.merge_typed(&a, &b) {
                Some(bytes) if sketch.merge_law() != MergeLaw::Absorb || left.name == right.name => {
                    assert_eq!(result, Ok(()), "{} and {}", left.name, right.name);
                    assert!(sketch.to_bytes() == bytes, "{} and {} merge otherwise", left.name, right.name);
                }
                _ => assert_eq!(result, Err(Error::Unmergeable { kind: left.kind.0 }), "{}", left.name),
            }
        }
    }
}

#[test]
fn an_exact_merge_has_the_bytes_of_the_whole_stream() {
    let by_law = |law| samples::all().into_iter().filter(move |sample| sample.sketch(&[]).merge_law() == law);
    for sample in by_law(MergeLaw::Exact) {
        let mut sketch = sample.sketch(&shard(0));
        sketch.merge(&sample.sketch(&shard(1))).unwrap();
        let whole = sample.bytes(&[shard(0), shard(1)].concat());
        assert!(sketch.to_bytes() == whole, "{} is not exact", sample.name);
    }
    let kinds = |law| by_law(law).map(|sample| sample.kind.0).collect::<BTreeSet<u8>>();
    assert_eq!(kinds(MergeLaw::Absorb), BTreeSet::from([7, 8]));
    assert_eq!(kinds(MergeLaw::None), BTreeSet::from([9, 10, 11, 18, 43]));
    assert_eq!(kinds(MergeLaw::Bounded), BTreeSet::from([5, 20, 33, 35, 36, 40, 41, 42, 49, 50]));
}

#[test]
fn merging_many_is_merging_one_by_one() {
    for sample in samples::all() {
        let others: Vec<AnySketch> = (1..4).map(|i| sample.sketch(&shard(i))).collect();
        let mut at_once = sample.sketch(&shard(0));
        let mut by_turn = at_once.clone();
        let result = at_once.merge_many(&others.iter().collect::<Vec<_>>());
        let refused = others.iter().map(|other| by_turn.merge(other)).position(|result| result.is_err());
        assert_eq!(result.map_err(|refused| refused.index).err(), refused, "{}", sample.name);
        assert!(at_once.to_bytes() == by_turn.to_bytes(), "{} merges otherwise at once", sample.name);
        assert_eq!(at_once.merge_many(&[]), Ok(()));
    }
}

/// Samples that do not merge with this one: of another kind; and of the same kind, if there are.
fn odd_ones<'a>(sample: &Sample, all: &'a [Sample]) -> Vec<&'a Sample> {
    let other_kind = all.iter().find(|other| other.kind != sample.kind);
    let same_kind = all.iter().find(|other| other.kind == sample.kind && !sample.fits(other));
    other_kind.into_iter().chain(same_kind).collect()
}

#[test]
fn merging_many_keeps_what_comes_before_the_refused_one_whatever_the_kind() {
    let samples = samples::all();
    let merging = samples.iter().filter(|sample| {
        sample.differs == samples::Differs::First && sample.sketch(&[]).merge_law() <= MergeLaw::Bounded
    });
    for sample in merging {
        for odd in odd_ones(sample, &samples) {
            let mut sketches: Vec<AnySketch> = (1..5).map(|i| sample.sketch(&shard(i))).collect();
            sketches[2] = odd.sketch(&shard(3));
            let mut many = sample.sketch(&shard(0));
            let mut before = many.clone();
            let refused = many.merge_many(&sketches.iter().collect::<Vec<_>>()).unwrap_err();
            before.merge_many(&[&sketches[0], &sketches[1]]).unwrap();
            let error = before.clone().merge(&sketches[2]).unwrap_err();
            assert_eq!(refused, MergeError { index: 2, error }, "{} and {}", sample.name, odd.name);
            assert!(many.to_bytes() == before.to_bytes(), "{} and {}", sample.name, odd.name);
        }
    }
}

#[test]
fn filters_find_every_key_by_its_hash_and_say_how_many_they_hold() {
    for sample in samples::all() {
        let keys = shard(0);
        let sketch = sample.sketch(&keys);
        let Answer::Membership { keys: count, fpr, .. } = sketch.answer() else {
            assert_eq!(sketch.contains_hash(1), None, "{}", sample.name);
            continue;
        };
        let found = |key: u64| sketch.contains_hash(sample.hasher.hash_key(&key)).expect("a filter");
        assert!(keys.iter().all(|&key| found(key)), "{} forgets a key", sample.name);
        let wrong = strangers().filter(|&key| found(key)).count();
        assert!(wrong < 100 && (0.0..0.1).contains(&fpr), "{}: {wrong} wrong, {fpr} expected", sample.name);
        let distinct = keys.iter().collect::<BTreeSet<_>>().len() as f64;
        if let Some(count) = count {
            assert!(count >= distinct * 0.9 && count <= keys.len() as f64, "{}: {count} keys", sample.name);
        }
    }
}

#[test]
fn bounds_by_hash_are_those_of_the_structure() {
    let params = CountMinParams::with_shape(64, 4).unwrap();
    let mut counts = CountMinSketch::<u16>::with_hasher(params, WyHasher::default());
    let mut signed = CountSketch::new(CountSketchParams::with_shape(64, 5).unwrap());
    for key in shard(0) {
        counts.insert(&key);
        signed.insert_n(&key, -2).unwrap();
    }
    let [any_counts, any_signed] =
        [counts.to_bytes(), signed.to_bytes()].map(|bytes| AnySketch::from_bytes(&bytes).unwrap());
    for key in 0..100u64 {
        let hash = counts.hasher().hash_key(&key);
        let (low, high) = counts.bounds(&key);
        assert_eq!(any_counts.bounds_hash(hash), Some((low.into(), high.into())));
        let (low, high) = signed.bounds(&key);
        assert_eq!(any_signed.bounds_hash(hash), Some((low.into(), high.into())));
    }
    let Answer::Frequencies { total, below, above, delta } = any_counts.answer() else { panic!("counts") };
    assert_eq!((total, below, above), (Some(300), 0, Some(params.error_bound(300))));
    assert_eq!(delta.to_bits(), params.delta().to_bits());
    let Answer::Frequencies { total, below, above, .. } = any_signed.answer() else { panic!("counts") };
    assert_eq!((total, Some(below)), (Some(600), above));
}

#[test]
fn only_sketches_of_counts_have_bounds_by_hash() {
    for sample in samples::all() {
        let bounded = matches!(sample.kind.0, 32..=35 | 42);
        assert_eq!(sample.sketch(&shard(0)).bounds_hash(1).is_some(), bounded, "{}", sample.name);
    }
}

#[test]
fn lists_name_the_most_frequent_keys_by_their_bytes() {
    for sample in samples::firsts().iter().filter(|sample| (40..=43).contains(&sample.kind.0)) {
        let mut keys = vec![5; 50];
        keys.extend([6; 30]);
        keys.extend(0..5);
        let Answer::HeavyHitters { total, top, .. } = sample.sketch(&keys).answer() else {
            panic!("{} lists keys", sample.name);
        };
        assert_eq!(total, 85);
        for (hit, (key, count)) in top.iter().zip([(5u64, 50), (6, 30)]) {
            assert_eq!(hit.key, key.to_le_bytes(), "{}", sample.name);
            assert!((hit.lower..=hit.upper).contains(&count), "{}: {hit:?}", sample.name);
        }
        let shown = sample.sketch(&keys).answer().to_string();
        assert!(shown.contains("\n0x0500000000000000: "), "{shown}");
    }
}

#[test]
fn quantiles_are_those_of_the_structure() {
    fn check(bytes: &[u8], typed: &dyn Quantiles) {
        let any = AnySketch::from_bytes(bytes).unwrap();
        for q in [0.0, 0.1, 0.5, 0.999, 1.0] {
            assert_eq!(any.quantile(q), typed.quantile(q));
        }
        let Answer::Quantiles { count, min, p50, max, .. } = any.answer() else { panic!("values") };
        assert_eq!((count, min, max), (1000, Some(Value::F64(0.0)), Some(Value::F64(999.0))));
        assert_eq!(p50, typed.quantile(0.5).map(Value::F64));
    }
    let values = || (0..1000).map(f64::from);
    let mut dd = DDSketch::new(DDSketchParams::for_accuracy(0.01).unwrap());
    let mut digest = TDigest::new(TDigestParams::default());
    let mut kll = KllSketch::new(KllParams::default());
    dd.extend(values());
    digest.extend(values());
    kll.extend(values());
    check(&dd.to_bytes(), &dd);
    check(&digest.to_bytes(), &digest);
    check(&kll.to_bytes(), &kll);
}

#[test]
fn values_that_are_no_floats_are_answered_as_they_are() {
    fn of<T: pds_quantiles::KllCodec>(items: impl IntoIterator<Item = T>) -> AnySketch {
        let mut sketch = KllSketch::<T>::new(KllParams::default());
        sketch.extend(items);
        AnySketch::from_bytes(&sketch.to_bytes()).unwrap()
    }
    let texts = of(["a", "b", "c"].map(String::from));
    let shown = texts.answer().to_string();
    assert_eq!(shown, "3 values, min \"a\", p50 \"b\", p90 \"c\", p99 \"c\", max \"c\"");
    assert_eq!(texts.quantile(0.5), None);
    let Answer::Quantiles { max, .. } = of([u64::MAX, 1]).answer() else { panic!("values") };
    assert_eq!(max, Some(Value::U64(u64::MAX)));
    let Answer::Quantiles { min, .. } = of([i64::MIN, 1]).answer() else { panic!("values") };
    assert_eq!(min, Some(Value::I64(i64::MIN)));
    let Answer::Quantiles { p50, .. } = of([vec![0u8], vec![255]]).answer() else { panic!("values") };
    assert_eq!(p50.unwrap().to_string(), "0x00");
    assert_eq!(of::<f64>([]).answer().to_string(), "0 values");
}

/// An item with a tag of its own.
#[derive(Clone)]
struct Celsius(i64);

impl KllItem for Celsius {
    type Stored = i64;

    fn store(self) -> Option<i64> {
        Some(self.0)
    }

    fn load(stored: &i64) -> Self {
        Self(*stored)
    }
}

impl pds_quantiles::KllCodec for Celsius {
    const TAG: u8 = 200;

    fn put(stored: &i64, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&stored.to_le_bytes());
    }

    fn take(bytes: &mut &[u8]) -> Option<i64> {
        let (word, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(i64::from_le_bytes(*word))
    }
}

#[test]
fn items_of_ones_own_are_refused_by_name() {
    let mut sketch = KllSketch::<Celsius>::new(KllParams::default());
    sketch.insert(Celsius(21));
    let error = AnySketch::from_bytes(&sketch.to_bytes()).expect_err("an unknown item");
    assert_eq!(error, Error::Incompatible { field: "item" });
}

/// A key with hashing of its own, which lists write by its bytes.
#[derive(Clone, PartialEq, Eq)]
struct Backwards(Vec<u8>);

impl Key for Backwards {
    fn hash_with<H: KeyHasher>(&self, hasher: &H) -> u64 {
        hasher.hash_bytes(&self.0.iter().rev().copied().collect::<Vec<_>>())
    }
}

impl pds_cms::WireKey for Backwards {
    fn write_key(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.0.iter().rev());
    }

    fn read_key(bytes: &[u8]) -> Option<Self> {
        Some(Self(bytes.iter().rev().copied().collect()))
    }
}

#[test]
fn keys_of_ones_own_are_held_as_the_bytes_that_they_hash() {
    let mut list =
        pds_cms::SpaceSaving::<Backwards>::new(pds_cms::SpaceSavingParams::with_capacity(4).unwrap());
    list.insert(&Backwards(b"abc".to_vec()));
    list.insert(&Backwards(b"xyz".to_vec()));
    let any = AnySketch::from_bytes(&list.to_bytes()).unwrap();
    assert_eq!(any.to_bytes(), list.to_bytes());
    assert!(any.answer().to_string().contains("\"cba\": 1 (1 to 1)"));
}

#[test]
fn a_description_says_what_a_sketch_is() {
    let mut filter = BloomFilter::new(BloomParams::for_fpr(1000, 0.01).unwrap());
    filter.extend(0..500u32);
    let description = AnySketch::from_bytes(&filter.to_bytes()).unwrap().describe();
    assert_eq!(
        (description.kind, description.name, description.version),
        (wire::Kind::BLOOM, "BloomFilter", 1)
    );
    assert_eq!(description.error, Some(Stated::FalsePositiveRate(0.01)));
    assert_eq!(description.size_bytes, filter.size_bytes());
    let shown = description.to_string();
    let expected = [
        "structure        BloomFilter",
        "kind             1, version 1",
        "bits             9600",
        "k                7",
        "design_fpr       0.01",
        "merge            exact",
        "error            false positives at a rate of 0.01",
    ];
    for line in expected {
        assert!(shown.lines().any(|shown| shown == line), "no {line:?} in\n{shown}");
    }

    let mut visitors = HyperLogLog::new(HllParams::with_precision(12).unwrap());
    visitors.extend(0..1000u32);
    let any = AnySketch::from_bytes(&visitors.to_bytes()).unwrap();
    let Answer::Distinct { estimate, low, high, kappa } = any.answer() else { panic!("distinct keys") };
    assert_eq!(estimate.to_bits(), visitors.estimate().to_bits());
    assert_eq!((low, high), visitors.bounds(kappa));
    assert_eq!(any.describe().fill, None);
}
