use std::{fs, path::PathBuf};

use cleanhit_core::DocIx;
use cleanhit_io::{Benchmark, Folder};

use super::{read::NAME, *};
use crate::testing::{CASES, FAMILIES, Fixture, HEADER, bench, pool, texts, write};

fn errors(cases: &str) -> Vec<String> {
    let fixture = bench(cases, FAMILIES);
    let errors = Cases::read(&fixture.bench).unwrap_err();
    let prefix = format!("{}/", fixture.dir.path().display());
    texts(&errors).iter().map(|error| error.replace(&prefix, "")).collect()
}

fn edited(from: &str, to: &str) -> Vec<String> {
    assert!(CASES.contains(from), "{from}");
    errors(&CASES.replacen(from, to, 1))
}

#[test]
fn cases_are_read_in_the_benchmarks_order() {
    let fixture = Fixture::fixed();
    let cases = fixture.cases();
    let mut reversed: Vec<&str> = CASES.lines().collect();
    reversed.reverse();
    let other = bench(&format!("{}\n", reversed.join("\n")), FAMILIES);
    assert!(cases.iter().eq(other.cases().iter()));
    assert_eq!((cases.len(), cases.units(), cases.lineage_known()), (8, 6, true));
    let case = cases.get("q3").unwrap();
    let pool = &fixture.bench.pools[0].pool;
    assert_eq!((Some(case.helpful), Some(case.sibling)), (pool.position("c"), pool.position("d")));
    assert_eq!((case.counted, case.development, case.stratum), (true, false, Stratum::Single));
    assert_eq!((case.mechanism, &*case.domain), (Mechanism::ResourceBinding, "web"));
    assert!(cases.get("q4").unwrap().development);
    assert_eq!(cases.sources(), ["controlled", "math", "web"]);
    let types =
        ["resource_identity", "computation_rule", "normative_vs_empirical", "planned_vs_occurred"];
    assert_eq!(cases.conflict_types(), types);
    let numbered: Vec<(usize, usize)> =
        (0..8).map(|case| (cases.unit_of(case), cases.lineage_of(case))).collect();
    assert_eq!(numbered, [(0, 0), (1, 0), (2, 1), (3, 2), (4, 3), (4, 3), (5, 3), (5, 3)]);
}

#[test]
fn what_is_unknown_is_named_with_its_line() {
    assert_eq!(
        edited("q1\t", "q9\t"),
        [
            "cases.tsv:2: field `query_case_id`: query `q9` is not in the benchmark; expected a query of pool `single` or pool `paired`",
            "cases.tsv: field `query_case_id`: query `q1` of pool `single` has no row; expected a row for every query",
        ]
    );
    assert_eq!(
        edited("\ta\tb\t", "\ta\tq\t"),
        [
            "cases.tsv:2: field `risky_sibling_id`: candidate `q` is not in pool `single` but in pool `paired`; expected a candidate of the query's pool",
        ]
    );
    assert_eq!(
        edited("\ta\tb\t", "\tz\tb\t"),
        [
            "cases.tsv:2: field `helpful_skill_id`: candidate `z` is not in pool `single`; expected a candidate of the query's pool",
        ]
    );
    assert_eq!(
        edited("\ta\tb\t", "\ta\ta\t"),
        [
            "cases.tsv:2: field `risky_sibling_id`: `a` is the helpful skill as well; expected another candidate",
        ]
    );
}

#[test]
fn a_row_that_cannot_be_read_does_not_make_its_unit_incomplete() {
    let errors = edited("q6\tu5\tq\tp\t", "q6\tu5\tq\ta\t");
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(
        errors[0].starts_with("cases.tsv:7: field `risky_sibling_id`: candidate `a` is not in")
    );
}

#[test]
fn each_query_has_exactly_one_row() {
    let twice = edited("q2\t", "q1\t");
    assert_eq!(
        twice,
        [
            "cases.tsv:3: field `query_case_id`: query `q1` is labelled twice, first on line 2; expected one row a query",
            "cases.tsv: field `query_case_id`: query `q2` of pool `single` has no row; expected a row for every query",
        ]
    );
    let without: String = CASES.lines().skip(2).map(|line| format!("{line}\n")).collect();
    assert_eq!(errors(&without).len(), 2);
}

