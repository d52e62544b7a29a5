//! A method over a benchmark: built for each pool of what its card says, and run.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use anyhow::{Context as _, anyhow, bail};
use cleanhit_core::{
    Candidates, Depth, Diagnosed, Diagnostic, Method, Outcome, Partition, Pool, Query, QueryId,
    Rankings, Released, ReleasedFamily, RunOptions, Setting, TextCluster, TextOnly, TieRule,
};
use cleanhit_eval::{Cases, Families, files::InformationSetting, sanity};
use cleanhit_io::{BenchPool, Benchmark, FileDigest};
use cleanhit_lexical::Titles;

use crate::{
    Registry,
    cards::{
        Built, MethodCard, Notes, Resolver, build_resolver, build_retriever, is_sanity,
        made_of_labels,
    },
    locate,
    ui::Ui,
};

/// What a method answered over a whole benchmark.
pub(crate) struct Ranked {
    /// The rankings.
    pub(crate) rankings: Rankings,
    /// The rankings before selection; none without a selector.
    pub(crate) before: Option<Rankings>,
    /// Queries whose representatives were fewer than the ranks to fill.
    pub(crate) padded: usize,
    /// What the method knew besides text.
    pub(crate) setting: InformationSetting,
    /// Files read beside the benchmark's inference files: the family relation.
    pub(crate) side_inputs: Vec<FileDigest>,
    /// Counts for the receipt, pool by pool.
    pub(crate) notes: BTreeMap<String, Notes>,
    /// Each query's families, where the job keeps them.
    pub(crate) families: BTreeMap<QueryId, Partition>,
    /// The queries answered, where they are not all there are.
    pub(crate) only: Option<BTreeSet<QueryId>>,
}

/// How to run.
pub(crate) struct Job<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) bench: &'a Benchmark,
    /// Needed by the sanity methods that are made of labels; `rank` has none to give.
    pub(crate) cases: Option<&'a Cases>,
    pub(crate) depth: Depth,
    pub(crate) ties: TieRule,
    /// Answer these queries alone.
    pub(crate) only: Option<&'a BTreeSet<QueryId>>,
    /// Keep each query's families: for explanations.
    pub(crate) keep_families: bool,
    pub(crate) ui: &'a Ui,
}

