//! From a rate, or a budget of bytes, to columns.

use serde::{Deserialize, Serialize};

use super::build::{LAST_KEYS, bumping_blocks, last_blocks};
use super::geometry::{Geometry, MAX_LAYERS};
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

    /// The fewest columns whose rate of false positives is at most `fpr`, a probability within 2^-32..1. The chance that two
    /// keys share a 64-bit hash, keys / 2^64, comes on top: [`RibbonParams::fpr`].
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
        if columns == 0 {
            return Err(Error::Parameter { name: "columns", value: 0.0, domain: "1 to 32" });
        }
        Self { columns, extra: 0, budget: None }.validated()
    }

    /// The most columns that `keys` distinct keys take within `bytes` bytes. The filter that is built takes no more, however
    /// the keys fall: its columns are settled when its layers are known.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if not even a part of one column fits.
    pub fn for_bytes(keys: u64, bytes: u64) -> Result<Self, Error> {
        let (blocks, depth, complete) = expected_layers(keys)?;
        let (columns, extra) = fit(&blocks[..depth], complete, bytes)?;
        Ok(Self { columns, extra, budget: Some(bytes) })
    }

    /// Bits that a key is checked by, in the mean over rows.
    pub fn columns(&self) -> f64 {
        f64::from(self.columns) + f64::from(self.extra) / WHOLE
    }

    /// The expected rate of false positives of a filter of `keys` keys, a probability; 0 without keys.
    pub fn fpr(&self, keys: u64) -> f64 {
        if keys == 0 {
            return 0.0;
        }
        rate(self.columns, f64::from(self.extra) / WHOLE) + limits::hash_collision_rate(keys)
    }

    /// Expected bytes of a filter of `keys` keys; within some hundredths of what it then takes.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if it would exceed the address space.
    pub fn size_bytes(&self, keys: u64) -> Result<u64, Error> {
        let (blocks, depth, complete) = expected_layers(keys)?;
        let geometry = Geometry::new(&blocks[..depth], self.columns, self.extra, complete);
        limits::allocatable(u128::from(geometry.words()) * 8)
    }

    /// Expected bits of a filter for each of `keys` keys; 0 without keys.
    ///
    /// # Errors
    ///
    /// As [`RibbonParams::size_bytes`].
    pub fn bits_per_key(&self, keys: u64) -> Result<f64, Error> {
        Ok(limits::per_key(self.size_bytes(keys)? as f64 * 8.0, keys))
    }

    pub(crate) fn shape(self) -> (u32, u32) {
        (self.columns, self.extra)
    }

    pub(crate) fn budget(self) -> Option<u64> {
        self.budget
    }

    /// The one gate.
    pub(crate) fn new(columns: u32, extra: u32) -> Result<Self, Error> {
        Self { columns, extra, budget: None }.validated()
    }

    fn validated(self) -> Result<Self, Error> {
        if f64::from(self.extra) >= WHOLE || self.columns + u32::from(self.extra > 0) > Self::MAX_COLUMNS {
            return Err(Error::Parameter {
                name: "columns",
                value: self.columns(),
                domain: "0 < columns <= 32",
            });
        }
        if self.columns == 0 && self.extra == 0 {
            return Err(Error::Parameter { name: "columns", value: 0.0, domain: "0 < columns <= 32" });
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

pub(crate) fn rate(columns: u32, share: f64) -> f64 {
    libm::exp2(-f64::from(columns)) * (1.0 - share / 2.0)
}

/// The most columns with which such layers take at most so many bytes.
pub(crate) fn fit(blocks: &[u32], complete: bool, bytes: u64) -> Result<(u32, u32), Error> {
    let fits = |total: u64| {
        let (columns, extra) = ((total >> 16) as u32, (total & 0xffff) as u32);
        u128::from(Geometry::new(blocks, columns, extra, complete).words()) * 8 <= u128::from(bytes)
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
            domain: "enough for a part of a column",
        });
    }
    Ok(((good >> 16) as u32, (good & 0xffff) as u32))
}

/// The blocks of each layer, how many layers there are, and whether the last passes nothing on.
fn expected_layers(keys: u64) -> Result<([u32; MAX_LAYERS], usize, bool), Error> {
    /// Keys of 1000 that a layer bumps, as measured.
    const BUMPED_OF_1000: u64 = 34;
    let mut layers = [0; MAX_LAYERS];
    let (mut left, mut depth) = (keys, 0);
    while left > 0 {
        let last = left <= LAST_KEYS || depth + 1 == MAX_LAYERS;
        let blocks = if last { last_blocks(left, 0) } else { bumping_blocks(left) };
        layers[depth] = u32::try_from(blocks).map_err(|_| Error::Parameter {
            name: "keys",
            value: keys as f64,
            domain: "at most 2^38 rows",
        })?;
        depth += 1;
        if last {
            return Ok((layers, depth, true));
        }
        left = (u128::from(left) * u128::from(BUMPED_OF_1000) / 1000) as u64;
    }
    Ok((layers, depth, false))
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
