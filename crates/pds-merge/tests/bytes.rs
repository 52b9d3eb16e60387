//! Byte forms merge as they come, and bytes from strangers do no harm.

mod samples;

use std::sync::LazyLock;

use pds_bloom::{BloomFilter, BloomParams};
use pds_hll::{HllParams, HyperLogLog};
use pds_merge::{
    AnyFold, AnySketch, Error, Merge, MergeError, MergeLaw, Merged, Sketch, merge_bytes, merge_bytes_lenient,
};
use pds_testkit::{forge, payload_start, reseal};
use proptest::prelude::*;
use samples::{Differs, keyed, shard};

/// Samples that merge and need no hasher.
fn merging() -> impl Iterator<Item = samples::Sample> {
    samples::all().into_iter().filter(|sample| match AnySketch::from_bytes(&sample.bytes(&[])) {
        Ok(sketch) => sketch.merge_law() <= MergeLaw::Bounded,
        Err(Error::Hasher { .. }) => false,
        Err(error) => panic!("{}: {error}", sample.name),
    })
}

#[test]
fn bytes_of_every_kind_merge_as_the_sketches_do() {
    for sample in merging() {
        let sketches: Vec<Vec<u8>> = (0..4).map(|i| sample.bytes(&shard(i))).collect();
        let mut merged = sample.read(&sketches[0]);
        for bytes in &sketches[1..] {
            merged.merge(&sample.read(bytes)).unwrap();
        }
        assert!(merge_bytes(&sketches) == Ok(merged.to_bytes()), "{}", sample.name);
        let lenient = merge_bytes_lenient(&sketches);
        let all = Merged { sketch: Some(merged.to_bytes()), taken: 4, refused: vec![] };
        assert!(lenient == all, "{}", sample.name);
    }
}

#[test]
fn one_is_written_again_and_none_is_refused() {
    for sample in samples::all().iter().filter(|sample| sample.differs == Differs::First) {
        let bytes = sample.bytes(&shard(0));
        assert!(merge_bytes([&bytes]) == Ok(bytes), "{}", sample.name);
    }
    let error = Error::Malformed { field: "length" };
    assert_eq!(merge_bytes([[]; 0]), Err(MergeError { index: 0, error }));
    assert_eq!(merge_bytes_lenient([[]; 0]), Merged { sketch: None, taken: 0, refused: vec![] });
}

#[test]
fn of_a_stream_with_bad_ones_the_rest_is_merged_and_the_bad_ones_are_named() {
    for sample in merging() {
        let good: Vec<Vec<u8>> = (0..5).map(|i| sample.bytes(&shard(i))).collect();
        let mut corrupt = good[1].clone();
        *corrupt.last_mut().unwrap() ^= 1;
        let bloom = BloomFilter::new(BloomParams::for_fpr(77, 0.1).unwrap()).to_bytes();
        let hll = HyperLogLog::new(HllParams::with_precision(9).unwrap()).to_bytes();
        let foreign = if sample.kind.0 == 1 { hll } else { bloom };
        let mismatched = samples::all().into_iter().find(|other| {
            other.kind == sample.kind
                && matches!(other.differs, Differs::In(_))
                && !sample.fits(other)
                && other.name != sample.name
        });
        // HyperLogLogs, theta sketches and t-digests of all parameters merge: of these, one of too few bytes.
        let mismatched = mismatched.map_or_else(|| good[0][..30].to_vec(), |other| other.bytes(&shard(9)));

        let mut stream = good.clone();
        stream.insert(4, mismatched);
        stream.insert(2, foreign.clone());
        stream.insert(1, corrupt);
        let merged = merge_bytes_lenient(&stream);
        assert!(merged.sketch == merge_bytes(&good).ok(), "{}: not those that are good", sample.name);
        assert_eq!(merged.taken, 5, "{}", sample.name);
        let indices: Vec<usize> = merged.refused.iter().map(|refused| refused.index).collect();
        assert_eq!(indices, [1, 3, 6], "{}", sample.name);
        let errors: Vec<Error> = merged.refused.iter().map(|refused| refused.error).collect();
        assert!(
            matches!(errors[0], Error::Checksum | Error::Malformed { .. }),
            "{}: {}",
            sample.name,
            errors[0]
        );
        let found = AnySketch::from_bytes(&foreign).unwrap().kind().0;
        assert_eq!(errors[1], Error::Kind { expected: sample.kind.0, found }, "{}", sample.name);
        assert!(
            matches!(
                errors[2],
                Error::Incompatible { .. } | Error::Hasher { .. } | Error::Malformed { .. } | Error::Checksum
            ),
            "{}: {}",
            sample.name,
            errors[2]
        );

        // Strictly, each of them is the first refused when those before it are gone.
        for refused in merged.refused {
            assert_eq!(
                merge_bytes(&stream).unwrap_err(),
                MergeError { index: refused.index, error: refused.error }
            );
            // In its place, one that changes no index.
            stream[refused.index] = good[0].clone();
        }
    }
}

