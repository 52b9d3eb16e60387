//! An experiment: a claim, the grid it is tried on, one trial and the law it is held to.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::{Row, seed_for};

/// How much to run: each scale has the cells of the one before it or more, and as many trials of each or more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// In every test run: seconds for all experiments together.
    Smoke,
    /// A first look: a minute.
    Quick,
    /// What the committed tables are made of: minutes.
    Plain,
    /// Overnight.
    Deep,
}

impl Scale {
    /// The choice for this scale.
    pub fn pick<T>(self, smoke: T, quick: T, plain: T, deep: T) -> T {
        match self {
            Self::Smoke => smoke,
            Self::Quick => quick,
            Self::Plain => plain,
            Self::Deep => deep,
        }
    }
}

/// A point of an experiment's grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Its number, from which seeds derive: at every scale the same for the same point, and no other point's.
    pub index: u64,
    /// Independent trials to run.
    pub trials: u64,
    /// What is varied; the meaning is the experiment's.
    pub inputs: Vec<f64>,
}

impl Cell {
    /// A cell for each point, numbered from 0 in their order, of as many trials each. Points of a larger scale go behind those
    /// of the smaller ones, so that a point keeps its number.
    pub fn numbered(trials: u64, points: impl IntoIterator<Item = impl Into<Vec<f64>>>) -> Vec<Self> {
        let cell = |(index, inputs)| Self { index, trials, inputs };
        (0..).zip(points.into_iter().map(Into::into)).map(cell).collect()
    }
}

/// Which columns to draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plot {
    /// The column of the abscissa.
    pub x: &'static str,
    /// The columns of the ordinates: a line each.
    pub y: &'static [&'static str],
    /// A column whose distinct values split every line in as many.
    pub series: Option<&'static str>,
    /// Whether the abscissa is logarithmic.
    pub log_x: bool,
    /// Whether the ordinate is logarithmic.
    pub log_y: bool,
    /// What the abscissa is, with its unit.
    pub x_label: &'static str,
    /// What the ordinate is, with its unit.
    pub y_label: &'static str,
}

/// A claim with the means of testing it.
///
/// ```
/// use pds_testkit::{Cell, Experiment, Row, Scale, SplitMix64, all_pass, laws};
///
/// const COIN: Experiment = Experiment {
///     id: "coin",
///     table: None,
///     claim: "A coin shows heads with its probability.",
///     law: "rate_is",
///     cells: |scale| vec![Cell { index: 0, trials: scale.pick(10, 100, 1000, 10_000), inputs: vec![0.5] }],
///     trial: |cell, seed| {
///         let mut random = SplitMix64::new(seed);
///         let tosses = (0..100).filter(|_| random.next_f64() < cell.inputs[0]);
///         vec![tosses.count() as f64]
///     },
///     rows: |cell, outcomes| {
///         let heads = outcomes.iter().map(|outcome| outcome[0] as u64).sum();
///         let tosses = 100 * cell.trials;
///         vec![Row::new().count("heads", heads).check("rate", laws::rate_is(heads, tosses, cell.inputs[0]))]
///     },
///     plot: None,
/// };
/// assert!(all_pass(&COIN.run(Scale::Smoke, &|_done, _total| ())));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Its name in commands and files: `bloom-fpr`. Seeds derive from it.
    pub id: &'static str,
    /// The table that it serves, `T1` to `T15`, if any.
    pub table: Option<&'static str>,
    /// The sentence above the table and in a failure.
    pub claim: &'static str,
    /// What is accepted, in words.
    pub law: &'static str,
    /// The grid.
    pub cells: fn(Scale) -> Vec<Cell>,
    /// One trial: what it measured. Depends on nothing but its arguments; integers are exact up to 2^53.
    pub trial: fn(&Cell, seed: u64) -> Vec<f64>,
    /// Judges a cell by the outcomes of its trials, in their order.
    pub rows: fn(&Cell, &[Vec<f64>]) -> Vec<Row>,
    /// What to draw of the rows.
    pub plot: Option<Plot>,
}

impl Experiment {
    /// Runs the grid on every processor there is, and judges it.
    ///
    /// The result does not depend on the number of threads: trial `t` of a cell has the seed
    /// `seed_for(id, cell.index, t)`, and outcomes are reduced in order. `progress` is told the number of trials
    /// done and of all, from any thread and in any order.
    ///
    /// # Panics
    ///
    /// If two cells share an index, if rows differ in the names of their columns, or if a trial panics.
    pub fn run(&self, scale: Scale, progress: &(dyn Fn(u64, u64) + Sync)) -> Vec<Row> {
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        self.run_on(threads, scale, progress)
    }

    /// As [`Experiment::run`], on so many threads.
    fn run_on(&self, threads: usize, scale: Scale, progress: &(dyn Fn(u64, u64) + Sync)) -> Vec<Row> {
        let cells = (self.cells)(scale);
        let mut indices: Vec<u64> = cells.iter().map(|cell| cell.index).collect();
        indices.sort_unstable();
        assert!(indices.is_sorted_by(|a, b| a < b), "{}: two cells share an index", self.id);

        let mut outcomes = self.outcomes(&cells, threads, progress).into_iter();
        let rows: Vec<Row> = cells
            .iter()
            .flat_map(|cell| {
                (self.rows)(cell, &outcomes.by_ref().take(cell.trials as usize).collect::<Vec<_>>())
            })
            .collect();

        let names = |row: &Row| row.columns.iter().map(|&(name, _)| name).collect::<Vec<_>>();
        for pair in rows.windows(2) {
            assert_eq!(names(&pair[0]), names(&pair[1]), "{}: rows differ in their columns", self.id);
        }
        rows
    }

