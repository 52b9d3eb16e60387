//! Frequencies of the user's own keys.

use pds_cms::{
    ConservativeCountMin, CountMinParams, CountMinSketch, CountSketch, CountSketchParams, SpaceSaving,
    SpaceSavingParams,
};
use pds_testkit::{Row, laws};

use super::own_keys::row;

const EPS: f64 = 0.001;
const DELTA: f64 = 0.01;
const TOP: usize = 10;

/// Rows of the count-sketch, which has as many cells as the others.
const SIGNED_ROWS: u32 = 5;

/// Bytes of a key that a row shows.
const SHOWN: usize = 40;

/// What counts the keys.
pub(super) struct Counters {
    plain: CountMinSketch,
    conservative: ConservativeCountMin,
    signed: CountSketch,
    saving: SpaceSaving<Vec<u8>>,
}

impl Counters {
    pub(super) fn new() -> Self {
        let params = CountMinParams::for_error(EPS, DELTA).expect("usual targets");
        let signed = CountSketchParams::with_shape(params.cells() / u64::from(SIGNED_ROWS), SIGNED_ROWS);
        Self {
            plain: CountMinSketch::new(params),
            conservative: ConservativeCountMin::new(params),
            signed: CountSketch::new(signed.expect("a usual shape")),
            saving: SpaceSaving::new(SpaceSavingParams::for_phi(EPS).expect("a usual share")),
        }
    }

    /// Counts a key, of this hash by the default hasher.
    pub(super) fn insert(&mut self, key: &[u8], hash: u64) {
        self.plain.insert_hash(hash);
        self.conservative.insert_hash(hash);
        // Of more lines than its cells may hold, it counts those that they do, and its law fails.
        _ = self.signed.insert_hash(hash);
        self.saving.insert(key);
    }

    /// The first ten and the whole of the keys, which are in the order of their counts.
    pub(super) fn rows(&self, keys: &[(&[u8], u64)]) -> Vec<Row> {
        let params = self.plain.params();
        let shape = format!("{} x {}", params.width(), params.depth());
        let bound = params.error_bound(self.plain.total()) as f64;
        let mut rows = Answers {
            name: format!("count-min, {shape}"),
            estimate: &|key| self.plain.estimate(key) as f64,
            one_sided: true,
            bound,
            mean: params.epsilon() * self.plain.total() as f64,
            delta: params.delta(),
        }
        .rows(keys);
        rows.extend(
            Answers {
                name: format!("conservative count-min, {shape}"),
                estimate: &|key| self.conservative.estimate(key) as f64,
                one_sided: true,
                bound,
                mean: params.epsilon() * self.plain.total() as f64,
                delta: params.delta(),
            }
            .rows(keys),
        );
        let params = self.signed.params();
        let f2: f64 = keys.iter().map(|&(_, count)| count as f64 * count as f64).sum();
        let bound = params.epsilon() * libm::sqrt(f2);
        rows.extend(
            Answers {
                name: format!("count-sketch, {} x {}", params.width(), params.depth()),
                estimate: &|key| self.signed.estimate(key) as f64,
                one_sided: false,
                bound,
                mean: bound,
                delta: params.delta(),
            }
            .rows(keys),
        );
        let bound = self.saving.params().error_bound(self.saving.total()) as f64;
        rows.extend(
            Answers {
                name: format!("SpaceSaving, {} counters", self.saving.params().capacity()),
                estimate: &|key| self.saving.estimate(key) as f64,
                one_sided: true,
                bound,
                mean: bound,
                delta: 0.0,
            }
            .rows(keys),
        );
        rows
    }
}

/// How a structure counts, and what it promises.
struct Answers<'a> {
    name: String,
    estimate: &'a dyn Fn(&[u8]) -> f64,
    /// Whether it never counts too low.
    one_sided: bool,
    bound: f64,
    /// What the mean error may be.
    mean: f64,
    /// Chance for each key of an error above the bound.
    delta: f64,
}

impl Answers<'_> {
    fn rows(&self, keys: &[(&[u8], u64)]) -> Vec<Row> {
        let top = keys.iter().take(TOP).map(|&(key, count)| {
            let (count, estimate) = (count as f64, (self.estimate)(key));
            let law = self.one_sided.then(|| ("never under", laws::at_least(estimate, count)));
            row(&self.name, &format!("count of {}", shown(key)), count, estimate, self.bound, law)
        });
        let mut rows: Vec<Row> = top.collect();
        let (mut under, mut beyond, mut total) = (0, 0, 0.0);
        for &(key, count) in keys {
            let error = (self.estimate)(key) - count as f64;
            under += u64::from(error < 0.0);
            beyond += u64::from(error.abs() > self.bound);
            total += error;
        }
        let distinct = keys.len() as u64;
        if self.one_sided {
            let law = ("never under", laws::all_hold(under, distinct));
            rows.push(row(&self.name, "keys under-counted", 0.0, under as f64, 0.0, Some(law)));
        }
        rows.push(row(&self.name, "mean error", 0.0, total / distinct as f64, self.mean, None));
        let law = laws::rate_at_most(beyond, distinct, self.delta);
        let share = beyond as f64 / distinct as f64;
        let what = "share beyond the bound";
        rows.push(row(&self.name, what, 0.0, share, law.high, Some(("delta", law))));
        rows
    }
}

/// A key for readers: its text, cut short.
fn shown(key: &[u8]) -> String {
    let text = String::from_utf8_lossy(&key[..key.len().min(SHOWN)]).into_owned();
    let text: String = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if key.len() > SHOWN { format!("\"{text}..\"") } else { format!("\"{text}\"") }
}