#[test]
fn values_are_of_their_enumerations() {
    let row =
        "q1\tu1\ta\tb\tyes\tcore_local_contract\theldout\tprocedure\tcomputation_rule\tmath\tg1";
    let bad = "q1\t\ta\tb\tYes\tlocal\tdevelopment\tprocess\tcomputation_rule\t\tg1";
    let fields: Vec<String> = edited(row, bad)
        .iter()
        .map(|error| error.split('`').nth(1).unwrap_or_default().to_owned())
        .collect();
    let expected =
        ["unit_id", "domain", "main_evaluation", "stratum", "split_role", "primary_category"];
    assert_eq!(fields, expected);
    let other = edited("procedure\tcomputation_rule\tmath", "procedure\tresource_identity\tmath");
    assert_eq!(
        other,
        [
            "cases.tsv:2: field `conflict_type`: `resource_identity` is under `resource_binding`, not `procedure`; expected `computation_rule`, `control_flow_selection`",
        ]
    );
    let none = edited("procedure\tcomputation_rule\tmath", "procedure\tstyle\tmath");
    assert!(
        none[0].starts_with("cases.tsv:2: field `conflict_type`: `style` is not a conflict type")
    );
    let counted = edited("no\tcore_local_contract\tdev", "yes\tcore_local_contract\tdev");
    assert_eq!(
        counted,
        ["cases.tsv:5: field `main_evaluation`: a development query is counted; expected `no`",]
    );
    let missing = edited("math\tg1", "math\t");
    assert_eq!(missing, [format!("cases.tsv:2: field `lineage_group`: is empty; expected {NAME}")]);
    let hostile = edited("math\tg1", "math\tg\0");
    let problem = "holds a control character";
    assert_eq!(
        hostile,
        [format!("cases.tsv:2: field `lineage_group`: {problem}; expected {NAME}")]
    );
    let hostile = edited("q1\tu1", "q1\tu\x1b1");
    assert!(hostile[0].starts_with(&format!("cases.tsv:2: field `unit_id`: {problem}")));
}

#[test]
fn units_are_whole_and_exchange_roles() {
    let alone = edited("q6\tu5\t", "q6\tu7\t");
    assert_eq!(
        alone,
        [
            "cases.tsv:6: field `unit_id`: paired unit `u5` has 1 query; expected 2",
            "cases.tsv:7: field `unit_id`: paired unit `u7` has 1 query; expected 2",
        ]
    );
    let shared = edited(
        "q2\tu2\tb\ta\tyes\tcore_local_contract\theldout\tresource_binding\tresource_identity",
        "q2\tu1\tb\ta\tyes\tcore_local_contract\theldout\tprocedure\tcomputation_rule",
    );
    assert_eq!(
        shared,
        ["cases.tsv:2: field `unit_id`: single unit `u1` has 2 queries; expected 1",]
    );
    let kept = edited("q6\tu5\tq\tp\t", "q6\tu5\tp\tq\t");
    assert_eq!(
        kept,
        [
            "cases.tsv:7: field `helpful_skill_id`: the queries of paired unit `u5` do not exchange the roles of its two skills; expected the sibling of line 6, and it as sibling",
        ]
    );
    let parted = edited("controlled\tg4\nq7", "controlled\tg5\nq7");
    assert_eq!(
        parted,
        [
            "cases.tsv:7: field `lineage_group`: unit `u5` has another lineage group on line 6; expected one lineage group a unit",
        ]
    );
}

#[test]
fn lineage_groups_do_not_cross_the_development_split() {
    assert_eq!(
        edited("web\tg3", "web\tg2"),
        [
            "cases.tsv:5: field `split_role`: lineage group `g2` is held out and for development; expected the split of line 4",
        ]
    );
}

#[test]
fn a_public_bundle_has_no_lineage_and_its_own_names() {
    let rows = CASES.lines().map(|line| {
        let (row, _) = line.rsplit_once('\t').unwrap();
        let row = row.replace("evidence_role\tplanned_vs_occurred", "Evidence role\tPlan vs. log");
        row.replace("evidence_role\tnorm", "Evidence role\tnorm").replace("heldout", "fold_2")
    });
    let rows: Vec<String> = rows.collect();
    let header = HEADER.replace("\tlineage_group", "");
    let text = format!("{header}{}\n", rows.join("\n"));
    let pools = [
        pool("single", &["a", "b", "c", "d"], &["q1", "q2", "q3", "q4"]),
        pool("paired", &["p", "q", "r", "s"], &["q5", "q6", "q7", "q8"]),
    ];
    let fixture = write(&pools, &text, FAMILIES);
    let cases = fixture.cases();
    assert!(!cases.lineage_known());
    assert_eq!(&*cases.get("q6").unwrap().lineage_group, "u5");
    assert_eq!(&*cases.get("q7").unwrap().conflict_type, "Plan vs. log");
    assert_eq!(cases.mechanism_label(Mechanism::EvidenceRole), "Evidence role");
    assert_eq!(cases.mechanism_label(Mechanism::Applicability), "applicability");
    assert_eq!(cases.conflict_types().last(), Some(&"Plan vs. log"));
    // A foreign type under two mechanisms.
    let text = text.replacen("procedure\tcomputation_rule", "procedure\tPlan vs. log", 1);
    let errors = Cases::read(&write(&pools, &text, FAMILIES).bench).unwrap_err();
    assert!(errors[0].to_string().contains("`Plan vs. log` is under `procedure`"), "{}", errors[0]);
}

