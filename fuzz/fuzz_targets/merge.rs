//! Feeds `merge` from libFuzzer.
#![cfg_attr(fuzzing, no_main)]

pds_fuzz::target!("merge");
