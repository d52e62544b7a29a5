//! A journal keeps what was answered, whatever happens to its file.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use cleanhit_core::{BoxError, ChatModel, Decoding, Message, QueryText, Reply, Scorer, Speaker};

use super::{file::ANSWERS, *};

const GREEDY: Decoding = Decoding { max_tokens: 20, temperature: 0.0, seed: 0 };

/// Answers with its question, and counts.
#[derive(Default)]
struct Echo {
    asked: AtomicUsize,
}

impl ChatModel for Echo {
    fn reply(&self, messages: &[Message], decoding: &Decoding) -> Result<Reply, BoxError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let text: Vec<&str> = messages.iter().map(|message| message.text.as_str()).collect();
        let text = format!("{} {}", text.join("\n"), decoding.seed);
        Ok(Reply { prompt_tokens: text.len(), reply_tokens: 2, finished: true, text })
    }
}

impl Scorer for Echo {
    fn score(&self, query: QueryText<'_>, texts: &[&str]) -> Result<Vec<f64>, BoxError> {
        self.asked.fetch_add(texts.len(), Ordering::Relaxed);
        let score = |text: &&str| (text.len() as f64 + 0.1) / (query.as_str().len() as f64 + 3.0);
        Ok(texts.iter().map(score).collect())
    }
}

fn subject() -> Subject {
    Subject { name: "echo".into(), model: "digest-1".into(), device: "cpu".into() }
}

fn journal(root: &Path) -> Arc<Journal> {
    Arc::new(Journal::open(root, &subject()).unwrap())
}

fn answers(root: &Path) -> PathBuf {
    subject().folder(root).join(ANSWERS)
}

fn ask(model: &Journalled<Echo>, text: &str) -> Reply {
    model.reply(&[Message::new(Speaker::User, text)], &GREEDY).unwrap()
}

/// Asks `n` questions; the replies, and how many the model was asked.
fn asked(root: &Path, n: usize) -> (Vec<Reply>, JournalCounts) {
    let model = Journalled::new(Echo::default(), journal(root));
    let replies = (0..n).map(|i| ask(&model, &format!("question {i}\n\"quoted\" é"))).collect();
    (replies, model.counts())
}

#[test]
fn a_second_run_asks_nothing_and_gets_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let (first, counts) = asked(dir.path(), 5);
    assert_eq!(counts, JournalCounts { found: 0, asked: 5 });
    let bytes = fs::read(answers(dir.path())).unwrap();
    let (second, counts) = asked(dir.path(), 5);
    assert_eq!(counts, JournalCounts { found: 5, asked: 0 });
    assert_eq!(first, second);
    assert_eq!(fs::read(answers(dir.path())).unwrap(), bytes, "nothing is written again");
    assert_eq!(asked(dir.path(), 7).1, JournalCounts { found: 5, asked: 2 });
}

#[test]
fn scores_are_kept_one_by_one() {
    let dir = tempfile::tempdir().unwrap();
    let score = |query: &str, texts: &[&str]| {
        let scorer = JournalledScorer::new(Echo::default(), journal(dir.path()));
        let scores = scorer.score(QueryText::new(query), texts).unwrap();
        assert_eq!(scores, Echo::default().score(QueryText::new(query), texts).unwrap());
        (scorer.counts().found, scorer.counts().asked)
    };
    assert_eq!(score("q", &["a", "bb"]), (0, 2));
    assert_eq!(score("q", &["ccc", "bb", "a", "a"]), (3, 1));
    assert_eq!(score("other", &["a"]), (0, 1));
    assert_eq!(score("q", &[]), (0, 0));
    let many: Vec<String> = (0..100).map(|i| "x".repeat(i)).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(score("many", &many), (0, 100));
    assert_eq!(journal(dir.path()).len(), 2 + 1 + 1 + 100);
}

