#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cortex::fuzz::cortexignore(bytes));
