//! Rows of a table of results, and numbers that print alike everywhere.

use crate::laws::Verdict;

/// A value in a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An exact count.
    Count(u64),
    /// A measured or computed number.
    Real {
        /// The number.
        value: f64,
        /// Significant digits printed.
        digits: usize,
    },
    /// A probability or a relative error: times 100 and with `%` for readers, as it is for programs.
    Percent {
        /// The share: 0.01 is one per cent.
        value: f64,
        /// Significant digits printed.
        digits: usize,
    },
    /// A name.
    Text(String),
    /// Nothing: the column does not apply to this row.
    Missing,
}

impl Value {
    /// For readers: a cell of a Markdown table, also fit for a terminal.
    pub fn markdown(&self) -> String {
        match self {
            Self::Percent { value, digits } => format!("{} %", significant(value * 100.0, *digits)),
            Self::Text(text) => text.replace('|', "\\|"),
            Self::Missing => "–".to_owned(),
            Self::Count(_) | Self::Real { .. } => self.csv(),
        }
    }

    /// For programs: a field of a CSV file, quoted where it has to be, empty if missing.
    pub fn csv(&self) -> String {
        match self {
            Self::Count(count) => count.to_string(),
            Self::Real { value, digits } | Self::Percent { value, digits } => significant(*value, *digits),
            Self::Text(text) if text.contains([',', '"', '\n', '\r']) => {
                format!("\"{}\"", text.replace('"', "\"\""))
            }
            Self::Text(text) => text.clone(),
            Self::Missing => String::new(),
        }
    }

    /// The number, for a plot; none for a name or nothing.
    pub fn number(&self) -> Option<f64> {
        match *self {
            Self::Count(count) => Some(count as f64),
            Self::Real { value, .. } | Self::Percent { value, .. } => Some(value),
            Self::Text(_) | Self::Missing => None,
        }
    }
}

/// One named law applied to one row.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What was checked, in a word or two: "fill", "bias".
    pub name: &'static str,
    /// What the law found.
    pub verdict: Verdict,
}

/// One line of a table: its columns, and the laws that it was held to.
///
/// A row without a check informs and judges nothing, such as that of another library's method.
///
/// ```
/// use pds_testkit::{Row, laws};
///
/// let row = Row::new()
///     .text("filter", "classic")
///     .count("keys", 1000)
///     .percent("measured", 0.010_04, 3)
///     .check("fpr", laws::rate_is(1004, 100_000, 0.01));
/// assert!(row.pass());
/// assert_eq!(row.get("measured").map(|value| value.markdown()), Some("1.00 %".to_owned()));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Names and values, in the order of printing.
    pub columns: Vec<(&'static str, Value)>,
    /// The laws.
    pub checks: Vec<Check>,
}

impl Row {
    /// An empty row.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a column.
    #[must_use]
    pub fn with(mut self, column: &'static str, value: Value) -> Self {
        self.columns.push((column, value));
        self
    }

    /// Appends a [`Value::Count`].
    #[must_use]
    pub fn count(self, column: &'static str, count: u64) -> Self {
        self.with(column, Value::Count(count))
    }

    /// Appends a [`Value::Real`].
    #[must_use]
    pub fn real(self, column: &'static str, value: f64, digits: usize) -> Self {
        self.with(column, Value::Real { value, digits })
    }

    /// Appends a [`Value::Percent`]; `share` is 0.01 for one per cent.
    #[must_use]
    pub fn percent(self, column: &'static str, share: f64, digits: usize) -> Self {
        self.with(column, Value::Percent { value: share, digits })
    }

    /// Appends a [`Value::Text`].
    #[must_use]
    pub fn text(self, column: &'static str, text: impl Into<String>) -> Self {
        self.with(column, Value::Text(text.into()))
    }

    /// Appends a [`Value::Missing`].
    #[must_use]
    pub fn missing(self, column: &'static str) -> Self {
        self.with(column, Value::Missing)
    }

    /// Holds the row to a law.
    #[must_use]
    pub fn check(mut self, name: &'static str, verdict: Verdict) -> Self {
        self.checks.push(Check { name, verdict });
        self
    }

    /// Whether every law passed.
    pub fn pass(&self) -> bool {
        self.failures().next().is_none()
    }

    /// The laws that did not pass.
    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.verdict.pass)
    }

    /// The value of a column.
    pub fn get(&self, column: &str) -> Option<&Value> {
        self.columns.iter().find(|(name, _)| *name == column).map(|(_, value)| value)
    }
}

/// Whether a table passes: every row does, and at least one check judged something.
pub fn all_pass(rows: &[Row]) -> bool {
    rows.iter().all(Row::pass) && rows.iter().any(|row| !row.checks.is_empty())
}

