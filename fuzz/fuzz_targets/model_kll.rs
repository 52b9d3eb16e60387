//! Feeds `model_kll` from libFuzzer.
#![cfg_attr(fuzzing, no_main)]

pds_fuzz::target!("model_kll");
