//! What the examples share: lines of the user's files, plain or gzip, and an end without a panic.

// Each example uses a part of it.
#![allow(dead_code)]

pub(crate) mod access_log;

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use flate2::bufread::MultiGzDecoder;

/// Why an example ended without success.
pub(crate) enum Failure {
    /// The command line is of no use.
    Usage,
    /// The input is of no use, or a limit was met.
    Input(String),
    /// What was promised does not hold.
    Claim(String),
    /// Nobody reads the output any more.
    Unread,
}

impl<E: Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        match (&error as &dyn Error).downcast_ref::<io::Error>().map(io::Error::kind) {
            Some(io::ErrorKind::BrokenPipe) => Self::Unread,
            _ => Self::Input(error.to_string()),
        }
    }
}

pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// Runs an example on the files that the command line names: one of `counts` many. Exit code 2 is for bad usage or input,
/// 1 for a claim that does not hold.
pub(crate) fn run(
    usage: &str,
    counts: impl Fn(usize) -> bool,
    example: impl FnOnce(&[OsString], &mut dyn Write) -> Outcome,
) -> ExitCode {
    let files: Vec<OsString> = std::env::args_os().skip(1).collect();
    let is = |file: &OsString, names: &[&str]| names.iter().any(|name| file.as_os_str() == OsStr::new(name));
    if files.iter().any(|file| is(file, &["-h", "--help"])) {
        // Where nobody reads it, nothing is lost.
        _ = writeln!(io::stdout(), "{usage}");
        return ExitCode::SUCCESS;
    }
    let option = |file: &OsString| file.as_encoded_bytes().starts_with(b"-") && !is(file, &["-"]);
    let inputs = files.iter().filter(|file| is(file, &["-"])).count();
    let outcome = if files.iter().any(option) || inputs > 1 || !counts(files.len()) {
        Err(Failure::Usage)
    } else {
        let mut out = BufWriter::new(io::stdout().lock());
        example(&files, &mut out).and_then(|()| Ok(out.flush()?))
    };
    let (code, message) = match outcome {
        Ok(()) | Err(Failure::Unread) => return ExitCode::SUCCESS,
        Err(Failure::Claim(message)) => (1, message),
        Err(Failure::Input(message)) => (2, message),
        Err(Failure::Usage) => (2, usage.to_owned()),
    };
    _ = writeln!(io::stderr(), "{message}");
    ExitCode::from(code)
}

/// Fails the example where a promise is not kept.
pub(crate) fn claim(holds: bool, what: &str) -> Outcome {
    if holds { Ok(()) } else { Err(Failure::Claim(format!("does not hold: {what}"))) }
}

/// Ends the example where the input has nothing to answer from.
pub(crate) fn some(any: bool, what: &str) -> Outcome {
    if any { Ok(()) } else { Err(Failure::Input(format!("no {what} in the input"))) }
}

/// Calls `each` with every line of a file (`-`: standard input; gzip is known by its first bytes), or of what is generated
/// where no file is named. A line is its bytes less `\n` and one `\r`; any bytes will do.
pub(crate) fn each_line<L: AsRef<[u8]>>(
    file: Option<&OsString>,
    generated: impl IntoIterator<Item = L>,
    mut each: impl FnMut(&[u8]) -> Outcome,
) -> Outcome {
    let Some(path) = file else {
        return generated.into_iter().try_for_each(|line| each(line.as_ref()));
    };
    let failed = |error: io::Error| Failure::Input(format!("{}: {error}", path.to_string_lossy()));
    let mut raw: Box<dyn Read> =
        if path == "-" { Box::new(io::stdin().lock()) } else { Box::new(File::open(path).map_err(failed)?) };
    let mut start = Vec::new();
    raw.by_ref().take(2).read_to_end(&mut start).map_err(failed)?;
    let zipped = start == [0x1f, 0x8b];
    let whole = BufReader::new(Cursor::new(start).chain(raw));
    let mut lines: Box<dyn BufRead> =
        if zipped { Box::new(BufReader::new(MultiGzDecoder::new(whole))) } else { Box::new(whole) };
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).map_err(failed)? > 0 {
        let key = line.strip_suffix(b"\n").unwrap_or(&line);
        each(key.strip_suffix(b"\r").unwrap_or(key))?;
        line.clear();
    }
    Ok(())
}

/// Numbers that look random and are the same in every run.
pub(crate) fn random(index: u64) -> u64 {
    pds_hash::mix(index)
}

/// About what a hash table takes: a slot and a byte for each bucket, and the keys.
pub(crate) fn table_bytes<'a>(
    capacity: usize,
    slot: usize,
    keys: impl Iterator<Item = &'a Vec<u8>>,
) -> usize {
    (capacity * 8 / 7).next_power_of_two() * (slot + 1) + keys.map(Vec::capacity).sum::<usize>()
}

/// Bytes for readers; the prefixes are decimal.
pub(crate) fn bytes(count: usize) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}

/// A number for readers: five digits, or more before the point.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size @ 1e-4..1e9 => format!("{value:.0$}", (4.0 - size.log10().floor()).max(0.0) as usize),
        _ => format!("{value:.4e}"),
    }
}

/// A key for readers: its text, cut short.
pub(crate) fn shown(key: &[u8], most: usize) -> String {
    let text = String::from_utf8_lossy(&key[..key.len().min(4 * most)]);
    text.chars().take(most).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// A folder for the time of the example.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Outcome<Self> {
        let folder = Self(std::env::temp_dir().join(format!("pds-{name}-{}", std::process::id())));
        fs::create_dir(&folder.0)?;
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}
