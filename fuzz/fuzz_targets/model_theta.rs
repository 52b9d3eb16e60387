//! Feeds `model_theta` from libFuzzer.
#![cfg_attr(fuzzing, no_main)]

pds_fuzz::target!("model_theta");
