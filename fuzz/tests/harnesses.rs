//! The harnesses, fed by proptest with one seed: golden files, their mutations, and random histories.
//!
//! `PROPTEST_CASES` takes more cases for a longer run.

mod mutations;

use std::path::Path;

use mutations::{changed, changes};
use pds_fuzz::{TARGETS, golden_files, run, seeds};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Cases of each harness, unless `PROPTEST_CASES` says otherwise.
const CASES: u32 = 300;

/// Feeds the harness of a name: seeds as they are, then changed ones, or histories.
fn feed(name: &str) {
    let golden = golden_files().unwrap();
    let seeds = seeds(name, &golden);
    seeds.iter().for_each(|seed| run(name, seed));
    if name == "decode" {
        golden.iter().for_each(|(_, bytes)| run(name, bytes));
    }
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { Config::default().cases } else { CASES };
    // A failure is found again by its seed, which is always the same one.
    let config = Config { failure_persistence: None, ..Config::with_cases(cases) };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let history = vec(prop_oneof![4 => any::<u8>(), 1 => 0..16u8, 1 => 250..=255u8], 0..600);
    let mutation = (select(seeds), changes()).prop_map(|(seed, changes)| changed(&seed, &changes));
    let input = if name.starts_with("model") { history.boxed() } else { mutation.boxed() };
    let outcome = runner.run(&input, |bytes| {
        run(name, &bytes);
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{name}: {failure}");
    }
}

macro_rules! harnesses {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            feed(stringify!($name));
        })*

        #[test]
        fn every_harness_has_a_test_and_a_target() {
            let tested = [$(stringify!($name)),*];
            assert_eq!(TARGETS.iter().map(|target| target.0).collect::<Vec<_>>(), tested);
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz_targets");
            let mut programs: Vec<_> = std::fs::read_dir(folder)
                .unwrap()
                .map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
                .collect();
            programs.sort();
            let mut names = tested.to_vec();
            names.sort_unstable();
            assert_eq!(programs, names);
        }
    };
}
harnesses! {
    decode
    merge
    model_bloom
    model_blocked_bloom
    model_split_block_bloom
    model_scalable_bloom
    model_static_filter
    model_ribbon
    model_counting_bloom
    model_cuckoo
    model_growable_cuckoo
    model_windowed_bloom
    model_sliding_count_min
    model_decaying_count_min
    model_hyper_log_log
    model_ultra_log_log
    model_streaming_hyper_log_log
    model_theta
    model_count_min
    model_conservative_count_min
    model_count_sketch
    model_space_saving
    model_misra_gries
    model_top_k
    model_heavy_keeper
    model_ddsketch
    model_tdigest
    model_kll
}
