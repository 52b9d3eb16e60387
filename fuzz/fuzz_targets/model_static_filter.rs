//! Feeds `model_static_filter` from libFuzzer.
#![cfg_attr(fuzzing, no_main)]

pds_fuzz::target!("model_static_filter");
