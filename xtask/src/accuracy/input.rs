//! Keys of the user's own: one a line, any bytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::bufread::GzDecoder;

use super::files::unusable;
use crate::Failure;

/// The first bytes of a gzip member: its magic number and the one compression method there is.
const GZIP: [u8; 3] = [0x1f, 0x8b, 0x08];

/// Calls `each` with every line of a file, or of standard input for `-`; gzip is known by its first bytes.
///
/// A line's key is its bytes less `\n` and one trailing `\r`. An empty line is a key; what follows the last `\n` is a
/// line if it is not empty.
pub(super) fn each_line(path: &Path, mut each: impl FnMut(&[u8])) -> Result<(), Failure> {
    let failed = |error: io::Error| unusable(path, &error);
    let mut raw: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(failed)?)
    };
    // A pipe may deliver its first bytes one at a time.
    let mut start = Vec::new();
    raw.by_ref().take(GZIP.len() as u64).read_to_end(&mut start).map_err(failed)?;
    let zipped = start == GZIP;
    let reader = BufReader::with_capacity(1 << 16, Cursor::new(start).chain(raw));
    if zipped {
        lines(BufReader::with_capacity(1 << 16, Members::of(reader)), &mut each).map_err(failed)
    } else {
        lines(reader, &mut each).map_err(failed)
    }
}

/// The contents of one gzip member after the other; zeros behind the last are padding.
struct Members<R: BufRead> {
    current: Option<GzDecoder<R>>,
}

impl<R: BufRead> Members<R> {
    fn of(reader: R) -> Self {
        Self { current: Some(GzDecoder::new(reader)) }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.current {
            let read = decoder.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let mut rest = match self.current.take() {
                Some(decoder) => decoder.into_inner(),
                None => return Ok(0),
            };
            while let [0, ..] = rest.fill_buf()? {
                rest.consume(1);
            }
            if !rest.fill_buf()?.is_empty() {
                self.current = Some(GzDecoder::new(rest));
            }
        }
        Ok(0)
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
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn keys(reader: impl BufRead) -> Vec<Vec<u8>> {
        let mut keys = Vec::new();
        lines(reader, &mut |key: &[u8]| keys.push(key.to_vec())).unwrap();
        keys
    }

    fn zipped(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_line_is_its_bytes_less_the_line_end() {
        assert_eq!(keys(&b""[..]), Vec::<Vec<u8>>::new());
        assert_eq!(keys(&b"\n"[..]), [b""]);
        assert_eq!(keys(&b"a\nb"[..]), [b"a", b"b"]);
        assert_eq!(keys(&b"a\r\n\r\nb\r\r\n"[..]), [&b"a"[..], b"", b"b\r"]);
        assert_eq!(keys(&b"\xff\xfe\n\0\n"[..]), [&b"\xff\xfe"[..], b"\0"]);
        assert_eq!(keys(&vec![b'x'; 1 << 20][..]), [vec![b'x'; 1 << 20]]);
    }

    #[test]
    fn members_follow_each_other_and_padding_ends_them() {
        let bytes = [zipped(b"a\nb"), zipped(b"c\n"), vec![0; 700]].concat();
        assert_eq!(keys(BufReader::new(Members::of(&bytes[..]))), [&b"a"[..], b"bc"]);
        let cut = &zipped(&[b'x'; 1000])[..20];
        assert!(io::copy(&mut Members::of(cut), &mut io::sink()).is_err());
        let junk = [zipped(b"a\n"), b"junk".to_vec()].concat();
        assert!(io::copy(&mut Members::of(&junk[..]), &mut io::sink()).is_err());
    }
}
