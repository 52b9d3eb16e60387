//! `cargo xtask accuracy`: every claim about error and size, tried on our own code and held to its law.

mod adversary;
mod bloom;
mod bloom_blocks;
mod bloom_chains;
mod bloom_counting;
mod bloom_variants;
mod cms;
mod cms_guarantee;
mod cms_kin;
mod cms_skew;
mod cms_time;
mod cuckoo;
mod cuckoo_growth;
mod files;
mod filters;
mod hash;
mod heavy;
mod heavy_hitters;
mod heavy_merge;
mod hll;
mod hll_bytes;
mod hll_registers;
mod hll_sets;
mod hll_streaming;
mod input;
mod lsm;
mod merge_bounded;
mod merge_shards;
mod merge_windows;
mod own_counts;
mod own_keys;
mod own_values;
mod plot;
mod quantile_kll;
mod quantile_limits;
mod quantile_merge;
mod quantile_sketches;
mod quantiles;
mod registers;
mod report;
mod rules;
mod sizes;
mod sizes_sketches;
mod spread;
mod static_builds;
mod static_filters;
mod static_ribbon;
mod theta;
mod ull;

use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use pds_testkit::{Experiment, Row, Scale, all_pass};

use crate::{Failure, say};

/// Every experiment, in the order of the tables.
pub const EXPERIMENTS: &[&Experiment] = &[
    &bloom::SIZING,
    &bloom::SMALL,
    &bloom::RULES,
    &bloom::SATURATION,
    &bloom::ALARM,
    &bloom_blocks::FPR,
    &bloom_blocks::SPLIT_BLOCK_SIZING,
    &bloom_blocks::ALARM,
    &bloom_blocks::SWEEP,
    &bloom_counting::COUNTING,
    &bloom_counting::COPIES,
    &bloom_counting::STRANGERS,
    &bloom_variants::SCALABLE,
    &bloom_variants::WINDOWED,
    &cuckoo::FPR,
    &cuckoo::LOAD,
    &cuckoo::CROSSING,
    &cuckoo_growth::GROWTH,
    &cuckoo_growth::STRANGERS,
    &static_filters::SIZES,
    &static_ribbon::LIMIT,
    &static_ribbon::RATES,
    &static_ribbon::BUDGETS,
    &static_builds::SMALL,
    &static_builds::PLATEAUS,
    &hll::PRECISION,
    &hll::SWEEP,
    &hll::SMALL_PRECISIONS,
    &hll_registers::LOADS,
    &hll_registers::LARGE,
    &hll::COVERAGE,
    &ull::PRECISION,
    &ull::SWEEP,
    &hll_bytes::BYTES,
    &hll_sets::UNION,
    &hll_sets::INTERSECTION,
    &hll_streaming::STREAMING,
    &theta::ERROR,
    &theta::BOUNDS,
    &theta::OVERLAP,
    &theta::SUBSETS,
    &theta::MERGE,
    &cms::SIZING,
    &cms::PARETO,
    &cms::ROWS,
    &cms::DEPTHS,
    &cms_guarantee::GUARANTEE,
    &cms_kin::PARETO,
    &cms_skew::SKEW,
    &cms_time::WINDOW,
    &cms_time::DECAY,
    &heavy_hitters::HEAVY_HITTERS,
    &heavy_merge::MERGE,
    &quantiles::VALUES,
    &quantiles::RANKS,
    &quantile_kll::CONFIDENCE,
    &quantile_limits::P99_OF_800,
    &quantile_limits::COLLAPSED,
    &quantile_merge::PARTS,
    &quantile_merge::SHARD_P99,
    &merge_shards::SHARDS,
    &merge_shards::TREE,
    &merge_bounded::TREE,
    &bloom_chains::CHAINS,
    &merge_windows::HOURS,
    &merge_windows::FILTERS,
    &lsm::READS,
    &lsm::LAST_LEVEL,
    &sizes::FILTERS,
    &sizes_sketches::DISTINCT,
    &sizes_sketches::COUNTS,
    &sizes_sketches::QUANTILES,
    &rules::BITS_PER_KEY,
    &rules::GROUPS,
    &rules::CHAINED,
    &rules::RATIO,
    &hash::QUALITY,
    &hash::ROUTING,
    &adversary::ADVERSARY,
];

