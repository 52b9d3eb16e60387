//! Feeds `model_growable_cuckoo` from libFuzzer.
#![cfg_attr(fuzzing, no_main)]

pds_fuzz::target!("model_growable_cuckoo");
