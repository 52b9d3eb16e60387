//! Feeds `model_hyper_log_log` from libFuzzer.
#![cfg_attr(fuzzing, no_main)]

pds_fuzz::target!("model_hyper_log_log");
