//! Keys of the user's own: one a line, any bytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::files::unusable;
use crate::Failure;

/// The first two bytes of a gzip stream.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Calls `each` with every line of a file, or of standard input for `-`; gzip is known by its first bytes.
///
/// A line's key is its bytes less `\n` and one trailing `\r`. An empty line is a key; what follows the last `\n` is a
/// line if it is not empty.
pub(super) fn each_line(path: &Path, mut each: impl FnMut(&[u8])) -> Result<(), Failure> {
    let failed = |error: io::Error| unusable(path, &error);
    let raw: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(failed)?)
    };
    let mut reader = BufReader::with_capacity(1 << 16, raw);
    if reader.fill_buf().map_err(failed)?.starts_with(&GZIP) {
        lines(BufReader::new(MultiGzDecoder::new(reader)), &mut each).map_err(failed)
    } else {
        lines(reader, &mut each).map_err(failed)
    }
}

fn lines(mut reader: impl BufRead, each: &mut impl FnMut(&[u8])) -> io::Result<()> {
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        let key = line.strip_suffix(b"\n").unwrap_or(&line);
        each(key.strip_suffix(b"\r").unwrap_or(key));
        line.clear();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &[u8]) -> Vec<Vec<u8>> {
        let mut keys = Vec::new();
        lines(text, &mut |key: &[u8]| keys.push(key.to_vec())).unwrap();
        keys
    }

    #[test]
    fn a_line_is_its_bytes_less_the_line_end() {
        assert_eq!(keys(b""), Vec::<Vec<u8>>::new());
        assert_eq!(keys(b"\n"), [b""]);
        assert_eq!(keys(b"a\nb"), [b"a", b"b"]);
        assert_eq!(keys(b"a\r\n\r\nb\r\r\n"), [&b"a"[..], b"", b"b\r"]);
        assert_eq!(keys(b"\xff\xfe\n\0\n"), [&b"\xff\xfe"[..], b"\0"]);
        assert_eq!(keys(&vec![b'x'; 1 << 20]), [vec![b'x'; 1 << 20]]);
    }
}
