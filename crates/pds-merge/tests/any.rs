//! Whatever the kind: the same bytes as of the structure itself.

mod samples;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use pds_core::{Key, KeyHasher, wire};
use pds_merge::{AnySketch, Error, Merge, MergeError, MergeLaw, Sketch};
use pds_quantiles::{KllItem, KllParams, KllSketch};
use samples::{Sample, shard};

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
