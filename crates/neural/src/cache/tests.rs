//! The cache keeps what was embedded, whatever happens to its files.

use std::{
    fs,
    sync::atomic::Ordering,
    time::{Duration, SystemTime},
};

use cleanhit_core::{EmbeddingModel as _, Role};

use super::{index::files, *};
use crate::testing::Toy;

const DIM: usize = 24;

fn toy(root: &Path) -> Cached<Toy> {
    Cached::new(Toy::new(DIM), "model-1", "cpu", root)
}

fn embedded(model: &Cached<Toy>) -> usize {
    model.model().embedded.load(Ordering::Relaxed)
}

fn space(role: SpaceRole) -> Space {
    Space { model: "model-1".into(), role, device: "cpu".into(), dim: DIM }
}

fn texts(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("skill {i} about {}", i % 7)).collect()
}

fn refs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

fn only_file(folder: &Path) -> PathBuf {
    let files = files(folder).unwrap();
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

#[test]
fn a_second_run_embeds_nothing_and_gets_the_same_vectors() {
    let dir = tempfile::tempdir().unwrap();
    let texts = texts(700);
    let first = toy(dir.path());
    let vectors = first.embed(Role::Document, &refs(&texts)).unwrap();
    assert_eq!(vectors, Toy::new(DIM).embed(Role::Document, &refs(&texts)).unwrap());
    assert_eq!(first.counts(), CacheCounts { found: 0, embedded: 700 });
    let second = toy(dir.path());
    assert_eq!(second.embed(Role::Document, &refs(&texts)).unwrap(), vectors);
    assert_eq!(second.counts(), CacheCounts { found: 700, embedded: 0 });
    assert_eq!(embedded(&second), 0);
}

#[test]
fn one_changed_text_embeds_one_text() {
    let dir = tempfile::tempdir().unwrap();
    let mut texts = texts(40);
    toy(dir.path()).embed(Role::Document, &refs(&texts)).unwrap();
    texts[17].push('!');
    let model = toy(dir.path());
    let vectors = model.embed(Role::Document, &refs(&texts)).unwrap();
    assert_eq!(embedded(&model), 1);
    assert_eq!(vectors, Toy::new(DIM).embed(Role::Document, &refs(&texts)).unwrap());
}

#[test]
fn repeated_and_empty_texts_are_embedded_once_each() {
    let dir = tempfile::tempdir().unwrap();
    let model = toy(dir.path());
    let texts = ["b", "", "a", "b", "", "b"];
    let vectors = model.embed(Role::Document, &texts).unwrap();
    assert_eq!(embedded(&model), 3);
    assert_eq!(vectors, Toy::new(DIM).embed(Role::Document, &texts).unwrap());
    assert_eq!(model.embed(Role::Document, &[]).unwrap().len(), 0);
}

#[test]
fn the_same_text_in_both_roles_has_two_vectors() {
    let dir = tempfile::tempdir().unwrap();
    let model = toy(dir.path());
    let query = model.embed(Role::Query, &["a skill"]).unwrap();
    let document = model.embed(Role::Document, &["a skill"]).unwrap();
    assert_ne!(query, document);
    drop(model);
    let model = toy(dir.path());
    assert_eq!(model.embed(Role::Query, &["a skill"]).unwrap(), query);
    assert_eq!(model.embed(Role::Document, &["a skill"]).unwrap(), document);
    assert_eq!(embedded(&model), 0);
}

#[test]
fn another_model_device_or_dimension_is_another_space() {
    let dir = tempfile::tempdir().unwrap();
    toy(dir.path()).embed(Role::Document, &["a"]).unwrap();
    for (digest, device, dim) in
        [("model-2", "cpu", DIM), ("model-1", "cuda", DIM), ("model-1", "cpu", 8)]
    {
        let model = Cached::new(Toy::new(dim), digest, device, dir.path());
        model.embed(Role::Document, &["a"]).unwrap();
        assert_eq!(embedded(&model), 1, "{digest} {device} {dim}");
    }
    assert_eq!(stat(dir.path()).unwrap().len(), 4);
}

#[test]
fn a_damaged_vector_is_embedded_again_and_only_that() {
    let dir = tempfile::tempdir().unwrap();
    let texts = texts(30);
    let vectors = toy(dir.path()).embed(Role::Document, &refs(&texts)).unwrap();
    let folder = space(SpaceRole::Document).folder(dir.path());
    let path = only_file(&folder);
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 3;
    bytes[last] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let model = toy(dir.path());
    assert_eq!(model.embed(Role::Document, &refs(&texts)).unwrap(), vectors);
    assert_eq!(embedded(&model), 1);
    // The good copy is found beside the damaged one.
    drop(model);
    let model = toy(dir.path());
    assert_eq!(model.embed(Role::Document, &refs(&texts)).unwrap(), vectors);
    assert_eq!(embedded(&model), 0);
}

#[test]
fn a_file_cut_at_any_length_is_as_if_it_were_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let vectors = toy(dir.path()).embed(Role::Document, &["a", "b"]).unwrap();
    let folder = space(SpaceRole::Document).folder(dir.path());
    let path = only_file(&folder);
    let bytes = fs::read(&path).unwrap();
    for len in [0, 1, 79, 80, 100, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&path, &bytes[..len]).unwrap();
        let model = toy(dir.path());
        assert_eq!(model.embed(Role::Document, &["a", "b"]).unwrap(), vectors, "cut at {len}");
        assert_eq!(embedded(&model), 2, "cut at {len}");
    }
    // A flipped bit anywhere in the header or the tables is noticed too.
    for at in (0..TABLE_END).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        fs::write(&path, &damaged).unwrap();
        let model = toy(dir.path());
        assert_eq!(model.embed(Role::Document, &["a", "b"]).unwrap(), vectors, "bit at {at}");
    }
}

