//! The benchmark that comes with the project passes its own gate.

use std::path::{Path, PathBuf};

use cleanhit_eval::units::{Authoring, freeze, gate};
use cleanhit_io::{Benchmark, Folder};
use cleanhit_train::blind;

fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../queries/samecap-mini")
}

#[test]
fn every_unit_is_admitted_and_the_frozen_files_are_fresh() {
    let authoring = Authoring::load(&dir()).unwrap();
    let mut report = gate::check(&authoring);
    report.checks.extend(blind::audit(&authoring).checks(&authoring));
    println!("{report}");
    assert!(report.passed(), "{report}");
}

#[test]
fn the_frozen_benchmark_opens() {
    let authoring = Authoring::load(&dir()).unwrap();
    let bench = Benchmark::open(Folder::Disk(dir())).unwrap();
    assert_eq!(bench.name, authoring.config.name);
    let queries: usize = authoring.units.iter().map(|unit| unit.queries.len()).sum();
    assert_eq!(bench.n_queries(), queries);
    assert_eq!(bench.verify_all(), []);
}

#[test]
fn freezing_is_repeatable() {
    let freeze = || freeze(&Authoring::load(&dir()).unwrap()).unwrap();
    assert_eq!(freeze(), freeze());
}
