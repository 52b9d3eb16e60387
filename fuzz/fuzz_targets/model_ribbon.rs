//! Feeds `model_ribbon` from libFuzzer.
#![cfg_attr(fuzzing, no_main)]

pds_fuzz::target!("model_ribbon");
