//! How many panes a window has, and their shape.

use serde::{Deserialize, Serialize};

use crate::tally::Tally;
use crate::{Cell, CountMinParams, Error};

/// The shape of one pane's table, and the number of panes.
///
/// A value of this type is valid: a window of it can be made without further checks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Shape", into = "Shape")]
pub struct SlidingCountMinParams {
    pane: CountMinParams,
    panes: u32,
}

impl SlidingCountMinParams {
    /// Most panes: a query looks at every one.
    pub const MAX_PANES: u32 = 1024;

    /// `panes` tables of the shape `pane`. The error is that of the shape, as a share of the total of the window: see
    /// [`SlidingCountMin`](crate::SlidingCountMin).
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if `panes` is 0 or above [`SlidingCountMinParams::MAX_PANES`], or if the tables together would
    /// exceed [`CountMinParams::MAX_CELLS`].
    pub fn with_panes(pane: CountMinParams, panes: u32) -> Result<Self, Error> {
        let fits = u64::from(panes) <= CountMinParams::MAX_CELLS / pane.cells();
        if (1..=Self::MAX_PANES).contains(&panes) && fits {
            Ok(Self { pane, panes })
        } else {
            Err(Error::Parameter {
                name: "panes",
                value: f64::from(panes),
                domain: "1 to 1024, of at most CountMinParams::MAX_CELLS cells together",
            })
        }
    }

    /// What a window was made of.
    pub(crate) const fn from_valid(pane: CountMinParams, panes: u32) -> Self {
        Self { pane, panes }
    }

    /// The lower bound of a key whose least cells sum up to `least`, counted at least whether they are saturated or not; 0
    /// where the total of the window, and with it the error, is unknown.
    pub(crate) fn lower<'a>(&self, panes: impl Iterator<Item = &'a Tally>, least: u64) -> u64 {
        let mut known = panes.map(|tally| (!tally.total_saturated).then_some(tally.total));
        let total = known.try_fold(0u64, |sum, total| sum.checked_add(total?));
        total.map_or(0, |total| least.saturating_sub(self.pane.error_bound(total)))
    }

    /// The shape of one pane's table.
    pub const fn pane(&self) -> CountMinParams {
        self.pane
    }

    /// The number of panes.
    pub const fn panes(&self) -> u32 {
        self.panes
    }

    /// Bytes of the tables: what a window of this shape allocates with such cells.
    pub const fn size_bytes<C: Cell>(&self) -> u64 {
        self.pane.size_bytes::<C>() * self.panes as u64
    }
}

/// What the parameters are written as; reading goes through the gate.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Shape {
    pane: CountMinParams,
    panes: u32,
}

impl TryFrom<Shape> for SlidingCountMinParams {
    type Error = Error;

    fn try_from(Shape { pane, panes }: Shape) -> Result<Self, Error> {
        Self::with_panes(pane, panes)
    }
}

impl From<SlidingCountMinParams> for Shape {
    fn from(SlidingCountMinParams { pane, panes }: SlidingCountMinParams) -> Self {
        Self { pane, panes }
    }
}
