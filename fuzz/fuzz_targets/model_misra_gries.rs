//! Feeds `model_misra_gries` from libFuzzer.
#![cfg_attr(fuzzing, no_main)]

pds_fuzz::target!("model_misra_gries");
