//! The list of harnesses.

use crate::models::{cardinality, counts, filters, lists, quantiles, removals, windows};

/// A harness by its name, which is that of its target too.
pub type Target = (&'static str, fn(&[u8]));

/// Every harness.
pub const TARGETS: &[Target] = &[
    ("decode", crate::decode),
    ("merge", crate::merge),
    ("model_bloom", filters::bloom),
    ("model_blocked_bloom", filters::blocked),
    ("model_split_block_bloom", filters::split_block),
    ("model_scalable_bloom", filters::scalable),
    ("model_static_filter", filters::static_filter),
    ("model_ribbon", filters::ribbon),
    ("model_counting_bloom", removals::counting),
    ("model_cuckoo", removals::cuckoo),
    ("model_growable_cuckoo", removals::growable),
    ("model_windowed_bloom", windows::windowed),
    ("model_sliding_count_min", windows::sliding),
    ("model_decaying_count_min", windows::decaying),
    ("model_hyper_log_log", cardinality::hyper_log_log),
    ("model_ultra_log_log", cardinality::ultra_log_log),
    ("model_streaming_hyper_log_log", cardinality::streaming),
    ("model_theta", cardinality::theta),
    ("model_count_min", counts::count_min),
    ("model_conservative_count_min", counts::conservative),
    ("model_count_sketch", counts::count_sketch),
    ("model_space_saving", lists::space_saving),
    ("model_misra_gries", lists::misra_gries),
    ("model_top_k", lists::top_k),
    ("model_heavy_keeper", lists::heavy_keeper),
    ("model_ddsketch", quantiles::ddsketch),
    ("model_tdigest", quantiles::tdigest),
    ("model_kll", quantiles::kll),
];

/// The program of a target: feeds the harness of this name from libFuzzer, or does nothing where that is not there.
#[cfg(fuzzing)]
#[macro_export]
macro_rules! target {
    ($name:literal) => {
        $crate::libfuzzer_sys::fuzz_target!(|data: &[u8]| $crate::run($name, data));
    };
}

/// The program of a target: feeds the harness of this name from libFuzzer, or does nothing where that is not there.
#[cfg(not(fuzzing))]
#[macro_export]
macro_rules! target {
    ($name:literal) => {
        fn main() {
            eprintln!("{} needs libFuzzer: cargo xtask fuzz {}", $name, $name);
        }
    };
}

/// Runs the harness of a name.
///
/// # Panics
///
/// If there is none, or if a promise is broken.
pub fn run(name: &str, data: &[u8]) {
    let (_, harness) = TARGETS.iter().find(|target| target.0 == name).expect("the name of a harness");
    harness(data);
}
