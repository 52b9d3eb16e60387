//! What does not fit is refused, with the right reason, and changes nothing.

mod samples;

use pds_core::KeyHasher;
use pds_hash::SipHasher24;
use pds_merge::{AnySketch, Error, Fingerprint, ListHasher, Merge, MergeLaw};
use samples::{Differs, Sample, keyed, shard};

/// What merging the second into the first is refused for, as far as the samples know it; `None` if they merge.
fn expected(left: &Sample, right: &Sample, law: MergeLaw) -> Option<Error> {
    if left.kind != right.kind {
        return Some(Error::Kind { expected: left.kind.0, found: right.kind.0 });
    }
    if matches!(law, MergeLaw::Absorb | MergeLaw::None) {
        return Some(Error::Unmergeable { kind: left.kind.0 });
    }
    let other = if left.differs == Differs::First { right } else { left };
    match other.differs {
        _ if left.fits(right) => None,
        Differs::In(field) => Some(Error::Incompatible { field }),
        Differs::ByHasher => {
            let [expected, found] = [left, right].map(|sample| sample.hasher.fingerprint());
            Some(Error::Hasher { expected, found })
        }
        Differs::First | Differs::Not => unreachable!("they fit"),
    }
}

#[test]
fn merging_is_refused_for_all_that_differs_and_changes_nothing_then() {
    let samples = samples::all();
    let sketches: Vec<AnySketch> =
        (0..).zip(&samples).map(|(i, sample)| sample.sketch(&shard(i % 3))).collect();
    let bytes: Vec<Vec<u8>> = sketches.iter().map(AnySketch::to_bytes).collect();
    let (mut merged, mut wrong) = (0, Vec::new());
    for (i, left) in samples.iter().enumerate() {
        let mut sketch = sketches[i].clone();
        for (j, right) in samples.iter().enumerate() {
            let pair = format!("{} and {}", left.name, right.name);
            // Of two that both differ from the first, the reason depends on what is compared first.
            let known = left.kind != right.kind
                || left.fits(right)
                || left.differs == Differs::First
                || right.differs == Differs::First;
            if i == j || left.fits(right) {
                let result = sketch.merge(&sketches[j]);
                let law = sketch.merge_law();
                let merges = !matches!(law, MergeLaw::Absorb | MergeLaw::None);
                assert_eq!(
                    result,
                    if merges { Ok(()) } else { Err(Error::Unmergeable { kind: left.kind.0 }) },
                    "{pair}"
                );
                merged += u32::from(merges);
                sketch = sketches[i].clone();
                continue;
            }
            let error = sketch.merge(&sketches[j]).expect_err(&pair);
            if known {
                let expected = expected(left, right, sketch.merge_law());
                if Some(error) != expected {
                    wrong.push(format!("{pair}: {error:?}, not {expected:?}"));
                }
            } else {
                let typed = match error {
                    Error::Incompatible { field } => !field.is_empty(),
                    Error::Hasher { .. } | Error::Unmergeable { .. } => true,
                    _ => false,
                };
                assert!(typed, "{pair}: {error}");
            }
            assert!(sketch.to_bytes() == bytes[i], "{pair}: a refused merge changes the sketch");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(merged as usize > samples.len() / 2, "{merged} of {} samples merge", samples.len());
}

/// Whoever is told that sketches differ in a parameter finds it in their descriptions, with values that differ.
#[test]
fn what_differs_is_in_the_descriptions() {
    let value = |sketch: &AnySketch, name: &str| {
        let parameters = sketch.describe().parameters;
        parameters.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    };
    let samples = samples::all();
    let mut fields = 0;
    for first in samples.iter().filter(|sample| sample.differs == Differs::First) {
        for other in samples.iter().filter(|sample| sample.kind == first.kind) {
            let Differs::In(field) = other.differs else { continue };
            let values = [first, other].map(|sample| value(&sample.sketch(&shard(0)), field));
            let [Some(one), Some(two)] = &values else {
                panic!("{}: no {field} in a description", other.name)
            };
            assert_ne!(one, two, "{}: {field}", other.name);
            fields += 1;
        }
    }
    assert!(fields > 40, "{fields} differences were looked at");
}

#[test]
fn absorbing_is_refused_for_all_that_differs_and_changes_nothing_then() {
    let samples = samples::all();
    for left in &samples {
        let mut sketch = left.sketch(&shard(0));
        let before = sketch.to_bytes();
        for right in samples.iter().filter(|right| right.kind == left.kind) {
            let pair = format!("{} and {}", left.name, right.name);
            let result = sketch.absorb(&right.sketch(&shard(1)));
            match sketch.merge_law() {
                MergeLaw::Absorb if left.name == right.name => {
                    assert_eq!(result, Ok(()), "{pair}");
                    sketch = left.read(&before);
                }
                MergeLaw::Absorb => {
                    let error = result.expect_err(&pair);
                    if left.differs == Differs::First {
                        assert_eq!(Some(error), expected(left, right, MergeLaw::Exact), "{pair}");
                    }
                }
                _ => assert_eq!(result, Err(Error::Unmergeable { kind: left.kind.0 }), "{pair}"),
            }
            assert!(sketch.to_bytes() == before, "{pair}: a refusal changes the filter");
        }
    }
}

#[test]
fn sketches_under_a_secret_key_merge_without_it_and_with_no_other() {
    for sample in samples::all().iter().filter(|sample| sample.name.ends_with(", keyed")) {
        let (left, right) = (sample.bytes(&shard(0)), sample.bytes(&shard(1)));
        let list = AnySketch::from_bytes(&left).is_err();
        assert_eq!(list, (40..=43).contains(&sample.kind.0), "{}: lists alone need the key", sample.name);
        if list {
            continue;
        }
        let mut sketch = AnySketch::from_bytes(&left).unwrap();
        let other = AnySketch::from_bytes(&right).unwrap();
        let result = match sketch.merge_law() {
            MergeLaw::Absorb => sketch.absorb(&other),
            MergeLaw::None => continue,
            _ => sketch.merge(&other),
        };
        assert_eq!(result, Ok(()), "{}", sample.name);
        let whole = sample.merge_typed(&left, &right).unwrap();
        assert!(sketch.to_bytes() == whole, "{}: other bytes than with the key", sample.name);
    }
}

#[test]
fn lists_are_read_with_their_hasher_alone() {
    let lists = samples::all().into_iter().filter(|sample| (40..=43).contains(&sample.kind.0));
    for sample in lists.filter(|sample| sample.name.ends_with(", keyed")) {
        let bytes = sample.bytes(&shard(0));
        let found = keyed(1).fingerprint();
        for other in [keyed(2), ListHasher::default(), SipHasher24::new([1; 16]).into()] {
            let expected = other.fingerprint();
            let result = AnySketch::from_bytes_with(&bytes, other).map(|_| ());
            assert_eq!(result, Err(Error::Hasher { expected, found }), "{}", sample.name);
        }
        let sketch = AnySketch::from_bytes_with(&bytes, keyed(1)).unwrap();
        assert_eq!(sketch.fingerprint(), found);
        assert!(sketch.to_bytes() == bytes);
    }
}

#[test]
fn a_list_hasher_hashes_as_the_hasher_within() {
    let (wy, sip, sip24) =
        (pds_hash::WyHasher::with_seed(3), pds_hash::SipHasher::new([4; 16]), SipHasher24::new([5; 16]));
    for key in [&b""[..], b"key", &[7; 40]] {
        let hashers = [wy.into(), sip.into(), sip24.into()].map(|h: ListHasher| h.hash_key(key));
        assert_eq!(hashers, [wy.hash_key(key), sip.hash_key(key), sip24.hash_key(key)]);
    }
    let hashers = [wy.into(), sip.into(), sip24.into()].map(|h: ListHasher| h.hash_key(&77u64));
    assert_eq!(hashers, [wy.hash_key(&77u64), sip.hash_key(&77u64), sip24.hash_key(&77u64)]);
}
