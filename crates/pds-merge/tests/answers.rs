//! Whatever the kind: the answers are those of the structure.

mod samples;

use std::collections::BTreeSet;

use pds_bloom::{BloomFilter, BloomParams};
use pds_cms::{CountMinParams, CountMinSketch, CountSketch, CountSketchParams};
use pds_core::{KeyHasher, wire};
use pds_hash::WyHasher;
use pds_hll::{HllParams, HyperLogLog};
use pds_merge::{Answer, AnySketch, Sketch, Stated, Value};
use pds_quantiles::{DDSketch, DDSketchParams, KllParams, KllSketch, Quantiles, TDigest, TDigestParams};
use samples::{shard, strangers};

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
