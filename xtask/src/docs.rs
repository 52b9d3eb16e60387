//! `cargo xtask docs`: the book, and what ties it to the code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::accuracy::EXPERIMENTS;
use crate::{Failure, root};

/// Checks citations and inclusions, then builds the book with mdBook.
///
/// # Errors
///
/// [`Failure::Claim`] names every citation without an entry, every table that no chapter includes, and a book that does
/// not build; [`Failure::Usage`] says that mdBook is not installed.
pub fn run() -> Result<(), Failure> {
    let faults: Vec<String> =
        uncited()?.into_iter().chain(unread_tables()?).chain(missing_parts()?).collect();
    if !faults.is_empty() {
        return Err(Failure::Claim(faults.join("\n")));
    }
    let status = Command::new("mdbook")
        .args(["build", "--dest-dir"])
        .arg(root().join("target/book"))
        .arg(root().join("docs"))
        .status()
        .map_err(|error| Failure::Usage(format!("mdbook: {error} (cargo install --locked mdbook)")))?;
    if status.success() { Ok(()) } else { Err(Failure::Claim("the book does not build".to_owned())) }
}

/// Citation keys in code or chapters that `references.md` does not explain.
fn uncited() -> Result<Vec<String>, Failure> {
    let references = read(&root().join("docs/src/references.md"))?;
    let known: BTreeSet<&str> = citations(&references).collect();
    let mut faults = Vec::new();
    let mut files = files_below(&root().join("crates"), &["rs", "md"])?;
    files.extend(files_below(&root().join("xtask/src"), &["rs"])?);
    files.extend(files_below(&root().join("docs/src"), &["md"])?);
    for file in files {
        let text = read(&file)?;
        for key in citations(&text).collect::<BTreeSet<_>>() {
            if !known.contains(key) {
                faults.push(format!("{}: [{key}] is not in references.md", file.display()));
            }
        }
    }
    Ok(faults)
}

/// Keys such as `Bloom70` of `[Bloom70]` or `[Lemire19, 2]`: capital, letters, two digits.
fn citations(text: &str) -> impl Iterator<Item = &str> {
    text.split('[').skip(1).filter_map(|rest| {
        let key = rest.split([']', ',', '\\']).next()?;
        let letters = key.trim_end_matches(|c: char| c.is_ascii_digit());
        let shaped = key.len() == letters.len() + 2
            && letters.len() > 2
            && letters.starts_with(|c: char| c.is_ascii_uppercase())
            && letters.chars().all(|c| c.is_ascii_alphabetic());
        shaped.then_some(key)
    })
}

/// Generated tables that no chapter includes.
fn unread_tables() -> Result<Vec<String>, Failure> {
    let mut chapters = String::new();
    for file in files_below(&root().join("docs/src"), &["md"])? {
        if !file.starts_with(root().join("docs/src/tables")) {
            chapters += &read(&file)?;
        }
    }
    let missing = |id: &&str| !chapters.contains(&format!("tables/{id}.md"));
    let ids = EXPERIMENTS.iter().map(|experiment| experiment.id);
    Ok(ids.filter(missing).map(|id| format!("no chapter includes tables/{id}.md")).collect())
}

/// Files that a chapter includes, shows or links to, and that are not there: mdBook itself only warns.
fn missing_parts() -> Result<Vec<String>, Failure> {
    let book = root().join("docs/src");
    let mut faults = Vec::new();
    for chapter in files_below(&book, &["md"])? {
        let dir = chapter.parent().unwrap_or(&book);
        let text = read(&chapter)?;
        for part in parts(&text).chain(links(&text)).filter(|part| !dir.join(part).exists()) {
            faults.push(format!("{}: {part} is not there", chapter.display()));
        }
    }
    Ok(faults)
}

/// Targets of inclusions and of pictures.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let included = text.split("{{#include ").skip(1).filter_map(|rest| rest.split("}}").next());
    let shown = text.split("![").skip(1).filter_map(|rest| rest.split_once("](")?.1.split(')').next());
    included.chain(shown).map(str::trim)
}

/// Files of the book that are linked to, without the heading in them. Programs have no links.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let prose = text.split("```").step_by(2);
    let targets = prose.flat_map(|part| part.split("](").skip(1).filter_map(|rest| rest.split(')').next()));
    let files = targets.filter_map(|target| target.split('#').next());
    files.filter(|file| !file.is_empty() && !file.contains(':'))
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))
}

/// Files with one of these extensions, in order.
fn files_below(dir: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| Failure::Usage(format!("{}: {error}", dir.display()));
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            found.extend(files_below(&path, extensions)?);
        } else if path.extension().is_some_and(|end| extensions.iter().any(|wanted| end == *wanted)) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inclusions_and_pictures_are_parts() {
        let text = "a {{#include tables/x.md}} and ![a plot](plots/x.svg), not [a link](y.md)";
        assert_eq!(parts(text).collect::<Vec<_>>(), ["tables/x.md", "plots/x.svg"]);
    }

    #[test]
    fn links_are_to_files_of_the_book() {
        let text = "[a](x.md), [b](y.md#part), [c](#here), [d](https://example.org)\n```rust\nf[0](z)\n```\n[e](e.md)";
        assert_eq!(links(text).collect::<Vec<_>>(), ["x.md", "y.md", "e.md"]);
    }

    #[test]
    fn a_citation_is_a_name_and_two_digits() {
        let text = "`[Bloom70]`, [Lemire19, 2] and [BoseEtAl08]; not [T1], [text](link), [u8; 16] or [0]";
        assert_eq!(citations(text).collect::<Vec<_>>(), ["Bloom70", "Lemire19", "BoseEtAl08"]);
    }
}
