//! From a rate, or a budget of bytes, to columns.

use serde::{Deserialize, Serialize};

use super::geometry::{Geometry, Shape};
use super::rate;
use super::sizing::{expected_bumped, layers, most_bumped, too_many};
use crate::{Error, limits};

/// How many columns a bumped ribbon filter has: the bits that a key is checked by, a fraction included.
///
/// With a fraction, a share of the rows has one column more, so that any rate and any budget of bytes are met.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct RibbonParams {
    columns: u32,
    /// In 2^16ths: the share of rows with one column more.
    extra: u32,
    budget: Option<u64>,
}

impl RibbonParams {
    /// Most columns: a fingerprint has 32 bits.
    pub const MAX_COLUMNS: u32 = 32;

    /// The fewest columns whose rate of false positives is at most `fpr`, a probability within 2^-32..1, over rows that are
    /// asked for alike. Filters of few keys round to whole blocks, in favour of the rate; in larger ones the rows that bump
    /// keys are not the same share everywhere, which is worth some thousandths of the rate in either direction. The chance that
    /// two keys share a 64-bit hash, keys / 2^64, comes on top. [`RibbonParams::fpr`] has it all in the mean,
    /// [`estimated_fpr`](crate::RibbonFilter::estimated_fpr) for the filter that was built.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `fpr` is NaN or outside 2^-32..1.
    pub fn for_fpr(fpr: f64) -> Result<Self, Error> {
        /// 2^-32.
        const LEAST: f64 = 1.0 / 4_294_967_296.0;
        if !(LEAST..1.0).contains(&fpr) {
            return Err(Error::Parameter { name: "fpr", value: fpr, domain: "2^-32 <= fpr < 1" });
        }
        let columns = libm::floor(-libm::log2(fpr)).min(f64::from(Self::MAX_COLUMNS));
        let extra = libm::ceil(2.0 * (1.0 - fpr * libm::exp2(columns)) * WHOLE);
        Ok(Self { columns: columns as u32, extra: extra.clamp(0.0, WHOLE) as u32, budget: None }.carried())
    }

    /// So many whole columns.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `columns` is 0 or above [`RibbonParams::MAX_COLUMNS`].
    pub fn with_columns(columns: u32) -> Result<Self, Error> {
        if (1..=Self::MAX_COLUMNS).contains(&columns) {
            Ok(Self { columns, extra: 0, budget: None })
        } else {
            Err(Error::Parameter { name: "columns", value: f64::from(columns), domain: "1 to 32" })
        }
    }

    /// The most columns that `keys` distinct keys are expected to take within `bytes` bytes. The filter that is built takes no
    /// more, however the keys fall: its columns are settled when its layers are known. It builds whatever near-uniform keys
    /// they are, if they are no more.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `bytes` is below [`RibbonParams::least_bytes`], so that not even a part of one column is sure to
    /// fit, or if there are too many keys for any filter.
    pub fn for_bytes(keys: u64, bytes: u64) -> Result<Self, Error> {
        // The more a layer bumps, the larger is the least filter.
        fit(&layers(keys, most_bumped)?, bytes)?;
        let (columns, extra) = fit(&layers(keys, expected_bumped)?, bytes)?;
        Ok(Self { columns, extra, budget: Some(bytes) })
    }

    /// The least budget that [`RibbonParams::for_bytes`] takes for `keys` distinct keys: some rows have one column then, the
    /// others none.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there are too many keys for any filter.
    pub fn least_bytes(keys: u64) -> Result<u64, Error> {
        let least = |layers: Shape| {
            let geometry = Geometry::new(&Shape { columns: 0, extra: 1, ..layers }).ok_or(too_many(keys))?;
            limits::allocatable(geometry.size())
        };
        Ok(least(layers(keys, most_bumped)?)?.max(least(layers(keys, expected_bumped)?)?))
    }

    /// Bits that a key is checked by, in the mean over rows.
    pub fn columns(&self) -> f64 {
        f64::from(self.columns) + f64::from(self.extra) / WHOLE
    }