/// The arguments of the command.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Experiments to run, by id or by table (T1); all if none is named
    #[arg(value_name = "ID", conflicts_with_all = ["keys", "values"])]
    ids: Vec<String>,
    /// List the experiments: id, table, claim
    #[arg(long, conflicts_with_all = ["quick", "deep", "check", "keys", "values", "json", "out"])]
    list: bool,
    /// A first look, within a minute
    #[arg(long, conflicts_with = "deep")]
    quick: bool,
    /// What takes too long for the plain tables
    #[arg(long)]
    deep: bool,
    /// Compare with the committed tables instead of writing them: any differing byte is a failure
    #[arg(long, conflicts_with_all = ["quick", "deep", "out", "keys", "values"])]
    check: bool,
    /// Run the main structures of each question on keys of your own, one a line (- for standard input, .gz accepted), against the exact
    /// answers. A key is the bytes of its line less the line end, LF or CRLF; an empty line is a key; any bytes will do
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "deep", "values", "out"])]
    keys: Option<PathBuf>,
    /// Run every quantile sketch on numbers of your own, one a line (- for standard input, .gz accepted), against the
    /// exact quantiles. Lines end in LF or CRLF; blanks around a number and empty lines do not count; 1.5e3, nan and inf
    /// are numbers, of which those that are not finite are counted and left out; any other text is an error
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "deep", "out"])]
    values: Option<PathBuf>,
    /// Write the results as JSON too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write data, tables and plots below this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// The rows of one experiment, or of a run over a user's keys or values.
pub struct Outcome {
    id: &'static str,
    table: Option<&'static str>,
    claim: &'static str,
    law: &'static str,
    rows: Vec<Row>,
}

impl Outcome {
    fn pass(&self) -> bool {
        all_pass(&self.rows)
    }
}

/// Runs the command.
///
/// # Errors
///
/// [`Failure::Claim`] if a law or the comparison fails, [`Failure::Usage`] for bad arguments or input.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let experiments = selected(&arguments.ids)?;
    if arguments.list {
        return say(&report::list(&experiments));
    }
    if let Some(file) = &arguments.keys {
        let outcome = own_keys::run(file)?;
        return conclude(arguments, &[outcome]);
    }
    if let Some(file) = &arguments.values {
        let outcome = own_values::run(file)?;
        return conclude(arguments, &[outcome]);
    }

    let scale = match (arguments.quick, arguments.deep) {
        (true, _) => Scale::Quick,
        (_, true) => Scale::Deep,
        _ => Scale::Plain,
    };
    let target = files::Target::of(arguments.out.as_deref(), scale);
    let mut outcomes = Vec::new();
    let (mut all, mut differing) = (Vec::new(), Vec::new());
    for experiment in experiments {
        let outcome = run_one(experiment, scale);
        let generated = files::generate(experiment, &outcome, scale);
        if arguments.check {
            differing.extend(target.differing(&generated)?);
        } else {
            target.write(&generated)?;
        }
        all.extend(generated);
        say(&report::terminal(&outcome))?;
        outcomes.push(outcome);
    }
    if arguments.check && arguments.ids.is_empty() {
        differing.extend(target.orphans(EXPERIMENTS)?);
    }
    conclude(arguments, &outcomes)?;
    if differing.is_empty() {
        let checks: usize =
            outcomes.iter().flat_map(|outcome| &outcome.rows).map(|row| row.checks.len()).sum();
        let done = if arguments.check {
            "as committed".to_owned()
        } else {
            format!("written to {}", target.folders(&all).join(", "))
        };
        let experiments = if outcomes.len() == 1 { "experiment" } else { "experiments" };
        say(&format!("{} {experiments}, {checks} checks: all hold; {done}", outcomes.len()))
    } else {
        Err(Failure::Claim(format!("not what `cargo xtask accuracy` writes: {}", differing.join(", "))))
    }
}

/// Runs one experiment, with a progress bar on standard error.
fn run_one(experiment: &Experiment, scale: Scale) -> Outcome {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{msg:24} {wide_bar} {pos}/{len} {elapsed}") {
        bar.set_style(style);
    }
    bar.set_message(experiment.id);
    let rows = experiment.run(scale, &|done, total| {
        bar.set_length(total);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    let Experiment { id, table, claim, law, .. } = *experiment;
    Outcome { id, table, claim, law, rows }
}

/// Writes the JSON if asked to, and fails if a law did.
fn conclude(arguments: &Arguments, outcomes: &[Outcome]) -> Result<(), Failure> {
    if let Some(file) = &arguments.json {
        files::write(file, report::json(outcomes).as_bytes())?;
    }
    if arguments.keys.is_some() || arguments.values.is_some() {
        for outcome in outcomes {
            say(&report::terminal(outcome))?;
        }
    }
    let failed: Vec<_> =
        outcomes.iter().filter(|outcome| !outcome.pass()).map(|outcome| outcome.id).collect();
    if failed.is_empty() {
        Ok(())
    } else {
        Err(Failure::Claim(format!("a law failed in {}", failed.join(", "))))
    }
}

fn selected(ids: &[String]) -> Result<Vec<&'static Experiment>, Failure> {
    let named = |experiment: &Experiment, id: &String| {
        experiment.id == id || experiment.table.is_some_and(|table| table.eq_ignore_ascii_case(id))
    };
    if let Some(unknown) = ids.iter().find(|id| !EXPERIMENTS.iter().any(|experiment| named(experiment, id))) {
        return Err(Failure::Usage(format!("no experiment or table {unknown}; --list names them")));
    }
    let wanted = |experiment: &&&Experiment| ids.is_empty() || ids.iter().any(|id| named(experiment, id));
    Ok(EXPERIMENTS.iter().filter(wanted).copied().collect())
}
