#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    cleanhit_fuzz::metrics(bytes);
});