/// Header and tables of two rows.
const TABLE_END: usize = 80 + 2 * 40;

#[test]
fn a_space_of_something_else_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    toy(dir.path()).embed(Role::Document, &["a"]).unwrap();
    let path = space(SpaceRole::Document).folder(dir.path()).join("space.json");
    fs::write(&path, "{}").unwrap();
    let err = toy(dir.path()).embed(Role::Document, &["a"]).unwrap_err().to_string();
    assert!(err.contains("is not the space it is named for"), "{err}");
    assert_eq!(err.lines().count(), 1);
}

#[test]
fn a_folder_that_cannot_be_made_is_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let err = toy(&file).embed(Role::Document, &["a"]).unwrap_err().to_string();
    assert!(err.starts_with("cache ") && err.lines().count() == 1, "{err}");
}

#[test]
fn gc_merges_drops_damage_and_leftovers_and_changes_no_vector() {
    let dir = tempfile::tempdir().unwrap();
    let texts = texts(1200);
    let vectors = toy(dir.path()).embed(Role::Document, &refs(&texts)).unwrap();
    let folder = space(SpaceRole::Document).folder(dir.path());
    assert_eq!(files(&folder).unwrap().len(), 3);
    fs::write(folder.join("0bad.vectors"), "not vectors").unwrap();
    let left = folder.join(".tmp-left");
    fs::write(&left, "half").unwrap();
    let open = toy(dir.path());
    open.embed(Role::Document, &refs(&texts[..1])).unwrap();
    let report = gc(dir.path(), None).unwrap();
    assert_eq!((report.spaces, report.merged_files, report.damaged), (1, 3, 1));
    // A young temporary file may be another process' work.
    assert!(left.exists() && report.abandoned == 0);
    let old = SystemTime::now() - Duration::from_secs(2 * 60 * 60);
    fs::File::options().append(true).open(&left).unwrap().set_modified(old).unwrap();
    assert_eq!(gc(dir.path(), None).unwrap().abandoned, 1);
    assert!(!left.exists());
    only_file(&folder);
    for model in [open, toy(dir.path())] {
        assert_eq!(model.embed(Role::Document, &refs(&texts)).unwrap(), vectors);
        assert_eq!(embedded(&model), 0);
    }
    let again = gc(dir.path(), None).unwrap();
    assert_eq!((again.merged_files, again.damaged), (0, 0));
    assert_eq!(again.bytes_before, again.bytes_after);
    let removed = gc(dir.path(), Some(Duration::ZERO)).unwrap();
    assert_eq!((removed.removed_spaces, removed.spaces), (1, 0));
    assert!(stat(dir.path()).unwrap().is_empty());
}

#[test]
fn stat_of_no_cache_is_empty() {
    let dir = tempfile::tempdir().unwrap();
    assert!(stat(&dir.path().join("none")).unwrap().is_empty());
}

#[test]
fn threads_that_share_a_cache_agree() {
    let dir = tempfile::tempdir().unwrap();
    let texts = texts(300);
    let expected = Toy::new(DIM).embed(Role::Document, &refs(&texts)).unwrap();
    std::thread::scope(|scope| {
        for start in 0..6 {
            let (texts, expected, root) = (&texts, &expected, dir.path());
            scope.spawn(move || {
                let model = toy(root);
                for at in (start..300).step_by(50) {
                    let got = model.embed(Role::Document, &refs(&texts[at..])).unwrap();
                    assert_eq!(got.values(), &expected.values()[at * DIM..]);
                    if start == 0 {
                        gc(root, None).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(stat(dir.path()).unwrap()[0].vectors, 300);
}

/// Environment of the processes of the next test: the cache's folder.
const CHILD: &str = "CLEANHIT_TEST_CACHE";

/// Not a test of its own: what the next test starts as processes.
#[test]
fn child_embeds_slowly() {
    let Ok(root) = std::env::var(CHILD) else { return };
    let model = toy(Path::new(&root));
    for text in texts(4000).chunks(40) {
        model.embed(Role::Document, &refs(text)).unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn two_processes_and_a_kill_leave_a_sound_cache() {
    let dir = tempfile::tempdir().unwrap();
    let exe = std::env::current_exe().unwrap();
    let start = || {
        std::process::Command::new(&exe)
            .args(["--exact", "cache::tests::child_embeds_slowly", "--nocapture"])
            .env(CHILD, dir.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let (mut one, mut other) = (start(), start());
    // Until both have written: then one is killed in the middle.
    let folder = space(SpaceRole::Document).folder(dir.path());
    let begun = std::time::Instant::now();
    while files(&folder).map_or(0, |files| files.len()) < 6 {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing was written");
        std::thread::sleep(Duration::from_millis(1));
    }
    one.kill().unwrap();
    one.wait().unwrap();
    assert!(other.wait().unwrap().success());
    let texts = texts(4000);
    let model = toy(dir.path());
    let vectors = model.embed(Role::Document, &refs(&texts)).unwrap();
    assert_eq!(vectors, Toy::new(DIM).embed(Role::Document, &refs(&texts)).unwrap());
    assert_eq!(embedded(&model), 0, "the process that lived embedded them all");
    assert_eq!(stat(dir.path()).unwrap()[0].damaged, 0);
}