impl Job<'_> {
    /// Builds and runs the method of `card`. Its setting follows from what it is built of.
    pub(crate) fn rank(&self, card: &MethodCard) -> anyhow::Result<Ranked> {
        let resolver = card.select.as_ref().map(build_resolver).transpose();
        let resolver = resolver.map_err(|error| card.selector_source.at("select", error))?;
        let families = match resolver {
            Some(Resolver::Released) => Some(self.disclosed()?),
            _ => None,
        };
        let side = |pool: usize| families.as_ref().map(|(parts, _)| parts[pool].clone());
        let mut ranked = if is_sanity(&card.retrieve.kind) {
            self.each::<Diagnostic>(card, |pool, i| {
                let method = self.sanity(card, pool)?;
                let method = match &resolver {
                    None => method,
                    Some(Resolver::Title) => {
                        method.select(Diagnosed::<TextOnly, _>::new(Titles::new(pool.corpus())))
                    }
                    Some(Resolver::TextCluster(clusters)) => {
                        let clusters = clusters.build(pool.corpus())?;
                        method.select(Diagnosed::<TextCluster, _>::new(clusters))
                    }
                    Some(Resolver::Released) => method.select(Released),
                };
                Ok((method, side(i), Notes::default()))
            })
        } else {
            match &resolver {
                None => self.each::<TextOnly>(card, |pool, _| {
                    let (method, notes) = self.base(card, pool)?;
                    Ok((method, (), notes))
                }),
                Some(Resolver::Title) => self.each::<TextOnly>(card, |pool, _| {
                    let (method, notes) = self.base(card, pool)?;
                    Ok((method.select(Titles::new(pool.corpus())), (), notes))
                }),
                Some(Resolver::TextCluster(clusters)) => {
                    self.each::<TextCluster>(card, |pool, _| {
                        let (method, notes) = self.base(card, pool)?;
                        Ok((method.select(clusters.build(pool.corpus())?), (), notes))
                    })
                }
                Some(Resolver::Released) => self.each::<ReleasedFamily>(card, |pool, i| {
                    let (method, notes) = self.base(card, pool)?;
                    let side = side(i).context("the family relation was not read")?;
                    Ok((method.select(Released), side, notes))
                }),
            }
        }?;
        ranked.side_inputs.extend(families.map(|(_, digest)| digest));
        Ok(ranked)
    }

    /// Runs, pool by pool, what `build` makes of each.
    fn each<S: Setting>(
        &self,
        card: &MethodCard,
        build: impl Fn(&Pool, usize) -> anyhow::Result<(Method<S>, S::Side, Notes)>,
    ) -> anyhow::Result<Ranked> {
        let asked = self.only.map_or(self.bench.n_queries(), BTreeSet::len);
        let bar = self.ui.bar(asked, &card.method_id);
        let progress = |queries: usize| bar.inc(queries as u64);
        let options = RunOptions {
            depth: self.depth,
            ties: self.ties,
            progress: Some(&progress),
            keep_families: self.keep_families,
        };
        let mut whole: Option<Outcome<S>> = None;
        let mut all_notes = BTreeMap::new();
        for (i, BenchPool { pool, .. }) in self.bench.pools.iter().enumerate() {
            let context = || format!("method `{}`, pool `{}`", card.method_id, pool.name());
            let queries: Vec<Query> = self.asked(pool).cloned().collect();
            if queries.is_empty() && self.only.is_some() {
                continue;
            }
            let (method, side, mut notes) = build(pool, i).with_context(context)?;
            let outcome = method.run(&queries, pool, &side, &options).with_context(context)?;
            notes.queries = queries.len();
            notes.settle();
            all_notes.insert(pool.name().to_owned(), notes);
            match &mut whole {
                None => whole = Some(outcome),
                Some(whole) => {
                    whole.run.merge(outcome.run);
                    whole.padded += outcome.padded;
                    whole.families.extend(outcome.families);
                    if let (Some(before), Some(more)) = (&mut whole.before, outcome.before) {
                        before.merge(more);
                    }
                }
            }
        }
        bar.finish_and_clear();
        let whole = whole.context("the benchmark has no pool")?;
        Ok(Ranked {
            rankings: whole.run.into_rankings(),
            before: whole.before,
            padded: whole.padded,
            setting: InformationSetting::of::<S>(),
            side_inputs: Vec::new(),
            notes: all_notes,
            families: whole.families,
            only: self.only.cloned(),
        })
    }

    /// The queries of a pool that are to be answered.
    fn asked<'b>(&'b self, pool: &'b Pool) -> impl Iterator<Item = &'b Query> {
        let pools = self.bench.pools.iter().filter(|other| other.pool.name() == pool.name());
        let queries = pools.flat_map(|pool| &pool.queries);
        queries.filter(|query| self.only.is_none_or(|only| only.contains(&query.id)))
    }

    /// The first and second stage over one pool.
    fn base(&self, card: &MethodCard, pool: &Pool) -> anyhow::Result<(Method<TextOnly>, Notes)> {
        let mut built = self.retriever(card, pool)?;
        if let Some(terms) = built.terms_in_pool {
            let unmatched = self.asked(pool).filter(|query| terms(query.as_text()) == 0).count();
            built.notes.queries_without_a_pool_word = Some(unmatched);
        }
        for count in &built.on_queries {
            let queries: Vec<&str> = self.asked(pool).map(|query| query.text.as_str()).collect();
            count(&queries, &mut built.notes).map_err(|err| anyhow!("{err}"))?;
        }
        let Some(rerank) = &card.rerank else {
            return Ok((Method::new(built.retriever, Candidates::All), built.notes));
        };
        let at = |error| card.source.at("rerank", error);
        let candidates = rerank.candidates(self.depth, pool.len()).map_err(at)?;
        let reranker = rerank.build(self.registry).map_err(at)?;
        built.notes.models.extend(reranker.models);
        built.notes.running = reranker.running;
        let method = Method::new(built.retriever, Candidates::Top(candidates));
        Ok((method.rerank(reranker.reranker), built.notes))
    }

    fn retriever(&self, card: &MethodCard, pool: &Pool) -> anyhow::Result<Built> {
        let built = build_retriever(&card.retrieve, pool, self.registry);
        built.map_err(|error| card.source.at("retrieve", error))
    }

    fn sanity(&self, card: &MethodCard, pool: &Pool) -> anyhow::Result<Method<Diagnostic>> {
        let Some(kind) = made_of_labels(&card.retrieve.kind) else {
            return Ok(Method::sanity(self.retriever(card, pool)?.retriever));
        };
        let Some(cases) = self.cases else {
            bail!(
                "`{}` is made of labels, which `rank` never reads; `cleanhit run` has it in its table",
                card.method_id
            );
        };
        Ok(Method::sanity_recorded(Arc::new(sanity(kind, cases, self.bench, None, self.ties))))
    }

    /// The released relation, pool by pool: the one place where it is handed to methods.
    fn disclosed(&self) -> anyhow::Result<(Vec<Partition>, FileDigest)> {
        let families = Families::read(self.bench).map_err(|errors| locate::first(&errors))?;
        let pools = 0..self.bench.pools.len();
        let partitions = pools.map(|pool| families.disclose(pool).clone()).collect();
        let file = self.bench.families.as_ref().context("the family relation has no file")?;
        let sha256 = file.sha256.clone().unwrap_or_else(|| "not recorded".to_owned());
        Ok((partitions, FileDigest { path: file.path.clone(), sha256 }))
    }
}