#[test]
fn a_fold_goes_on_after_a_refusal_and_counts_on() {
    let params = HllParams::with_precision(12).unwrap();
    let sketch = |keys: std::ops::Range<u32>| {
        let mut sketch = HyperLogLog::new(params);
        sketch.extend(keys);
        sketch.to_bytes()
    };
    let mut fold = AnyFold::default();
    assert!(fold.sketch().is_none());
    let malformed = Error::Malformed { field: "length" };
    assert_eq!(fold.push(b"no sketch"), Err(MergeError { index: 0, error: malformed }));
    assert_eq!(fold.push(&sketch(0..100)), Ok(()));
    let before = fold.sketch().unwrap().to_bytes();
    assert_eq!(fold.push(b""), Err(MergeError { index: 2, error: malformed }));
    assert_eq!(fold.sketch().unwrap().to_bytes(), before);
    assert_eq!(fold.push(&sketch(100..200)), Ok(()));
    let refused = [0, 2].map(|index| MergeError { index, error: malformed });
    assert_eq!((fold.taken(), fold.refused()), (2, &refused[..]));
    let all = fold.finish();
    assert_eq!((all.taken, &all.refused[..]), (2, &refused[..]));
    assert_eq!(all.sketch.unwrap().to_bytes(), sketch(0..200));
}

#[test]
fn an_odd_first_one_decides_unless_something_is_expected() {
    let params = BloomParams::for_fpr(100, 0.01).unwrap();
    let odd = BloomFilter::new(BloomParams::for_fpr(50, 0.01).unwrap()).to_bytes();
    let mut filter = BloomFilter::new(params);
    let expected = AnySketch::from_bytes(&filter.to_bytes()).unwrap();
    filter.insert("key");
    let stream = [odd.clone(), filter.to_bytes(), filter.to_bytes()];

    let merged = merge_bytes_lenient(&stream);
    assert_eq!((merged.taken, merged.sketch), (1, Some(odd)));
    assert_eq!(merged.refused.iter().map(|refused| refused.index).collect::<Vec<_>>(), [1, 2]);

    let mut fold = AnyFold::onto(expected);
    for bytes in &stream {
        let _ = fold.push(bytes);
    }
    assert_eq!((fold.taken(), fold.refused().len(), fold.refused()[0].index), (2, 1, 0));
    assert_eq!(fold.finish().sketch.unwrap().to_bytes(), filter.to_bytes());
}

#[test]
fn a_fold_of_lists_takes_their_hasher() {
    let lists = samples::all().into_iter().filter(|sample| (40..=42).contains(&sample.kind.0));
    for sample in lists.filter(|sample| sample.name.ends_with(", keyed")) {
        let [left, right] = [0, 1].map(|i| sample.bytes(&shard(i)));
        let mut fold = AnyFold::new(keyed(1));
        assert_eq!((fold.push(&left), fold.push(&right)), (Ok(()), Ok(())), "{}", sample.name);
        assert_eq!(Some(fold.finish().sketch.unwrap().to_bytes()), sample.merge_typed(&left, &right));
        let mut onto = AnyFold::onto(sample.read(&left));
        assert_eq!(onto.push(&right), Ok(()), "{} knows its hasher", sample.name);
        assert!(matches!(merge_bytes([&left]), Err(MergeError { index: 0, error: Error::Hasher { .. } })));
    }
}

