//! Feeds `model_heavy_keeper` from libFuzzer.
#![cfg_attr(fuzzing, no_main)]

pds_fuzz::target!("model_heavy_keeper");
