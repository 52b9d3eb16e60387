//! Feeds `model_blocked_bloom` from libFuzzer.
#![cfg_attr(fuzzing, no_main)]

pds_fuzz::target!("model_blocked_bloom");
