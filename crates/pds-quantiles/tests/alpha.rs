//! The accuracy, on every kind of float and at every edge.

use pds_quantiles::prelude::*;
use pds_testkit::SplitMix64;

const MAPPINGS: [Mapping; 4] = [Mapping::Log, Mapping::Linear, Mapping::Quadratic, Mapping::Cubic];

fn params(alpha: f64, mapping: Mapping) -> DDSketchParams {
    DDSketchParams::for_accuracy(alpha).expect("an accuracy").with_mapping(mapping)
}

/// All that is promised of a value: it is the middle one of three, so that nothing is clamped.
fn check(sketch: &mut DDSketch, value: f64) {
    sketch.clear();
    for value in [-f64::MAX, value, f64::MAX] {
        assert!(sketch.insert(value));
    }
    let (alpha, params) = (sketch.alpha(), sketch.params());
    let found = sketch.quantile(0.5).expect("values");
    assert!((found - value).abs() <= alpha * value.abs(), "{value:e} given as {found:e} by {params:?}");
    let (low, high) = sketch.bounds(0.5).expect("values");
    assert!(low <= value && value <= high, "{value:e} out of {low:e}..{high:e} by {params:?}");
    assert!(low <= found && found <= high, "{found:e} out of {low:e}..{high:e} by {params:?}");
}

/// A value, and its neighbours of 3 units in the last place, of both signs.
fn check_around(sketch: &mut DDSketch, value: f64) {
    let bits = value.to_bits();
    for bits in bits.saturating_sub(3)..=bits + 3 {
        let value = f64::from_bits(bits);
        if (f64::MIN_POSITIVE..=f64::MAX).contains(&value) {
            check(sketch, value);
            check(sketch, -value);
        }
    }
}

/// The greatest float of the bin of `value`: where its representative changes, by bisection of the bits.
fn upper_edge(params: DDSketchParams, value: f64) -> f64 {
    let bin = |value: f64| {
        let mut sketch = DDSketch::new(params);
        sketch.extend([-f64::MAX, value, f64::MAX]);
        sketch.quantile(0.5).expect("values")
    };
    let here = bin(value);
    let (mut inside, mut outside) = (value.to_bits(), (value * 3.5).min(f64::MAX).to_bits());
    while outside - inside > 1 {
        let middle = inside.midpoint(outside);
        if bin(f64::from_bits(middle)) <= here { inside = middle } else { outside = middle }
    }
    f64::from_bits(inside)
}

#[test]
fn alpha_holds_at_every_power_of_two() {
    for mapping in MAPPINGS {
        for alpha in [1e-6, 1e-4, 0.01, 0.02, 0.1, 0.5] {
            let mut sketch = DDSketch::new(params(alpha, mapping));
            for exponent in -1022..=1023 {
                check_around(&mut sketch, libm::scalbn(1.0, exponent));
            }
            check_around(&mut sketch, f64::MAX);
        }
    }
}

#[test]
fn alpha_holds_at_the_edges_of_bins() {
    for mapping in MAPPINGS {
        for alpha in [1e-6, 1e-3, 0.01, 0.05, 0.5] {
            let params = params(alpha, mapping);
            let mut sketch = DDSketch::new(params);
            for start in [f64::MIN_POSITIVE, 1e-300, 1e-9, 0.999, 1.0, 1.5, 1e6, 1e150, 1e307] {
                let mut value = start;
                for _ in 0..40 {
                    let edge = upper_edge(params, value);
                    check_around(&mut sketch, edge);
                    value = edge.next_up();
                    if value >= f64::MAX {
                        break;
                    }
                }
            }
        }
    }
}

/// Every edge of 1 % from the least to the greatest normal float, by the formula of the logarithm.
#[test]
fn alpha_holds_at_every_power_of_gamma() {
    let (alpha, mut random) = (0.01, SplitMix64::new(1));
    let gamma = (1.0 + alpha) / (1.0 - alpha);
    let mut sketches = MAPPINGS.map(|mapping| DDSketch::new(params(alpha, mapping)));
    let steps = libm::log(f64::MAX) / libm::log(gamma);
    for k in -(steps as i32)..=steps as i32 {
        let edge = libm::exp(f64::from(k) * libm::log(gamma));
        for sketch in &mut sketches {
            check_around(sketch, edge);
            let inside = edge * (1.0 + random.next_f64() * 0.019);
            if inside.is_normal() {
                check(sketch, inside);
            }
        }
    }
}

