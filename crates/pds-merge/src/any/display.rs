//! Numbers and keys as people read them.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::Write;

/// Four digits that count; very small and very large numbers by their power of ten.
pub(super) fn rounded(value: f64) -> String {
    /// Below, a number would begin with many zeros.
    const LEAST: f64 = 1e-4;
    /// From there on, whole numbers have more digits than four: they are shown, as counts are.
    const WHOLE: f64 = 1e3;
    /// From there on, they are too many.
    const MOST: f64 = 1e15;
    let digits = format!("{value:.3e}");
    match digits.parse::<f64>() {
        _ if (WHOLE..MOST).contains(&value.abs()) => format!("{value:.0}"),
        Ok(rounded) if rounded == 0.0 || (LEAST..MOST).contains(&rounded.abs()) => rounded.to_string(),
        _ if value.is_finite() => digits,
        _ => value.to_string(),
    }
}

/// All digits that tell the number from its neighbours.
#[cfg(any(feature = "bloom", feature = "cms", feature = "quantiles", feature = "static-filters"))]
pub(super) fn exact(value: f64) -> String {
    let mut digits = format!("{value:?}");
    if let Some(whole) = digits.strip_suffix(".0") {
        digits.truncate(whole.len());
    }
    digits
}

/// A text in quotes, or the bytes in hexadecimal if they are none, or one with control characters. Of long ones the
/// beginning and the length.
pub(super) fn text_or_hex(bytes: &[u8]) -> String {
    /// Characters, or bytes in hexadecimal.
    const MOST: usize = 100;
    let (mut shown, len) = match core::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(char::is_control) => {
            let head: String = text.chars().take(MOST).collect();
            (format!("{head:?}"), head.len())
        }
        _ => {
            let head = &bytes[..bytes.len().min(MOST)];
            let mut hex = String::from("0x");
            for byte in head {
                // Writing to a string does not fail.
                let _ = write!(hex, "{byte:02x}");
            }
            (hex, head.len())
        }
    };
    if len < bytes.len() {
        let _ = write!(shown, "... ({} bytes)", bytes.len());
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_four_digits() {
        let shown = [0.0, 1.0 / 3.0, 1234.5, 12_345_678.0, 1e-9, 2.5e20, -0.5, f64::INFINITY].map(rounded);
        assert_eq!(shown, ["0", "0.3333", "1234", "12345678", "1.000e-9", "2.500e20", "-0.5", "inf"]);
    }

    #[test]
    #[cfg(any(feature = "bloom", feature = "cms", feature = "quantiles", feature = "static-filters"))]
    fn parameters_keep_all_digits() {
        let shown = [0.01, 0.01f64.next_up(), 1.0 / 3.0, 20.0, 1e-12, 5e300].map(exact);
        let digits = ["0.01", "0.010000000000000002", "0.3333333333333333", "20", "1e-12", "5e300"];
        assert_eq!(shown, digits);
    }

    #[test]
    fn keys_are_texts_or_hexadecimal() {
        assert_eq!(text_or_hex(b"/login"), "\"/login\"");
        assert_eq!(text_or_hex(&5u64.to_le_bytes()), "0x0500000000000000");
        assert_eq!(text_or_hex(&[0xff]), "0xff");
        assert_eq!(text_or_hex(b"a\nb"), "0x610a62");
        assert_eq!(text_or_hex(&[b'a'; 100]), format!("\"{}\"", "a".repeat(100)));
        assert_eq!(
            text_or_hex("\u{e9}".repeat(101).as_bytes()),
            format!("\"{}\"... (202 bytes)", "\u{e9}".repeat(100))
        );
        assert_eq!(text_or_hex(&[0; 1000]), format!("0x{}... (1000 bytes)", "00".repeat(100)));
    }
}
