//! Feeds `model_decaying_count_min` from libFuzzer.
#![cfg_attr(fuzzing, no_main)]

pds_fuzz::target!("model_decaying_count_min");
