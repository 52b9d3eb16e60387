//! The read path of a log-structured store: sorted files on disk, a filter for each, and the reads that it saves.
//!
//! `cargo run --release -p pds-merge --example lsm_read_path -- keys.txt`

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::ExitCode;

use pds_bloom::{BloomFilter, BloomParams, BloomView, Sketch};
use pds_static_filters::{RibbonFilter, RibbonParams, RibbonView};

mod common;
use common::{Folder, Outcome, bytes, claim, some, table_bytes};

const USAGE: &str = "usage: lsm_read_path [FILE]\n\
    FILE: keys, one a line, plain or gzip; - is standard input; without it, generated keys";
const FILES: usize = 7;
const FPR: f64 = 0.01;
const BLOCK: usize = 4096;
const LOOKUPS: usize = 100_000;
type MayHold<'a> = &'a dyn Fn(usize, &[u8]) -> bool;

/// A sorted file, and the first key, place and length of each of its blocks.
struct Run(File, Vec<(Vec<u8>, u64, usize)>);

impl Run {
    fn write(path: &Path, keys: &[&Vec<u8>]) -> io::Result<Self> {
        let (mut data, mut index) = (Vec::new(), Vec::<(Vec<u8>, u64, usize)>::new());
        for &key in keys {
            if index.last().is_none_or(|&(.., length)| length >= BLOCK) {
                index.push((key.clone(), data.len() as u64, 0));
            }
            data.extend([key, &b"\n"[..]].concat());
            index.last_mut().into_iter().for_each(|block| block.2 = data.len() - block.1 as usize);
        }
        fs::write(path, &data)?;
        Ok(Self(File::open(path)?, index))
    }

    /// Looks into the one block that the key would be in.
    fn read(&self, key: &[u8]) -> io::Result<bool> {
        let after = self.1.partition_point(|(first, ..)| first.as_slice() <= key);
        let Some((_, start, length)) = after.checked_sub(1).map(|block| &self.1[block]) else {
            return Ok(false);
        };
        let mut block = vec![0; *length];
        (&self.0).seek(SeekFrom::Start(*start))?;
        (&self.0).read_exact(&mut block)?;
        Ok(block.split(|&byte| byte == b'\n').any(|row| row == key))
    }
}

fn main() -> ExitCode {
    common::run(USAGE, |files| files <= 1, example)
}

fn example(files: &[OsString], out: &mut dyn Write) -> Outcome {
    let mut keys = BTreeSet::new();
    let generated = (0..70_000).map(|i| format!("user/{:016x}", common::random(i)));
    common::each_line(files.first(), generated, |line| Ok(_ = keys.insert(line.to_vec())))?;
    some(!keys.is_empty(), "key")?;

    let folder = Folder::new("lsm")?;
    let path = |run: usize, end: &str| folder.path().join(format!("{run}.{end}"));
    let mut runs = Vec::new();
    for run in 0..FILES {
        // Dealt out, so that each file spans all keys, as the youngest files of a store do.
        let mine: Vec<&Vec<u8>> = keys.iter().skip(run).step_by(FILES).collect();
        runs.push(Run::write(&path(run, "run"), &mine)?);
        let mut bloom = BloomFilter::new(BloomParams::for_fpr(mine.len() as u64, FPR)?);
        bloom.extend(&mine);
        fs::write(path(run, "bloom"), bloom.to_bytes())?;
        let ribbon = RibbonFilter::from_keys(RibbonParams::for_fpr(FPR)?, &mine)?;
        fs::write(path(run, "ribbon"), ribbon.to_bytes())?;
    }

    // When the store opens: filters are asked where their bytes lie, never decoded. A server would map the files.
    let load = |end| (0..FILES).map(|run| fs::read(path(run, end))).collect::<io::Result<Vec<_>>>();
    let (blooms, ribbons) = (load("bloom")?, load("ribbon")?);
    let bloom = blooms.iter().map(|bytes| BloomFilter::view(bytes)).collect::<Result<Vec<_>, _>>()?;
    let ribbon = ribbons.iter().map(|bytes| RibbonFilter::view(bytes)).collect::<Result<Vec<_>, _>>()?;
    bloom.iter().try_for_each(BloomView::verify)?;
    ribbon.iter().try_for_each(RibbonView::verify)?;

    let present: Vec<&Vec<u8>> = keys.iter().step_by(keys.len().div_ceil(LOOKUPS).max(1)).collect();
    let mut absent: Vec<Vec<u8>> = present.iter().map(|key| [key.as_slice(), b"?"].concat()).collect();
    absent.retain(|key| !keys.contains(key));
    let size = |files: &[Vec<u8>]| files.iter().map(Vec::len).sum::<usize>();
    let modes: [(&str, usize, MayHold); 3] = [
        ("no filter", 0, &|_, _| true),
        ("Bloom filters, 1%", size(&blooms), &|run, key| bloom[run].contains(key)),
        ("ribbon filters, 1%", size(&ribbons), &|run, key| ribbon[run].contains(key)),
    ];
    writeln!(out, "{} keys in {FILES} sorted files; a read is a block of some {BLOCK} bytes", keys.len())?;
    writeln!(out, "reads a lookup{:>22}{:>16}{:>12}", "absent key", "present key", "memory")?;
    for (name, memory, may_hold) in modes {
        // A yes is a hint, and the file decides.
        let lookup = |key: &[u8], reads: &mut u64| {
            (0..FILES).filter(|&run| may_hold(run, key)).try_fold(false, |found, run| {
                *reads += u64::from(!found);
                Ok::<_, io::Error>(found || runs[run].read(key)?)
            })
        };
        let (mut missing, mut reads) = (0, 0);
        for key in &absent {
            claim(!lookup(key, &mut missing)?, "no absent key is found")?;
        }
        for key in &present {
            claim(lookup(key, &mut reads)?, "no key is lost")?;
        }
        let mean = |reads: u64, lookups: usize| reads as f64 / lookups.max(1) as f64;
        let (missing, reads) = (mean(missing, absent.len()), mean(reads, present.len()));
        writeln!(out, "{name:<24}{missing:>12.4}{reads:>16.4}{:>12}", bytes(memory))?;
    }
    let exact = table_bytes(keys.len(), size_of::<Vec<u8>>(), keys.iter());
    Ok(writeln!(out, "{:<24}{:>12}{:>16}{:>12}", "exact: a set of all keys", 0, 1, bytes(exact))?)
}
