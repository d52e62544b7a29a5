//! Models come from where they should, and wrong ones don't.

mod server;

use std::cell::RefCell;

use self::server::{COMMIT, Faults, REPOSITORY, Server};
use super::*;

const WEIGHTS: &str = "model.safetensors";

fn files() -> Vec<(&'static str, Vec<u8>)> {
    let weights: Vec<u8> =
        (0u32..60_000).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    vec![
        ("config.json", b"{}".to_vec()),
        ("tokenizer.json", b"{\"t\": 1}".to_vec()),
        ("1_Pooling/config.json", b"{\"p\": 1}".to_vec()),
        ("onnx/model.onnx", b"not needed".to_vec()),
        ("pytorch_model.bin", b"not needed".to_vec()),
        ("README.md", b"not needed".to_vec()),
        (WEIGHTS, weights),
    ]
}

struct World {
    server: Server,
    dir: tempfile::TempDir,
    settings: HubSettings,
    source: ModelSource,
}

impl World {
    fn new(files: &[(&'static str, Vec<u8>)]) -> World {
        let (server, dir) = (Server::start(files), tempfile::tempdir().unwrap());
        let settings = HubSettings {
            endpoint: server.endpoint.clone(),
            cache: dir.path().join("hub"),
            token: None,
            offline: false,
            proxied: false,
        };
        let source = ModelSource {
            repository: REPOSITORY.into(),
            revision: COMMIT.into(),
            sha256: BTreeMap::new(),
        };
        World { server, dir, settings, source }
    }

    fn models(&self) -> PathBuf {
        self.dir.path().join("models")
    }

    fn get(&self) -> Result<Located, HubError> {
        locate_or_fetch("small", &self.source, &self.models(), &self.settings, &())
    }

    fn err(&self) -> String {
        let message = self.get().unwrap_err().to_string();
        assert_eq!(message.lines().count(), 1, "{message}");
        message
    }
}

#[test]
fn a_model_is_fetched_once_and_then_found_without_the_network() {
    let mut world = World::new(&files());
    let first = world.get().unwrap();
    assert_eq!(first.place, Place::HubCache);
    for (name, bytes) in files() {
        let path = first.folder.join(name);
        match name.contains("onnx") || name.contains("README") || name.contains("pytorch") {
            true => assert!(!path.exists(), "{name} is not needed"),
            false => assert_eq!(fs::read(path).unwrap(), bytes, "{name}"),
        }
    }
    assert!(!world.server.requests().is_empty());
    assert_eq!(world.get().unwrap(), first);
    world.settings.offline = true;
    assert_eq!(world.get().unwrap(), first);
    assert_eq!(world.server.requests(), Vec::<String>::new());
    let record = fs::read_to_string(world.models().join("small.fetched.json")).unwrap();
    assert!(record.contains(COMMIT) && record.contains(&world.server.sha256(WEIGHTS)), "{record}");
}

#[test]
fn a_folder_of_the_users_goes_before_the_cache_and_the_hub() {
    let world = World::new(&files());
    world.get().unwrap();
    let own = world.models().join("small");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join(WEIGHTS), "mine").unwrap();
    let located = world.get().unwrap();
    assert_eq!(located, Located { folder: own, place: Place::Models });
}

#[test]
fn an_interrupted_fetch_is_resumed() {
    let world = World::new(&files());
    world.server.set(Faults { cut_after: Some(10_000), ..Faults::default() });
    let message = world.err();
    assert!(message.contains("no weights in") && message.contains("cannot be asked"), "{message}");
    world.server.requests();
    world.server.set(Faults::default());
    let located = world.get().unwrap();
    let weights = files().pop().unwrap().1;
    assert_eq!(fs::read(located.folder.join(WEIGHTS)).unwrap(), weights);
    let resumed = format!("/{REPOSITORY}/resolve/{COMMIT}/{WEIGHTS} ");
    let asked: Vec<String> = world.server.requests();
    let start = asked.iter().filter_map(|line| line.strip_prefix(&resumed)).next_back().unwrap();
    assert!(start.ends_with('-') && !start.starts_with("0-"), "{asked:?}");
}

#[test]
fn a_redirect_to_where_large_files_are_is_followed() {
    let world = World::new(&files());
    world.server.set(Faults { redirect: true, ..Faults::default() });
    let located = world.get().unwrap();
    assert_eq!(fs::read(located.folder.join(WEIGHTS)).unwrap(), files().pop().unwrap().1);
}

#[test]
fn wrong_bytes_are_refused_and_removed() {
    let mut world = World::new(&files());
    world.server.set(Faults { corrupt: true, ..Faults::default() });
    // The hub's own name for the file says what it should be.
    let message = world.err();
    assert!(
        message.contains("expected") && message.ends_with("; the file was removed"),
        "{message}"
    );
    assert!(locate("small", &world.source, &world.models(), &world.settings).unwrap().is_none());
    world.server.set(Faults::default());
    world.get().unwrap();
    // A card that says otherwise is believed, offline too.
    world.source.sha256.insert("tokenizer.json".into(), "0".repeat(64));
    let message = world.err();
    assert!(
        message.contains("tokenizer.json: sha256 is") && message.ends_with(&"0".repeat(64)),
        "{message}"
    );
}

#[test]
fn a_file_that_changed_since_it_was_fetched_is_noticed() {
    let world = World::new(&files());
    let folder = world.get().unwrap().folder;
    let blob = fs::canonicalize(folder.join(WEIGHTS)).unwrap();
    let mut bytes = fs::read(&blob).unwrap();
    bytes[777] ^= 4;
    fs::write(&blob, bytes).unwrap();
    assert!(world.err().contains(&format!("{WEIGHTS}: sha256 is")));
}

#[test]
fn a_part_longer_than_the_file_does_not_block_the_fetch() {
    let world = World::new(&files());
    let blobs = world.settings.cache.join("models--acme--small-model/blobs");
    fs::create_dir_all(&blobs).unwrap();
    let part = blobs.join(format!("{}.part", world.server.sha256(WEIGHTS)));
    fs::write(part, vec![7; 1_000_000]).unwrap();
    world.get().unwrap();
}

#[test]
fn refusals_say_what_is_missing() {
    let mut world = World::new(&files());
    world.source.revision = "f".repeat(40);
    assert_eq!(
        world.err(),
        format!(
            "{REPOSITORY}: the hub has no revision `{}` of it (HTTP 404); expected one that was not removed",
            "f".repeat(40)
        )
    );
    world.source.revision = "main".into();
    world.server.set(Faults { token: Some("secret"), ..Faults::default() });
    assert_eq!(
        world.err(),
        format!(
            "{REPOSITORY}: the hub refuses it (HTTP 401); expected HF_TOKEN to hold a token that may read it"
        )
    );
    world.settings.token = Some("secret".into());
    assert!(world.get().is_ok(), "a branch is resolved");
    assert!(!world.source.is_pinned());
}

#[test]
fn no_network_and_offline_name_the_remedy() {
    let mut world = World::new(&files());
    world.settings.offline = true;
    let message = world.err();
    assert!(
        message.contains("HF_HUB_OFFLINE is set; run `cleanhit models fetch` with the card"),
        "{message}"
    );
    world.settings.offline = false;
    world.settings.endpoint = "http://127.0.0.1:9".into();
    let message = world.err();
    assert!(message.contains("http://127.0.0.1:9 cannot be asked"), "{message}");
    assert!(message.contains("put the files of acme/small-model at 0123"), "{message}");
    world.settings.endpoint = "ftp://x".into();
    assert!(world.err().contains("expected HF_ENDPOINT to start with"));
}

#[test]
fn a_repository_without_safetensors_is_refused() {
    let world =
        World::new(&[("config.json", b"{}".to_vec()), ("pytorch_model.bin", b"x".to_vec())]);
    assert!(world.err().ends_with("has no `model.safetensors`, whole or in shards"));
}

#[test]
fn shards_are_fetched_with_their_index() {
    let shards = [
        ("config.json", b"{}".to_vec()),
        ("model.safetensors.index.json", b"{}".to_vec()),
        ("model-00001-of-00002.safetensors", vec![1; 5000]),
        ("model-00002-of-00002.safetensors", vec![2; 5000]),
        ("model-notes.safetensors", vec![3; 10]),
    ];
    let world = World::new(&shards);
    let folder = world.get().unwrap().folder;
    assert!(folder.join("model-00002-of-00002.safetensors").is_file());
    assert!(!folder.join("model-notes.safetensors").exists());
}

#[test]
fn of_many_gguf_files_the_one_with_a_hash_is_fetched() {
    let files = [
        ("config.json", b"{}".to_vec()),
        ("model.Q4_1.gguf", vec![4; 5000]),
        ("model.Q8_0.gguf", vec![8; 9000]),
        ("generation_config.json", b"{}".to_vec()),
    ];
    let mut world = World::new(&files);
    assert!(world.err().ends_with("has no `model.safetensors`, whole or in shards"));
    let hash = hex::encode(Sha256::digest(vec![4; 5000]));
    world.source.sha256.insert("model.Q4_1.gguf".into(), hash.clone());
    let folder = world.get().unwrap().folder;
    let there = |file: &str| folder.join(file).is_file();
    assert!(there("model.Q4_1.gguf") && there("generation_config.json"));
    assert!(!there("model.Q8_0.gguf"));
    // It is found again, and another one beside it is not taken for it.
    assert_eq!(world.get().unwrap().folder, folder);
    world.source.sha256 = BTreeMap::from([("model.Q2_K.gguf".to_owned(), hash)]);
    assert!(world.err().ends_with("has no GGUF file of which the card has a hash"));
}

#[test]
fn sources_that_are_none_are_refused() {
    let mut world = World::new(&files());
    for repository in ["model", "../x/y", "a/b/c", "a/", "a/..", ""] {
        world.source.repository = repository.into();
        assert!(world.err().starts_with("field `repository`: "), "{repository}");
    }
    world.source.repository = REPOSITORY.into();
    for revision in ["", "../..", "a b"] {
        world.source.revision = revision.into();
        assert!(world.err().starts_with("field `revision`: "), "{revision}");
    }
    world.source.revision = COMMIT.into();
    world.source.sha256.insert("../secret".into(), "0".repeat(64));
    assert!(world.err().contains("expected a path inside the repository"));
}

#[derive(Default)]
struct Heard(RefCell<Vec<String>>, RefCell<u64>);

impl FetchProgress for Heard {
    fn begin(&self, file: &str, bytes: u64) {
        self.0.borrow_mut().push(format!("{file} {bytes}"));
    }

    fn advance(&self, bytes: u64) {
        *self.1.borrow_mut() += bytes;
    }

    fn end(&self) {}
}

#[test]
fn progress_counts_every_byte() {
    let world = World::new(&files());
    let heard = Heard::default();
    let fetched = fetch("small", &world.source, &world.models(), &world.settings, &heard).unwrap();
    assert_eq!(fetched.commit, COMMIT);
    assert_eq!(fetched.sha256.len(), 4);
    let bytes = |(name, bytes): (&str, Vec<u8>)| {
        fetched.sha256.contains_key(name).then_some(bytes.len() as u64)
    };
    assert_eq!(*heard.1.borrow(), files().into_iter().filter_map(bytes).sum::<u64>());
    assert!(heard.0.borrow().last().unwrap().starts_with(WEIGHTS), "weights come last");
}