/// A number rounded to so many significant digits (at least one), the same text on every platform.
///
/// Plain between 10^-4 and 10^9, and beyond as long as the digits reach the point; otherwise as `1.23e-5`.
/// Trailing zeros are kept: they are significant. Zero of either sign is `0`.
///
/// ```
/// use pds_testkit::significant;
///
/// assert_eq!(significant(0.009_996, 3), "0.0100");
/// assert_eq!(significant(123_456.0, 3), "123000");
/// assert_eq!(significant(-0.000_012_34, 3), "-1.23e-5");
/// ```
pub fn significant(value: f64, digits: usize) -> String {
    /// From here on zeros that only hold a place are too many to count.
    const LARGE: i32 = 9;
    const SMALL: i32 = -4;

    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = digits.max(1);
    // Rounds correctly in integers, so that no platform's arithmetic takes part.
    let scientific = format!("{:.*e}", digits - 1, value.abs());
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return value.to_string(); // inf, -inf, NaN
    };
    let sign = if value < 0.0 { "-" } else { "" };
    let figures = mantissa.replace('.', "");
    let plain = match exponent.parse::<i32>() {
        Ok(exponent @ SMALL..0) => format!("0.{}{figures}", "0".repeat(exponent.unsigned_abs() as usize - 1)),
        Ok(exponent @ 0..) if exponent < LARGE.max(i32::try_from(digits).unwrap_or(i32::MAX)) => {
            let whole = exponent as usize + 1;
            match figures.split_at_checked(whole) {
                Some((whole, "")) => whole.to_owned(),
                Some((whole, fraction)) => format!("{whole}.{fraction}"),
                None => format!("{figures:0<whole$}"),
            }
        }
        _ => scientific,
    };
    format!("{sign}{plain}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::laws;

    #[test]
    fn numbers_print_with_their_significant_digits() {
        let cases = [
            (0.0, 3, "0"),
            (-0.0, 3, "0"),
            (1.0, 3, "1.00"),
            (9.999, 3, "10.0"),
            (999.9, 3, "1000"),
            (0.5, 1, "0.5"),
            (0.5, 0, "0.5"),
            (123.456, 3, "123"),
            (123.456, 5, "123.46"),
            (-1.5, 2, "-1.5"),
            (0.000_1, 3, "0.000100"),
            (0.000_099_99, 3, "0.000100"),
            (0.000_099_94, 3, "9.99e-5"),
            (1e-300, 2, "1.0e-300"),
            (123_456_789.0, 4, "123500000"),
            (1e9, 3, "1.00e9"),
            (1_234_567_891.0, 10, "1234567891"),
            (f64::INFINITY, 3, "inf"),
            (f64::NEG_INFINITY, 3, "-inf"),
            (f64::NAN, 3, "NaN"),
        ];
        for (value, digits, text) in cases {
            assert_eq!(significant(value, digits), text, "{value:e} to {digits}");
        }
    }

    #[test]
    fn values_print_for_readers_and_for_programs() {
        let percent = Value::Percent { value: 0.012_34, digits: 3 };
        assert_eq!((percent.markdown(), percent.csv()), ("1.23 %".to_owned(), "0.0123".to_owned()));
        let text = Value::Text("a|b, \"c\"".to_owned());
        assert_eq!(
            (text.markdown(), text.csv()),
            ("a\\|b, \"c\"".to_owned(), "\"a|b, \"\"c\"\"\"".to_owned())
        );
        assert_eq!((Value::Missing.markdown(), Value::Missing.csv()), ("–".to_owned(), String::new()));
        assert_eq!(Value::Count(u64::MAX).csv(), u64::MAX.to_string());
        assert_eq!(
            (percent.number(), Value::Count(3).number(), text.number()),
            (Some(0.01234), Some(3.0), None)
        );
    }

    #[test]
    fn a_table_passes_if_its_rows_do_and_something_was_judged() {
        let judged = Row::new().check("size", laws::at_most(1.0, 2.0));
        let failed = judged.clone().check("bias", laws::at_most(3.0, 2.0));
        let silent = Row::new().missing("size");
        assert!(all_pass(&[judged.clone(), silent.clone()]));
        assert!(!all_pass(&[judged, failed.clone()]));
        assert!(!all_pass(&[silent]) && !all_pass(&[]));
        assert_eq!(failed.failures().map(|check| check.name).collect::<Vec<_>>(), ["bias"]);
    }

    proptest! {
        #[test]
        fn printing_rounds_to_the_nearest_number_of_so_many_digits(bits: u64, digits in 1..18usize) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let rounded: f64 = format!("{value:.*e}", digits - 1).parse().unwrap();
            let printed: f64 = significant(value, digits).parse().unwrap();
            prop_assert_eq!(printed.abs().to_bits(), rounded.abs().to_bits());
        }
    }
}
