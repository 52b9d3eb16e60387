//! Feeds `model_count_sketch` from libFuzzer.
#![cfg_attr(fuzzing, no_main)]

pds_fuzz::target!("model_count_sketch");