#[test]
fn alpha_holds_for_random_floats() {
    let mut random = SplitMix64::new(2);
    for mapping in MAPPINGS {
        for alpha in [1e-6, 3e-5, 0.01, 0.3, 0.5] {
            let mut sketch = DDSketch::new(params(alpha, mapping));
            for _ in 0..20_000 {
                let value = f64::from_bits(random.next_u64());
                if value.is_normal() {
                    check(&mut sketch, value);
                }
            }
        }
    }
}

#[test]
fn alpha_holds_on_the_grids_of_scales() {
    for scale in 0..=DDSketchParams::MAX_SCALE {
        let params = DDSketchParams::for_scale(scale).unwrap();
        let base = libm::exp2(libm::exp2(-f64::from(scale)));
        assert!((params.alpha() - (base - 1.0) / (base + 1.0)).abs() < 2e-12);
        let mut sketch = DDSketch::new(params);
        for exponent in -1022..=1023 {
            check_around(&mut sketch, libm::scalbn(1.0, exponent));
        }
        for k in -2000..2000 {
            check_around(&mut sketch, libm::exp2(f64::from(k) * libm::exp2(-f64::from(scale))));
        }
    }
}

#[test]
fn joined_pairs_keep_the_accuracy_that_is_stated() {
    for mapping in MAPPINGS {
        let params = params(0.001, mapping).with_max_bins(64).unwrap().with_collapse(Collapse::Uniform);
        let mut random = SplitMix64::new(3);
        let (mut sketch, mut values) = (DDSketch::new(params), Vec::new());
        for i in 0..3000 {
            let value = libm::exp(random.next_normal() * f64::from(i) / 100.0);
            sketch.insert(value);
            values.push(value);
            if i % 100 == 99 {
                let mut sorted = values.clone();
                sorted.sort_unstable_by(f64::total_cmp);
                let n = sorted.len();
                for (k, &value) in sorted.iter().enumerate() {
                    let q = (k + 1) as f64 / n as f64;
                    let found = sketch.quantile(q).unwrap();
                    assert!((found - value).abs() <= sketch.alpha() * value, "{value:e} as {found:e}");
                    let (low, high) = sketch.bounds(q).unwrap();
                    assert!(low <= value && value <= high);
                }
            }
        }
        assert!(sketch.alpha() > 0.1 && sketch.alpha() < 1.0 && sketch.occupied_bins() <= 64);
    }
}

#[test]
fn subnormal_numbers_count_as_zero() {
    let mut sketch = DDSketch::new(DDSketchParams::for_accuracy(0.01).unwrap());
    let tiny = f64::MIN_POSITIVE.next_down();
    sketch.extend([-1.0, -tiny, f64::from_bits(1), tiny, 1.0]);
    for q in [0.3, 0.5, 0.7] {
        assert_eq!(sketch.quantile(q).map(f64::to_bits), Some(0));
        let (low, high) = sketch.bounds(q).unwrap();
        assert!(low <= -tiny && tiny <= high && high <= f64::MIN_POSITIVE);
    }
    // Within the extremes, though.
    sketch.clear();
    sketch.extend([tiny; 3]);
    assert_eq!(sketch.quantile(0.5), Some(tiny));
}

#[test]
fn mappings_need_as_many_bins_as_they_say() {
    let bins = |mapping| {
        let mut sketch = DDSketch::new(params(0.01, mapping));
        (0..100_000).for_each(|i| {
            sketch.insert(libm::exp2(f64::from(i) * 0.001));
        });
        sketch.occupied_bins() as f64
    };
    let log = bins(Mapping::Log);
    assert!((log / (100.0 * 2f64.ln() / (1.01f64 / 0.99).ln()) - 1.0).abs() < 0.001);
    let ln2 = std::f64::consts::LN_2;
    for (mapping, more) in
        [(Mapping::Linear, 1.0 / ln2), (Mapping::Quadratic, 0.75 / ln2), (Mapping::Cubic, 0.7 / ln2)]
    {
        assert!((bins(mapping) / log / more - 1.0).abs() < 0.001, "{mapping:?}");
    }
}