    /// The outcomes of all trials of all cells, in order.
    fn outcomes(
        &self,
        cells: &[Cell],
        threads: usize,
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Vec<Vec<f64>> {
        let ends: Vec<u64> = cells
            .iter()
            .scan(0, |end, cell| {
                *end += cell.trials;
                Some(*end)
            })
            .collect();
        let total = ends.last().copied().unwrap_or(0);
        let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));

        let worker = || {
            let mut results = Vec::new();
            loop {
                let job = next.fetch_add(1, Ordering::Relaxed);
                if job >= total {
                    return results;
                }
                let position = ends.partition_point(|&end| end <= job);
                let cell = &cells[position];
                let trial = job - (ends[position] - cell.trials);
                results.push((job, (self.trial)(cell, seed_for(self.id, cell.index, trial))));
                progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
            }
        };

        let mut outcomes = vec![Vec::new(); total as usize];
        thread::scope(|scope| {
            let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(worker)).collect();
            for worker in workers {
                let results = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
                for (job, result) in results {
                    outcomes[job as usize] = result;
                }
            }
        });
        outcomes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::{SplitMix64, all_pass, laws};

    /// Sums of uniform numbers, whose floating point sum depends on the order.
    const SUMS: Experiment = Experiment {
        id: "sums",
        table: Some("T1"),
        claim: "Uniform numbers have the mean 1/2.",
        law: "bias_is_zero",
        cells: |scale| {
            let trials = scale.pick(100, 200, 300, 400);
            (0..3).map(|index| Cell { index, trials: trials + index, inputs: vec![index as f64] }).collect()
        },
        trial: |cell, seed| vec![cell.inputs[0] + SplitMix64::new(seed).next_f64()],
        rows: |cell, outcomes| {
            assert_eq!(outcomes.len() as u64, cell.trials);
            let errors: Vec<f64> = outcomes.iter().map(|outcome| outcome[0] - cell.inputs[0] - 0.5).collect();
            let mean = laws::mean(&errors);
            let bias = laws::bias_is_zero(mean, libm::sqrt(1.0 / 12.0), cell.trials, 0.0);
            vec![Row::new().count("cell", cell.index).real("mean", mean, 17).check("bias", bias)]
        },
        plot: None,
    };

    #[test]
    fn numbered_cells_have_the_order_of_their_points() {
        let cells = Cell::numbered(7, [[1.5, 2.0], [0.5, 3.0]]);
        let expected = [(0, vec![1.5, 2.0]), (1, vec![0.5, 3.0])];
        assert_eq!(cells, expected.map(|(index, inputs)| Cell { index, trials: 7, inputs }));
    }

    #[test]
    fn results_do_not_depend_on_the_number_of_threads() {
        let alone = SUMS.run_on(1, Scale::Smoke, &|_, _| ());
        assert_eq!(alone.len(), 3);
        assert!(all_pass(&alone));
        for threads in [0, 2, 3, 16, 1000] {
            assert_eq!(SUMS.run_on(threads, Scale::Smoke, &|_, _| ()), alone);
        }
        assert_eq!(SUMS.run(Scale::Smoke, &|_, _| ()), alone);
    }

    #[test]
    fn progress_counts_every_trial_once() {
        let seen = Mutex::new(Vec::new());
        let _ = SUMS.run_on(4, Scale::Quick, &|done, total| seen.lock().unwrap().push((done, total)));
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        assert_eq!(seen, (1..=603).map(|done| (done, 603)).collect::<Vec<_>>());
    }

    #[test]
    fn a_cell_without_trials_and_a_grid_without_cells_are_legal_and_do_not_pass() {
        let idle = Experiment { cells: |_| vec![Cell { index: 0, trials: 0, inputs: vec![0.0] }], ..SUMS };
        assert!(!all_pass(&idle.run(Scale::Smoke, &|_, _| ())));
        let empty = Experiment { cells: |_| Vec::new(), ..SUMS };
        assert!(!all_pass(&empty.run(Scale::Smoke, &|_, _| ())));
    }

    #[test]
    #[should_panic(expected = "two cells share an index")]
    fn cells_that_share_an_index_are_refused() {
        let twins = |_| vec![Cell { index: 1, trials: 1, inputs: vec![0.0] }; 2];
        let _ = Experiment { cells: twins, ..SUMS }.run(Scale::Smoke, &|_, _| ());
    }

    #[test]
    #[should_panic(expected = "the trial's own words")]
    fn a_panic_in_a_trial_keeps_its_words() {
        let _ = Experiment { trial: |_, _| panic!("the trial's own words"), ..SUMS }
            .run(Scale::Smoke, &|_, _| ());
    }
}
