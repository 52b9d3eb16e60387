//! The main structures of each question on the user's own keys, beside the exact answer.

use std::collections::HashMap;
use std::path::Path;

use pds_bloom::{CountingBloomFilter, CountingBloomParams, Error, ScalableBloomFilter, ScalableBloomParams};
use pds_cuckoo::{CuckooFilter, GrowableCuckooFilter, GrowableCuckooParams};
use pds_hash::{KeyHasher, WyHasher};
use pds_hll::{HllParams, HyperLogLog, UllParams, UltraLogLog};
use pds_static_filters::{BinaryFuseFilter8, RibbonFilter, RibbonParams};
use pds_testkit::{Row, Value, laws};
use pds_theta::{ThetaParams, ThetaSketch};

use super::filters::LAYOUTS;
use super::own_counts::Counters;
use super::{Outcome, files, input};
use crate::Failure;

const PRECISIONS: [u8; 3] = [10, 12, 14];
/// lg k of the theta sketch.
const THETA: u8 = 12;
const FILTER_RATES: [f64; 2] = [0.01, 0.001];

/// What absent probes end in; those that happen to be keys are left out.
const SUFFIX: &[u8] = b"\0absent";

/// Below so many expected collisions the normal law does not hold yet.
const RARE: f64 = 1000.0;

/// Reads the keys once into the sketches and an exact table, then compares.
pub(super) fn run(file: &Path) -> Result<Outcome, Failure> {
    let mut exact: HashMap<Vec<u8>, u64> = HashMap::new();
    let mut counters: Vec<HyperLogLog> =
        PRECISIONS.map(|p| HyperLogLog::new(HllParams::with_precision(p).expect("a usual precision"))).into();
    let mut ultras: Vec<UltraLogLog> =
        PRECISIONS.map(|p| UltraLogLog::new(UllParams::with_precision(p).expect("a usual precision"))).into();
    let mut theta = ThetaSketch::new(ThetaParams::with_lg_k(THETA).expect("a usual size"));
    let mut frequencies = Counters::new();
    let hasher = WyHasher::default();
    let mut lines = 0u64;
    input::each_line(file, |key| {
        lines += 1;
        let hash = hasher.hash_key(key);
        for counter in &mut counters {
            counter.insert_hash(hash);
        }
        for ultra in &mut ultras {
            ultra.insert_hash(hash);
        }
        theta.insert_hash(hash);
        frequencies.insert(key, hash);
        match exact.get_mut(key) {
            Some(count) => *count += 1,
            None => drop(exact.insert(key.to_vec(), 1)),
        }
    })?;
    if lines == 0 {
        return Err(Failure::Usage(format!("{}: no keys", files::name(file))));
    }

    let mut keys: Vec<(&[u8], u64)> = exact.iter().map(|(key, &count)| (key.as_slice(), count)).collect();
    keys.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let mut rows = vec![row("input", "lines", lines as f64, lines as f64, 0.0, None)];
    let count = keys.len() as u64;
    rows.extend(counters.iter().map(|counter| {
        let sigma = counter.params().predicted_error(count);
        distinct("HyperLogLog", counter.params(), counter.is_sparse(), counter.estimate(), sigma, count)
    }));
    rows.extend(ultras.iter().map(|ultra| {
        let sigma = ultra.params().predicted_error(count);
        let params = HllParams::from(ultra.params());
        distinct("UltraLogLog", params, ultra.is_sparse(), ultra.estimate(), sigma, count)
    }));
    rows.push(distinct_by_theta(&theta, keys.len() as u64));
    for rate in FILTER_RATES {
        let filters =
            filters(rate, &keys, &exact).map_err(|error: Error| Failure::Usage(error.to_string()))?;
        rows.extend(filters);
    }
    rows.extend(binary_fuse(&keys, &exact).map_err(|error| Failure::Usage(error.to_string()))?);
    rows.extend(frequencies.rows(&keys));
    rows.extend(uniformity(&keys));
    Ok(Outcome {
        id: "own-keys",
        table: None,
        claim: "On these keys, each of these structures answers within its bound.",
        law: "distinct: within 6.1 standard errors, or, of few keys, the collisions that Poisson's law allows. Membership: no key lost; wrong yeses by Chernoff's law, beyond 6.1 deviations of a filter's rate. Frequencies: \
              never under, but for the count-sketch; the share that errs by more than its bound (count-min, plain and \
              conservative: eps N; count-sketch: eps sqrt(F2)) at most delta, by Chernoff's law; SpaceSaving: none outside its \
              bounds. Hash: chi-square of buckets.",
        rows,
    })
}

