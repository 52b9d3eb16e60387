//! Feeds `model_streaming_hyper_log_log` from libFuzzer.
#![cfg_attr(fuzzing, no_main)]

pds_fuzz::target!("model_streaming_hyper_log_log");