    /// The expected rate of false positives of a filter of `keys` keys, a probability; 0 without keys. It has two terms: what
    /// the columns let pass, and the chance of sharing a hash with a key. The rate of the filter that is then built is its
    /// [`estimated_fpr`](crate::RibbonFilter::estimated_fpr).
    pub fn fpr(&self, keys: u64) -> f64 {
        if keys == 0 {
            return 0.0;
        }
        // More keys than there are rows for have the rate of many.
        let share = f64::from(self.extra) / WHOLE;
        let many = libm::exp2(-f64::from(self.columns)) * (1.0 - share / 2.0);
        let columns = self.geometry(keys).map_or(many, |geometry| rate::expected(&geometry, keys));
        (columns + limits::hash_collision_rate(keys)).min(1.0)
    }

    /// Expected bytes of a filter of `keys` keys; what it then takes differs by what a deviation of the bumped keys does.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if it would exceed the address space.
    pub fn size_bytes(&self, keys: u64) -> Result<u64, Error> {
        limits::allocatable(self.geometry(keys)?.size())
    }

    /// Expected bits of a filter for each of `keys` keys; 0 without keys.
    ///
    /// # Errors
    ///
    /// As [`RibbonParams::size_bytes`].
    pub fn bits_per_key(&self, keys: u64) -> Result<f64, Error> {
        Ok(limits::per_key(self.size_bytes(keys)? as f64 * 8.0, keys))
    }

    fn geometry(self, keys: u64) -> Result<Geometry, Error> {
        let shape = layers(keys, expected_bumped)?;
        Geometry::new(&Shape { columns: self.columns, extra: self.extra, ..shape }).ok_or(too_many(keys))
    }

    pub(crate) fn shape(self) -> (u32, u32) {
        (self.columns, self.extra)
    }

    pub(crate) fn budget(self) -> Option<u64> {
        self.budget
    }

    /// Of a filter that there is.
    pub(crate) fn of(shape: &Shape) -> Result<Self, Error> {
        Self { columns: shape.columns, extra: shape.extra, budget: None }.validated()
    }

    /// The one gate.
    fn validated(self) -> Result<Self, Error> {
        if f64::from(self.extra) >= WHOLE {
            return Err(Error::Parameter {
                name: "extra",
                value: f64::from(self.extra),
                domain: "below 2^16, a whole column",
            });
        }
        if !(self.columns() > 0.0 && self.columns() <= f64::from(Self::MAX_COLUMNS)) {
            return Err(Error::Parameter {
                name: "columns",
                value: self.columns(),
                domain: "0 < columns <= 32",
            });
        }
        Ok(self)
    }

    /// A whole extra column is a column.
    fn carried(self) -> Self {
        if f64::from(self.extra) < WHOLE {
            self
        } else {
            Self { columns: self.columns + 1, extra: 0, ..self }
        }
    }
}

/// What a whole column is in the unit of `extra`.
const WHOLE: f64 = 65_536.0;

/// The most columns with which such layers take at most so many bytes.
pub(crate) fn fit(layers: &Shape, bytes: u64) -> Result<(u32, u32), Error> {
    let split = |total: u64| ((total >> 16) as u32, (total & 0xffff) as u32);
    let fits = |total: u64| {
        let (columns, extra) = split(total);
        Geometry::new(&Shape { columns, extra, ..*layers })
            .is_some_and(|geometry| geometry.size() <= u128::from(bytes))
    };
    // The greatest that fits, by halving.
    let (mut good, mut bad) = (0, (u64::from(RibbonParams::MAX_COLUMNS) << 16) + 1);
    while bad - good > 1 {
        let middle = good.midpoint(bad);
        if fits(middle) { good = middle } else { bad = middle }
    }
    if good == 0 {
        return Err(Error::Parameter {
            name: "bytes",
            value: bytes as f64,
            domain: "at least RibbonParams::least_bytes(keys)",
        });
    }
    Ok(split(good))
}

/// What the parameters are written as; reading goes through the gate.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Raw {
    columns: u32,
    extra: u32,
    budget: Option<u64>,
}

impl TryFrom<Raw> for RibbonParams {
    type Error = Error;

    fn try_from(Raw { columns, extra, budget }: Raw) -> Result<Self, Error> {
        Self { columns, extra, budget }.validated()
    }
}

impl From<RibbonParams> for Raw {
    fn from(RibbonParams { columns, extra, budget }: RibbonParams) -> Self {
        Self { columns, extra, budget }
    }
}
