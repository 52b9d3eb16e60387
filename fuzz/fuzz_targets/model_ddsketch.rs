//! Feeds `model_ddsketch` from libFuzzer.
#![cfg_attr(fuzzing, no_main)]

pds_fuzz::target!("model_ddsketch");
