//! Feeds `model_scalable_bloom` from libFuzzer.
#![cfg_attr(fuzzing, no_main)]

pds_fuzz::target!("model_scalable_bloom");
