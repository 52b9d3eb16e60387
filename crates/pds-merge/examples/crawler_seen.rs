//! Which URLs a crawler has fetched, of a number that nobody knows: a filter that grows. A page is never fetched twice; at a
//! small rate one is never fetched.
//!
//! `cargo run --release -p pds-merge --example crawler_seen -- urls.txt`

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use pds_bloom::{ScalableBloomFilter, ScalableBloomParams};

mod common;
use common::{Outcome, bytes, claim, random, some, table_bytes};

const USAGE: &str = "usage: crawler_seen [FILE]\n\
    FILE: URLs in the order of the crawl, one a line, plain or gzip; - is standard input; without it, generated URLs";
/// Wrong yeses that the crawler can live with; lower rates cost bits.
const RATES: [f64; 3] = [0.01, 0.001, 0.0001];
/// What the filter has room for at first; it grows.
const AT_FIRST: u64 = 1000;

fn main() -> ExitCode {
    common::run(USAGE, |files| files <= 1, example)
}

/// Links, of which most lead to pages that are well known.
fn generated() -> impl Iterator<Item = String> {
    (0..200_000u64).map(|i| {
        let page = random(i) % (1 + random(i ^ 0x5eed) % 100_000);
        format!("https://site{}.example/{page}", page % 97)
    })
}

/// A filter, and what came of asking it.
struct Seen {
    filter: ScalableBloomFilter,
    fetched: u64,
    skipped: u64,
    twice: u64,
}

fn example(files: &[OsString], out: &mut dyn Write) -> Outcome {
    let mut crawls = Vec::new();
    for rate in RATES {
        let filter = ScalableBloomFilter::new(ScalableBloomParams::for_fpr(AT_FIRST, rate)?);
        crawls.push(Seen { filter, fetched: 0, skipped: 0, twice: 0 });
    }
    let (mut exact, mut links) = (HashSet::new(), 0u64);
    common::each_line(files.first(), generated(), |url| {
        links += 1;
        let new = !exact.contains(url) && exact.insert(url.to_vec());
        for crawl in &mut crawls {
            // Certain news, or "seen": then the page is skipped, and stays unknown to the filter.
            let fetch = crawl.filter.insert(url)?;
            crawl.fetched += u64::from(fetch);
            crawl.skipped += u64::from(new && !fetch);
            crawl.twice += u64::from(!new && fetch);
        }
        Ok(())
    })?;
    some(links > 0, "URL")?;

    let pages = exact.len();
    writeln!(out, "{links} links to {pages} pages")?;
    writeln!(
        out,
        "{:<26}{:>10}{:>18}{:>16}{:>8}{:>12}",
        "", "fetched", "wrongly skipped", "fetched twice", "layers", "memory"
    )?;
    for (rate, Seen { filter, fetched, skipped, twice }) in RATES.iter().zip(&crawls) {
        claim(*twice == 0, "no page is fetched twice")?;
        let share = *skipped as f64 / pages.max(1) as f64;
        let wrong = format!("{skipped} ({:.3}%)", 100.0 * share);
        let name = format!("filter, at most {}%", 100.0 * rate);
        let (layers, memory) = (filter.layers(), bytes(filter.size_bytes()));
        writeln!(out, "{name:<26}{fetched:>10}{wrong:>18}{twice:>16}{layers:>8}{memory:>12}")?;
    }
    let memory = bytes(table_bytes(exact.capacity(), size_of::<Vec<u8>>(), exact.iter()));
    writeln!(out, "{:<26}{pages:>10}{:>18}{:>16}{:>8}{memory:>12}", "exact: a set of URLs", 0, 0, "")?;
    Ok(())
}
