#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    cleanhit_fuzz::trec_run(bytes);
});