/// A row of the fixed columns: `within` says that the error is at most the bound, whatever the law makes of it. No law,
/// no judgement.
pub(super) fn row(
    structure: &str,
    what: &str,
    exact: f64,
    estimate: f64,
    bound: impl Into<Option<f64>>,
    law: Option<(&'static str, laws::Verdict)>,
) -> Row {
    let number = |value: f64| {
        if value.fract() == 0.0 && (0.0..1e15).contains(&value) {
            Value::Count(value as u64)
        } else {
            Value::Real { value, digits: 5 }
        }
    };
    let row = Row::new()
        .text("structure", structure)
        .text("answer", what)
        .with("exact", number(exact))
        .with("estimate", number(estimate))
        .with("error", number(estimate - exact));
    let row = match bound.into() {
        Some(bound) => {
            let within = (estimate - exact).abs() <= bound;
            row.with("bound", number(bound)).text("within", within.to_string())
        }
        None => row.missing("bound").missing("within"),
    };
    match law {
        Some((name, verdict)) => row.check(name, verdict),
        None => row,
    }
}

/// What a sketch says of the number of keys, which errs by the share `sigma`.
fn distinct(name: &str, params: HllParams, sparse: bool, estimate: f64, sigma: f64, exact: u64) -> Row {
    let bound = distinct_bound(params, sparse, sigma, exact);
    let exact = exact as f64;
    let law = laws::at_most((estimate - exact).abs(), bound);
    row(
        &format!("{name}, p = {}", params.precision()),
        "distinct keys",
        exact,
        estimate,
        bound,
        Some(("distinct", law)),
    )
}

/// How far the estimate of a sketch of that many keys may be off: [`laws::Z`] standard errors, or more for few keys.
fn distinct_bound(params: HllParams, sparse: bool, sigma: f64, exact: u64) -> f64 {
    let exact = exact as f64;
    // Few keys err by whole keys that share a register, or the 32 bits that are kept of each of the first keys: a rare event,
    // and no normal one.
    let places = if sparse { 3.0 * (1u64 << 26) as f64 } else { params.registers() as f64 };
    let collisions = exact * exact / (2.0 * places);
    // The estimate makes up for as many as are expected: what is beyond them is error.
    let rare = if collisions < RARE { laws::poisson_limit(collisions) - collisions + 1.0 } else { 0.0 };
    (laws::Z * sigma * exact).max(rare)
}

fn distinct_by_theta(sketch: &ThetaSketch, exact: u64) -> Row {
    let params = sketch.params();
    // Exact up to k keys: the bound is then 0.
    let bound = laws::Z * params.predicted_error(exact) * exact as f64;
    let law = laws::at_most((sketch.estimate() - exact as f64).abs(), bound);
    let name = format!("theta sketch, k = {}", params.k());
    row(&name, "distinct keys", exact as f64, sketch.estimate(), bound, Some(("distinct", law)))
}

/// Rows of every filter.
fn filters(rate: f64, keys: &[(&[u8], u64)], exact: &HashMap<Vec<u8>, u64>) -> Result<Vec<Row>, Error> {
    let distinct = keys.len() as u64;
    let all = || keys.iter().map(|(key, _)| *key);
    let mut rows = Vec::new();

    let hasher = WyHasher::default();
    for (layout, name) in LAYOUTS.into_iter().zip(["Bloom filter", "split-block filter", "blocked filter"]) {
        let shape = layout.for_fpr(distinct, rate)?;
        let mut filter = shape.filter();
        all().for_each(|key| filter.insert_batch(&[hasher.hash_key(key)]));
        let contains = |key: &[u8]| filter.contains_hash(hasher.hash_key(key));
        rows.extend(membership(name, rate, shape.rate_sigma(distinct), &contains, keys, 0, exact));
    }

    let mut scalable = ScalableBloomFilter::new(ScalableBloomParams::for_fpr(FIRST_LAYER, rate)?);
    for key in all() {
        scalable.insert(key)?;
    }
    // Its layers share the rate, and are not all full: their spread is within what they leave.
    rows.extend(membership("scalable filter", rate, 0.0, &|key| scalable.contains(key), keys, 0, exact));

    // Each key as often as it occurs, and then every other key removed as often.
    let mut counting = CountingBloomFilter::new(CountingBloomParams::for_fpr(distinct, rate)?);
    for &(key, count) in keys {
        (0..count).for_each(|_| _ = counting.insert(key));
    }
    let kept: Vec<_> = keys.iter().copied().step_by(2).collect();
    let mut refused = 0;
    for &(key, count) in keys.iter().skip(1).step_by(2) {
        refused += (0..count).filter(|_| counting.remove(key).is_err()).count() as u64;
    }
    let contains = |key: &[u8]| counting.contains(key);
    // Half as full as it may be.
    rows.extend(membership("counting filter, half removed", rate, 0.0, &contains, &kept, refused, exact));
    rows.extend(cuckoo(rate, keys, exact)?);

    let ribbon = RibbonFilter::from_keys(RibbonParams::for_fpr(rate)?, all())?;
    rows.extend(membership("ribbon filter", rate, 0.0, &|key| ribbon.contains(key), keys, 0, exact));
    Ok(rows)
}

/// Rows of a binary fuse filter, whose rate is that of its slots.
fn binary_fuse(keys: &[(&[u8], u64)], exact: &HashMap<Vec<u8>, u64>) -> Result<[Row; 2], Error> {
    let filter = BinaryFuseFilter8::from_keys(keys.iter().map(|(key, _)| *key))?;
    let rate = filter.estimated_fpr();
    Ok(membership("binary fuse filter", rate, 0.0, &|key| filter.contains(key), keys, 0, exact))
}

/// Rows of the cuckoo filters: each key once, and then without every other one, in a filter that has grown.
fn cuckoo(rate: f64, keys: &[(&[u8], u64)], exact: &HashMap<Vec<u8>, u64>) -> Result<Vec<Row>, Error> {
    let hasher = WyHasher::default();
    let hashes: Vec<u64> = keys.iter().map(|(key, _)| hasher.hash_key(*key)).collect();
    let filter = CuckooFilter::from_hashes_with(&hashes, rate, hasher)?;
    let contains = |key: &[u8]| filter.contains(key);
    // Its rate hardly differs from filter to filter: keys that look the same are few.
    let mut rows: Vec<Row> = membership("cuckoo filter", rate, 0.0, &contains, keys, 0, exact).into();

    let distinct = keys.len() as u64;
    let plan = GrowableCuckooParams::for_fpr(distinct.min(FIRST_LAYER), distinct, rate)?;
    let mut growable = GrowableCuckooFilter::new(plan);
    hashes.iter().try_for_each(|&hash| growable.insert_hash(hash).map(drop))?;
    let refused =
        hashes.iter().skip(1).step_by(2).filter(|&&hash| growable.remove_hash(hash).is_err()).count();
    let kept: Vec<_> = keys.iter().copied().step_by(2).collect();
    let contains = |key: &[u8]| growable.contains(key);
    let name = "growable cuckoo filter, half removed";
    rows.extend(membership(name, rate, 0.0, &contains, &kept, refused as u64, exact));
    Ok(rows)
}

/// Keys that the first layer of a scalable filter is for.
const FIRST_LAYER: u64 = 1000;

/// What a filter of `keys` says about them and about strangers; removals that it refused are faults too. The rate is a mean
/// over filters, from which this one deviates.
fn membership(
    name: &str,
    rate: f64,
    deviation: f64,
    contains: &dyn Fn(&[u8]) -> bool,
    keys: &[(&[u8], u64)],
    refused: u64,
    exact: &HashMap<Vec<u8>, u64>,
) -> [Row; 2] {
    let lost = refused + keys.iter().filter(|(key, _)| !contains(key)).count() as u64;
    let (mut probes, mut hits) = (0, 0);
    let mut probe = Vec::new();
    // A few keys are asked for in several ways, so that the rate can be seen.
    let rounds = (200_000 / keys.len()).clamp(1, 100);
    for (key, _) in keys {
        for round in 0..rounds {
            probe.clear();
            probe.extend_from_slice(key);
            probe.extend_from_slice(SUFFIX);
            probe.extend_from_slice(round.to_string().as_bytes());
            if !exact.contains_key(&probe) {
                probes += 1;
                hits += u64::from(contains(&probe));
            }
        }
    }
    let percent = pds_testkit::significant(rate * 100.0, 3);
    let name = format!("{name}, {} %", percent.trim_end_matches('0').trim_end_matches('.'));
    let law = laws::rate_at_most(hits, probes, rate + laws::Z * deviation);
    let none_lost = laws::all_hold(lost, keys.len() as u64);
    [
        row(&name, "keys lost", 0.0, lost as f64, 0.0, Some(("no key lost", none_lost))),
        row(
            &name,
            "rate of wrong yeses",
            0.0,
            hits as f64 / probes as f64,
            law.high,
            Some(("wrong yeses", law)),
        ),
    ]
}

/// The hash of the distinct keys over buckets, by its low bits (registers) and its high ones (positions).
fn uniformity(keys: &[(&[u8], u64)]) -> Vec<Row> {
    /// As many as the law needs hits for, and no more than a thousand.
    const LEAST_HITS: usize = 10;
    let buckets = (keys.len() / LEAST_HITS).min(1024);
    if buckets < 2 {
        return Vec::new();
    }
    let (mut low, mut high) = (vec![0; buckets], vec![0; buckets]);
    for (key, _) in keys {
        let hash = WyHasher::default().hash_key(*key);
        low[pds_hash::reduce(hash.reverse_bits(), buckets as u64) as usize] += 1;
        high[pds_hash::reduce(hash, buckets as u64) as usize] += 1;
    }
    let line = |what: &str, counts: &[u64]| {
        let law = laws::chi_square_uniform(counts);
        row(
            "wyhash",
            &format!("chi-square / df, {what} bits, {buckets} buckets"),
            1.0,
            law.observed,
            law.high - 1.0,
            Some(("chi-square", law)),
        )
    };
    vec![line("low", &low), line("high", &high)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_of_a_distinct_count_is_kept_and_not_wide() {
        for (p, keys) in [(10, 200), (10, 1_000), (12, 900), (14, 3_600)] {
            let params = HllParams::with_precision(p).unwrap();
            let sigma = params.predicted_error(keys);
            for stream in 0..100 {
                let mut counter = HyperLogLog::new(params);
                counter.extend((0..keys).map(|key| key << 32 | stream));
                assert!(!counter.is_sparse());
                let bound = distinct_bound(params, false, sigma, keys);
                assert!((counter.estimate() - keys as f64).abs() <= bound, "p = {p}, {keys} keys");
                // Bernstein's bound of a Poisson variable beyond its mean, here of the keys that share a register; whole
                // keys on either side.
                let shared = (keys * keys) as f64 / (2.0 * params.registers() as f64);
                let log = -laws::ALPHA.ln();
                let beyond = (2.0 * shared * log).sqrt() + 2.0 / 3.0 * log + 2.0;
                let widest = beyond.max(laws::Z * sigma * keys as f64);
                assert!(bound <= widest, "p = {p}, {keys} keys: {bound}, not {widest}");
            }
        }
    }
}
