//! Feeds `model_space_saving` from libFuzzer.
#![cfg_attr(fuzzing, no_main)]

pds_fuzz::target!("model_space_saving");
