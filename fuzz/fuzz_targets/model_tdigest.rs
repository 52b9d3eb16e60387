//! Feeds `model_tdigest` from libFuzzer.
#![cfg_attr(fuzzing, no_main)]

pds_fuzz::target!("model_tdigest");