#[test]
fn what_is_not_a_number_is_not_kept() {
    struct Broken;
    impl Scorer for Broken {
        fn score(&self, _: QueryText<'_>, texts: &[&str]) -> Result<Vec<f64>, BoxError> {
            Ok(texts.iter().map(|text| if text.is_empty() { f64::NAN } else { 1.0 }).collect())
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let scorer = JournalledScorer::new(Broken, journal(dir.path()));
    let scores = scorer.score(QueryText::new("q"), &["", "a"]).unwrap();
    assert_eq!(scores.iter().map(|score| score.is_nan()).collect::<Vec<_>>(), [true, false]);
    assert_eq!(journal(dir.path()).len(), 1);
}

#[test]
fn another_model_or_device_has_another_journal() {
    let dir = tempfile::tempdir().unwrap();
    asked(dir.path(), 1);
    for other in [
        Subject { model: "digest-2".into(), ..subject() },
        Subject { device: "cuda".into(), ..subject() },
    ] {
        assert!(Journal::open(dir.path(), &other).unwrap().is_empty(), "{other:?}");
    }
    // The name is for people.
    let renamed = Subject { name: "renamed".into(), ..subject() };
    assert_eq!(Journal::open(dir.path(), &renamed).unwrap().len(), 1);
    assert_eq!(stat(dir.path()).unwrap().len(), 3);
}

#[test]
fn a_torn_last_line_is_cut_off_wherever_it_is_torn() {
    let dir = tempfile::tempdir().unwrap();
    let (replies, _) = asked(dir.path(), 3);
    let path = answers(dir.path());
    let bytes = fs::read(&path).unwrap();
    let last = bytes[..bytes.len() - 1].iter().rposition(|&b| b == b'\n').unwrap() + 1;
    for end in last..bytes.len() {
        fs::write(&path, &bytes[..end]).unwrap();
        let (again, counts) = asked(dir.path(), 3);
        assert_eq!((&again, counts.asked), (&replies, 1), "torn at {end}");
        assert_eq!(fs::read(&path).unwrap(), bytes, "torn at {end}");
    }
}

#[test]
fn a_damaged_line_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    asked(dir.path(), 3);
    let path = answers(dir.path());
    let bytes = fs::read(&path).unwrap();
    let first = bytes.iter().position(|&b| b == b'\n').unwrap();
    let refused = |bytes: &[u8], line: usize| {
        fs::write(&path, bytes).unwrap();
        let err = Journal::open(dir.path(), &subject()).unwrap_err().to_string();
        let start = format!("journal {}:{line}: the line is damaged: ", path.display());
        assert!(err.starts_with(&start) && err.lines().count() == 1, "{err}");
        assert!(err.ends_with("`cleanhit cache gc` drops it"), "{err}");
    };
    let mut changed = bytes.clone();
    let at = bytes.windows(8).position(|part| part == b"question").unwrap();
    changed[at] = b'Q';
    refused(&changed, 1);
    let mut changed = bytes.clone();
    changed.splice(first + 1..first + 1, *b"\n");
    refused(&changed, 2);
    let mut changed = bytes.clone();
    changed.splice(first + 5..first + 9, []);
    refused(&changed, 2);
    refused(&[&bytes[..], b"{}\n"].concat(), 4);
    assert_eq!(stat(dir.path()).unwrap()[0].damaged, 1);
    let report = gc(dir.path(), None).unwrap();
    assert_eq!((report.journals, report.damaged), (1, 1));
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn gc_removes_what_was_not_used() {
    let dir = tempfile::tempdir().unwrap();
    asked(dir.path(), 3);
    let path = answers(dir.path());
    let bytes = fs::metadata(&path).unwrap().len();
    fs::write(subject().folder(dir.path()).join("notes.txt"), "").unwrap();
    let report = gc(dir.path(), Some(Duration::from_secs(3600))).unwrap();
    let expected =
        JournalGc { journals: 1, bytes_before: bytes, bytes_after: bytes, ..JournalGc::default() };
    assert_eq!(report, expected);
    let report = gc(dir.path(), Some(Duration::ZERO)).unwrap();
    assert_eq!((report.removed, report.journals, report.bytes_after), (1, 0, 0));
    assert!(stat(dir.path()).unwrap().is_empty());
    assert!(stat(&dir.path().join("none")).unwrap().is_empty());
}

#[test]
fn a_folder_of_something_else_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    asked(dir.path(), 1);
    fs::write(subject().folder(dir.path()).join("journal.json"), "{}").unwrap();
    let err = Journal::open(dir.path(), &subject()).unwrap_err().to_string();
    assert!(err.contains("is not the journal it is named for"), "{err}");
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let err = Journal::open(&file, &subject()).unwrap_err().to_string();
    assert!(err.starts_with("journal ") && err.lines().count() == 1, "{err}");
}

#[test]
fn two_that_are_open_see_each_others_answers() {
    let dir = tempfile::tempdir().unwrap();
    let one = Journalled::new(Echo::default(), journal(dir.path()));
    let other = Journalled::new(Echo::default(), journal(dir.path()));
    let reply = ask(&one, "a");
    assert_eq!(ask(&other, "a"), reply);
    ask(&other, "b");
    ask(&one, "b");
    assert_eq!((one.counts().asked, other.counts().asked), (1, 1));
    assert_eq!(fs::read_to_string(answers(dir.path())).unwrap().lines().count(), 2);
}

#[test]
fn threads_share_a_journal() {
    let dir = tempfile::tempdir().unwrap();
    let shared = Journalled::new(Echo::default(), journal(dir.path()));
    std::thread::scope(|scope| {
        for start in 0..4 {
            let (shared, root) = (&shared, dir.path());
            scope.spawn(move || {
                let own = Journalled::new(Echo::default(), journal(root));
                for i in 0..40 {
                    let text = format!("{}", (i + start * 7) % 40);
                    assert_eq!(ask(shared, &text), ask(&own, &text));
                }
            });
        }
    });
    let text = fs::read_to_string(answers(dir.path())).unwrap();
    assert_eq!(text.lines().count(), 40, "each question once");
}

/// Environment of the processes of the next test: the journals' folder.
const CHILD: &str = "CLEANHIT_TEST_JOURNAL";

/// Questions of the next test.
const QUESTIONS: usize = 300;

/// Not a test of its own: what the next test starts as processes.
#[test]
fn child_asks_slowly() {
    let Ok(root) = std::env::var(CHILD) else { return };
    let model = Journalled::new(Echo::default(), journal(Path::new(&root)));
    for i in 0..QUESTIONS {
        ask(&model, &format!("question {i}\n\"quoted\" é"));
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn two_processes_and_a_kill_leave_a_sound_journal() {
    let dir = tempfile::tempdir().unwrap();
    let exe = std::env::current_exe().unwrap();
    let start = || {
        std::process::Command::new(&exe)
            .args(["--exact", "journal::tests::child_asks_slowly", "--nocapture"])
            .env(CHILD, dir.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let lines = || fs::read(answers(dir.path())).map_or(0, |b| b.split(|&c| c == b'\n').count());
    let (mut one, mut other) = (start(), start());
    let begun = std::time::Instant::now();
    while lines() < 20 {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing was written");
        std::thread::sleep(Duration::from_millis(1));
    }
    one.kill().unwrap();
    one.wait().unwrap();
    assert!(lines() < QUESTIONS, "it was killed in the middle");
    assert!(other.wait().unwrap().success());
    let (replies, counts) = asked(dir.path(), QUESTIONS);
    assert_eq!(counts.asked, 0, "the process that lived asked them all");
    let expected = tempfile::tempdir().unwrap();
    assert_eq!(replies, asked(expected.path(), QUESTIONS).0);
    let text = fs::read_to_string(answers(dir.path())).unwrap();
    assert_eq!(text.lines().count(), QUESTIONS, "each question once");
}
