//! Feeds every fuzz target its seeds and mutations of them, on a stable compiler.

#[path = "../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "public in the fuzz crate")]
mod targets;

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

/// Mutations of each seed.
const MUTATIONS: u64 = 1000;

/// Pieces that parsers trip over.
const TOKENS: [&[u8]; 28] = [
    b"\t",
    b"\n",
    b"\r\n",
    b"\r",
    b"\"",
    b"\"\"",
    b"\0",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xc3",
    b"\xe2\x80\xa8",
    b"NaN",
    b"-inf",
    b"1e999",
    b"-0.0",
    b"-1",
    b"0",
    b"18446744073709551616",
    b"{",
    b"[[",
    b"]",
    b"}",
    b"null",
    b"\\ud800",
    b"---\n",
    b": ",
    b"\"\"\"",
    b"a",
];

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

fn seeds(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = fuzz().join("seeds").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|err| panic!("{}: {err}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// SplitMix64: the same draws on every machine.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In `0..n`; 0 for none.
    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % (n.max(1) as u64)).unwrap()
    }
}

/// A few changes of a seed.
fn mutate(seed: &[u8], draws: &mut Draws) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=draws.below(3) {
        let at = draws.below(bytes.len() + 1);
        let end = (at + draws.below(24)).min(bytes.len());
        match draws.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << draws.below(8),
            1 => bytes.truncate(at),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let copy = bytes[at..end].to_vec();
                let to = draws.below(bytes.len() + 1);
                bytes.splice(to..to, copy);
            }
            4 => {
                // A line again, or away.
                let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
                let line = draws.below(lines.len());
                match draws.below(2) {
                    0 if line < lines.len() => lines.insert(line, lines[line]),
                    _ if line < lines.len() => drop(lines.remove(line)),
                    _ => {}
                }
                bytes = lines.concat();
            }
            _ => {
                let token = TOKENS[draws.below(TOKENS.len())].iter().copied();
                let replaced = if draws.below(2) == 0 { at..end } else { at..at };
                bytes.splice(replaced, token);
            }
        }
    }
    bytes
}

#[test]
fn no_target_fails_on_its_seeds_or_their_mutations() {
    for (name, target) in targets::TARGETS {
        let feed = |what: &str, bytes: &[u8]| {
            let fed = catch_unwind(AssertUnwindSafe(|| target(bytes)));
            fed.unwrap_or_else(|_| {
                panic!("target `{name}` failed on {what}: {:?}", String::from_utf8_lossy(bytes))
            })
        };
        feed("nothing", b"");
        let mut taken = [0, 0];
        for (path, seed) in seeds(name) {
            let path = path.display();
            taken[0] += u64::from(feed(&path.to_string(), &seed));
            for n in 0..MUTATIONS {
                let mutation = mutate(&seed, &mut Draws(n));
                taken[1] += u64::from(feed(&format!("mutation {n} of {path}"), &mutation));
            }
        }
        assert!(0 < taken[0], "`{name}` takes none of its seeds, so little of it is tested");
        assert!(taken[1] < MUTATIONS * seeds(name).len() as u64, "`{name}` takes anything");
    }
}

#[test]
fn every_target_has_seeds_a_binary_and_an_entry_in_the_manifest() {
    let names: Vec<&str> = targets::TARGETS.iter().map(|(name, _)| *name).collect();
    assert!(names.is_sorted(), "{names:?}");
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    for name in &names {
        assert!(!seeds(name).is_empty(), "fuzz/seeds/{name} is empty");
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "no `[[bin]]` for {name}");
        let binary = fs::read_to_string(fuzz().join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(binary.contains(&format!("cleanhit_fuzz::{name}(bytes)")), "{binary}");
    }
    let count = |folder: &str| fs::read_dir(fuzz().join(folder)).unwrap().count();
    assert_eq!(count("fuzz_targets"), names.len());
    assert_eq!(count("seeds"), names.len());
    assert_eq!(manifest.matches("[[bin]]").count(), names.len());
}
