//! Bytes are API: what any release wrote, every later one reads and writes the same.
//!
//! `PDS_WRITE_GOLDEN=1 cargo test -p pds-quantiles --test ddsketch_golden` writes the files that are missing. An existing
//! one is never changed: other bytes need a new version and a new file.

use pds_quantiles::prelude::*;
use pds_testkit::golden;

fn check(name: &str, sketch: &DDSketch) {
    let bytes = sketch.to_bytes();
    golden(env!("CARGO_MANIFEST_DIR"), &format!("ddsketch-{name}.bin"), &bytes);
    let read = DDSketch::from_bytes(&bytes);
    assert!(read.is_ok_and(|read| read == *sketch), "{name}: another sketch is read, or none");
}

fn accuracy(alpha: f64) -> DDSketchParams {
    DDSketchParams::for_accuracy(alpha).expect("an accuracy")
}

fn of(params: DDSketchParams, values: impl IntoIterator<Item = f64>) -> DDSketch {
    let mut sketch = DDSketch::new(params);
    sketch.extend(values);
    sketch
}

/// Values by arithmetic alone: the grid of whole numbers and of their fractions.
fn latencies(n: u32) -> impl Iterator<Item = f64> {
    (1..=n).map(|i| f64::from(i * i % 7919) / 16.0 + 1.0)
}

#[test]
fn an_empty_sketch() {
    check("empty", &DDSketch::new(accuracy(0.01)));
}

#[test]
fn one_value() {
    check("one", &of(accuracy(0.01), [800.0]));
}

#[test]
fn a_crowd_of_bins() {
    check("latencies", &of(accuracy(0.02), latencies(5000)));
}

#[test]
fn values_of_both_signs_with_zeros_and_refusals() {
    let mut sketch = of(accuracy(0.05), [-3.5, -1e-200, 0.0, -0.0, 5e-324, 1.0, 1e200, f64::NAN]);
    sketch.insert_n(2.5, 1 << 50).unwrap();
    check("signs", &sketch);
}

#[test]
fn every_mapping() {
    for (name, mapping) in
        [("log", Mapping::Log), ("linear", Mapping::Linear), ("quadratic", Mapping::Quadratic)]
    {
        check(name, &of(accuracy(0.01).with_mapping(mapping), latencies(300).chain([-1.5])));
    }
}

#[test]
fn every_collapse() {
    for (name, collapse) in
        [("lowest", Collapse::Lowest), ("highest", Collapse::Highest), ("uniform", Collapse::Uniform)]
    {
        let params = accuracy(0.001).with_max_bins(32).unwrap().with_collapse(collapse);
        check(name, &of(params, latencies(1000).flat_map(|x| [x, -x])));
    }
}

#[test]
fn the_bins_of_a_scale() {
    check("scale", &of(DDSketchParams::for_scale(5).unwrap(), latencies(1000)));
}