#[test]
fn a_changed_or_absent_label_file_is_refused() {
    let fixture = Fixture::fixed();
    let path = fixture.dir.path().join("cases.tsv");
    fs::write(&path, format!("{HEADER}{CASES}\n")).unwrap();
    let error = Cases::read(&fixture.bench).unwrap_err()[0].to_string();
    assert!(error.contains("cases.tsv: sha256 is"), "{error}");
    fs::remove_file(&path).unwrap();
    assert!(Cases::read(&fixture.bench).unwrap_err()[0].to_string().contains("no such file"));
    let mut unlabelled = fixture.bench.clone();
    (unlabelled.labels, unlabelled.families) = (None, None);
    let error = Cases::read(&unlabelled).unwrap_err()[0].to_string();
    assert!(
        error.ends_with(
            "/bench.toml: field `labels`: the benchmark names no label file; expected its `cases`, a table of cases"
        ),
        "{error}"
    );
    assert!(Families::read(&unlabelled).is_err());
}

#[test]
fn families_disclose_a_partition_and_nothing_else() {
    let fixture = Fixture::fixed();
    let families = fixture.families();
    let group = |pool: usize, id: &str| {
        let doc: DocIx = fixture.bench.pools[pool].pool.position(id).unwrap();
        families.disclose(pool).group(doc)
    };
    assert_eq!(group(0, "a"), group(0, "b"));
    assert_eq!(group(1, "r"), group(1, "s"));
    let mut distinct: Vec<u32> = families.disclose(0).groups().to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 6);
    // The relation computed from labels is the same, and is read back as written.
    let computed = Families::of_cases(&fixture.cases(), &fixture.bench);
    assert_eq!(computed.disclose(0), families.disclose(0));
    assert_eq!(computed.disclose(1), families.disclose(1));
    let text = String::from_utf8(computed.to_tsv(&fixture.bench)).unwrap();
    assert!(text.ends_with("paired-0002\ts\tadmitted_pair\tpaired\n"), "{text}");
    assert_eq!(bench(CASES, &text).families().disclose(0), families.disclose(0));
}

#[test]
fn the_bundled_relation_follows_from_the_bundled_labels() {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../queries/samecap-mini");
    if !dir.join("bench.toml").is_file() {
        println!("skipped: {} holds no benchmark", dir.display());
        return;
    }
    let bench = Benchmark::open(Folder::Disk(dir)).unwrap();
    let cases = Cases::read(&bench).map_err(|errors| texts(&errors)).unwrap();
    let families = Families::read(&bench).map_err(|errors| texts(&errors)).unwrap();
    assert!(cases.lineage_known() && cases.len() == bench.n_queries());
    let computed = Families::of_cases(&cases, &bench);
    for (pool, bench_pool) in bench.pools.iter().enumerate() {
        // The numbers of families are as arbitrary as their names.
        let docs: Vec<DocIx> = bench_pool.pool.corpus().docs().collect();
        let firsts = |families: &Families| {
            let group = |doc: &DocIx| families.disclose(pool).group(*doc);
            docs.iter()
                .map(|d| docs.iter().position(|other| group(other) == group(d)))
                .collect::<Vec<_>>()
        };
        assert_eq!(firsts(&families), firsts(&computed));
    }
}

#[test]
fn shared_candidates_merge_families() {
    // q3's sibling becomes b: {a, b} and {c, b} are one family.
    let fixture = bench(&CASES.replacen("q3\tu3\tc\td", "q3\tu3\tc\tb", 1), FAMILIES);
    let families = Families::of_cases(&fixture.cases(), &fixture.bench);
    let pool = &fixture.bench.pools[0].pool;
    let groups =
        ["a", "b", "c", "d"].map(|id| families.disclose(0).group(pool.position(id).unwrap()));
    assert_eq!(groups, [groups[0]; 4]);
}

#[test]
fn every_bad_row_of_a_relation_is_named() {
    let text = format!(
        "{FAMILIES}f5\ta\tx\tsingle\nf5\tz\tx\tsingle\nf5\te\tx\tmain\n\tf\tx\tsingle\nf\0\tg\tx\tsingle\n"
    );
    let errors = Families::read(&bench(CASES, &text).bench).unwrap_err();
    let errors: Vec<String> = texts(&errors)
        .iter()
        .map(|error| error.rsplit_once('/').map_or(error.clone(), |(_, rest)| rest.to_owned()))
        .collect();
    assert_eq!(
        errors,
        [
            "families.tsv:10: field `candidate_id`: candidate `a` is listed on line 2 as well; expected one row a candidate",
            "families.tsv:11: field `candidate_id`: candidate `z` is not in pool `single`; expected a candidate of the pool",
            "families.tsv:12: field `candidate_pool_id`: pool `main` is not in the benchmark; expected `paired` or `single`",
            "families.tsv:13: field `family_id`: is empty; expected a name without control characters",
            "families.tsv:14: field `family_id`: holds a control character; expected a name without control characters",
        ]
    );
}
