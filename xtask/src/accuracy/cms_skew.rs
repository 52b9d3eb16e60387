//! How the skew of a stream decides which sketch errs least, at equal bytes.

use pds_cms::CountMinParams;
use pds_testkit::{Cell, DistinctKeys, Experiment, Row, Zipf, laws};

use super::cms_kin::{Errors, KINDS, Kin, Kind, Measure};

const RANKS: u64 = 100_000;

pub(super) const SKEW: Experiment = Experiment {
    id: "cms-skew",
    table: None,
    claim: "At 64 KiB: the conservative sketch errs least on frequent keys; of keys that occurred a few times count-min, plain \
            or conservative, gives the noise of the table, and only the debiased estimate and the count-sketch come near \
            them, on average.",
    law: "plain and conservative: no key under-counted, and keys over the bound eps N at most delta by Chernoff's law; no \
          conservative estimate above the plain one; no debiased one above it or below 0. Count-sketch: keys off by \
          more than its eps sqrt(F2) at most its delta by Chernoff's law, and a mean error of zero within 6.1 of its \
          own standard errors.",
    cells: |scale| {
        let trials = scale.pick(3, 5, 30, 300);
        let events = scale.pick(50_000.0, 500_000.0, 500_000.0, 500_000.0);
        Cell::numbered(trials, [0.7, 1.0, 1.3].map(|skew| [skew, events]))
    },
    trial: |cell, seed| {
        let [skew, events] = cell.inputs[..] else { return Vec::new() };
        let keys = DistinctKeys::new(seed);
        let mut kin = Kin::new(params(), seed);
        let mut exact = vec![0; RANKS as usize + 1];
        for rank in Zipf::new(RANKS, skew, seed).take(events as usize) {
            kin.insert(keys.key(rank));
            exact[rank as usize] += 1;
        }
        let occurred = exact.iter().zip(0..).filter(|&(&count, _)| count > 0);
        let mut counts: Vec<(u64, u64)> = occurred.map(|(&count, rank)| (count, keys.key(rank))).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        KINDS.iter().flat_map(|&kind| kin.errors(kind, &counts)).collect()
    },
    rows: |cell, outcomes| {
        let row = |(i, &kind): (usize, &Kind)| {
            let errors = Errors::of(outcomes, i);
            let row = Row::new()
                .real("Zipf exponent", cell.inputs[0], 2)
                .text("sketch", kind.name())
                .text("w x d", kind.shape(params()))
                .real("mean error", errors.mean_error(), 3)
                .real("mean, either sign", errors.per_key(Measure::Absolute), 3)
                .real("largest", laws::mean(&errors.column(Measure::Most)), 3)
                .real("top 100 keys, either sign", laws::mean(&errors.column(Measure::Frequent)), 3)
                .real("at most 3 times, mean error", errors.rare(Measure::RareSum), 3)
                .real("at most 3 times, either sign", errors.rare(Measure::RareAbsolute), 3)
                .percent("of the top 10 found", laws::mean(&errors.column(Measure::Found)), 3);
            errors.judged(kind, params(), row)
        };
        KINDS.iter().enumerate().map(row).collect()
    },
    plot: None,
};

/// 64 KiB of 4-byte cells.
fn params() -> CountMinParams {
    CountMinParams::with_shape(4096, 4).expect("a usual shape")
}