/// Whatever is read, answers, merges with itself and is written.
fn survive(bytes: &[u8]) {
    let Ok(sketch) = AnySketch::from_bytes(bytes) else {
        assert!(merge_bytes([bytes]).is_err());
        return;
    };
    for hash in [0, 1, u64::MAX, 0x9e37_79b9_7f4a_7c15] {
        let _ = (sketch.contains_hash(hash), sketch.bounds_hash(hash));
    }
    for q in [-1.0, 0.0, 0.5, 1.0, f64::NAN] {
        let _ = sketch.quantile(q);
    }
    let _ = (sketch.answer().to_string(), sketch.describe().to_string(), format!("{sketch:?}"));
    let written = sketch.to_bytes();
    let mut merged = sketch.clone();
    if merged.merge(&sketch).is_err() {
        assert!(merged.to_bytes() == written, "{}: a refused merge changes it", sketch.name());
    }
    let before = merged.to_bytes();
    if merged.absorb(&sketch).is_err() {
        assert!(merged.to_bytes() == before, "{}: a refused absorption changes it", sketch.name());
    }
    let _ = (merged.merge_many(&[&sketch, &sketch]), merged.answer(), merged.describe());
    let mut fold = AnyFold::default();
    let mut decoded = sketch.clone();
    for bytes in [bytes, &written, bytes] {
        let pushed = fold.push(bytes).map_err(|refusal| refusal.error);
        if fold.taken() + fold.refused().len() > 1 {
            assert_eq!(pushed, AnySketch::from_bytes(bytes).and_then(|other| decoded.merge(&other)));
        }
    }
    assert!(fold.taken() >= 1 && fold.sketch().is_some_and(|merged| merged.to_bytes() == decoded.to_bytes()));
}

/// Small sketches of every type, all of which are read.
static SMALL: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let keys = [1, 2, 3, 2, 1 << 40, 9, 9, 9];
    let read = |sample: &samples::Sample| {
        let bytes = sample.bytes(&keys);
        sample.read(&bytes);
        bytes
    };
    samples::all().iter().map(read).collect()
});

#[test]
fn every_header_is_survived() {
    for mut bytes in SMALL.iter().cloned() {
        let start = payload_start(&bytes).unwrap();
        for at in 0..start {
            let before = bytes[at];
            for change in [1, 0x80, 0xff] {
                bytes[at] ^= change;
                reseal(&mut bytes, start);
                survive(&bytes);
                bytes[at] = before;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_are_survived(bytes: Vec<u8>) {
        survive(&bytes);
    }

    #[test]
    fn any_changes_are_survived(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut in prop::option::of(any::<prop::sample::Index>()),
        resealed: bool,
    ) {
        let mut bytes = which.get(&SMALL).clone();
        let start = payload_start(&bytes).unwrap();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if resealed {
            reseal(&mut bytes, start);
        }
        survive(&bytes);
    }

    #[test]
    fn any_parameters_and_payloads_are_survived(
        which in any::<prop::sample::Index>(),
        params in prop::collection::vec(any::<u8>(), 0..48),
        payload in prop::collection::vec(any::<u8>(), 0..256),
    ) {
        let bytes = which.get(&SMALL);
        let start = payload_start(bytes).unwrap();
        survive(&forge(bytes, &params, &payload));
        survive(&forge(bytes, &params, &bytes[start..]));
        let mut other_payload = [&bytes[..start], &payload[..]].concat();
        reseal(&mut other_payload, start);
        survive(&other_payload);
    }
}
