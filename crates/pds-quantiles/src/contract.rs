//! What a sketch promises about its answers.

/// The promise that a sketch makes about [`quantile`](crate::Quantiles::quantile), as it stands after what it has seen.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Contract {
    /// The rank of an answer is off by at most `epsilon`, as a share of all values, with a chance of at least
    /// `confidence`.
    Rank {
        /// Greatest error of a rank, as a share of the count.
        epsilon: f64,
        /// The chance that the promise holds.
        confidence: f64,
    },
    /// An answer is off by at most `alpha` times the true quantile, for certain, wherever `q` lies in
    /// `[valid_from_q, valid_to_q]`. Elsewhere nothing but [`bounds`](crate::Quantiles::bounds) is promised.
    ///
    /// The range is the whole of [0, 1] until a sketch collapses bins at one end.
    RelativeValue {
        /// Greatest relative error.
        alpha: f64,
        /// The least `q` that the promise is made for.
        valid_from_q: f64,
        /// The greatest `q` that the promise is made for.
        valid_to_q: f64,
    },
    /// There is no bound: errors have been measured, not proved.
    Empirical,
}
