//! Feeds `model_top_k` from libFuzzer.
#![cfg_attr(fuzzing, no_main)]

pds_fuzz::target!("model_top_k");
