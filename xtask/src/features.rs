//! The features of every published crate, none, each alone and all: each has to compile without the others,
//! and without warnings.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use crate::{Failure, root, say};

/// A published crate, and its features with what each of them turns on.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) rust_version: Option<String>,
    /// Its integration tests.
    pub(crate) tests: Vec<String>,
    features: BTreeMap<String, Vec<String>>,
}

/// Checks every crate with each of its features.
///
/// # Errors
///
/// [`Failure::Claim`] names the crate and the features, with what the compiler says.
pub fn run() -> Result<(), Failure> {
    let mut checks = 0;
    for package in packages()? {
        for features in package.selections() {
            let features = features.join(",");
            let arguments = ["check", "--quiet", "--no-default-features", "--features", &features];
            let output = Command::new("cargo")
                .args(arguments)
                .args(["--package", &package.name])
                .current_dir(root())
                .output()
                .map_err(|error| Failure::Claim(format!("cargo: {error}")))?;
            // Quiet cargo says nothing but what the compiler has to say, also of what it has compiled before.
            let said = String::from_utf8_lossy(&output.stderr);
            if !output.status.success() || said.contains("warning") {
                let name = package.name;
                let what = format!("{name} does not compile without warnings with features [{features}]");
                return Err(Failure::Claim(format!("{what}:\n{said}")));
            }
            checks += 1;
        }
    }
    say(&format!("{checks} selections of features compile without warnings"))
}

/// The crates of the workspace that are published, as cargo describes them.
pub(crate) fn packages() -> Result<Vec<Package>, Failure> {
    let unusable = |error: &dyn std::fmt::Display| Failure::Claim(format!("cargo metadata: {error}"));
    let output = Command::new("cargo")
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root())
        .output()
        .map_err(|error| unusable(&error))?;
    if !output.status.success() {
        return Err(unusable(&String::from_utf8_lossy(&output.stderr)));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| unusable(&error))?;
    let packages = metadata["packages"].as_array().ok_or(unusable(&"no packages"))?;
    Ok(packages.iter().filter(|package| package["publish"].is_null()).map(Package::of).collect())
}

impl Package {
    fn of(package: &Value) -> Self {
        let strings = |list: &Value| -> Vec<String> {
            list.as_array().into_iter().flatten().filter_map(|item| item.as_str().map(Into::into)).collect()
        };
        let features = package["features"].as_object().into_iter().flatten();
        let targets = package["targets"].as_array().into_iter().flatten();
        Self {
            name: package["name"].as_str().unwrap_or_default().into(),
            rust_version: package["rust_version"].as_str().map(Into::into),
            tests: targets
                .filter(|target| strings(&target["kind"]) == ["test"])
                .filter_map(|target| target["name"].as_str().map(Into::into))
                .collect(),
            features: features.map(|(name, turns_on)| (name.clone(), strings(turns_on))).collect(),
        }
    }

    /// No feature, each alone and all, without those that turn on what another has turned on already.
    fn selections(&self) -> Vec<Vec<&str>> {
        let alone = self.features.keys().map(|name| vec![name.as_str()]);
        let all = self.features.keys().map(String::as_str).collect();
        let mut seen = BTreeSet::new();
        std::iter::once(vec![])
            .chain(alone)
            .chain([all])
            .filter(|selection| seen.insert(self.turned_on(selection)))
            .collect()
    }

    /// The features that a selection comes to; `default` is but a name for others.
    fn turned_on<'a>(&'a self, selection: &[&'a str]) -> BTreeSet<&'a str> {
        let mut on = BTreeSet::new();
        let mut next = selection.to_vec();
        while let Some(name) = next.pop() {
            if let Some(turns_on) = self.features.get(name)
                && on.insert(name)
            {
                next.extend(turns_on.iter().map(String::as_str));
            }
        }
        on.remove("default");
        on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_is_alone_once_and_names_of_others_are_not_repeated() {
        let feature =
            |name: &str, on: &[&str]| (name.to_owned(), on.iter().map(|&on| on.to_owned()).collect());
        let package = Package {
            name: String::new(),
            rust_version: None,
            tests: Vec::new(),
            features: [
                feature("default", &["std"]),
                feature("rayon", &["dep:rayon", "std"]),
                feature("std", &["core/std"]),
                feature("x", &[]),
            ]
            .into(),
        };
        let all = ["default", "rayon", "std", "x"];
        assert_eq!(package.selections(), [&[][..], &["default"], &["rayon"], &["x"], &all]);
    }

    #[test]
    fn every_published_crate_is_found() {
        let packages = packages().expect("cargo describes the workspace");
        assert!(packages.iter().any(|package| package.name == "pds-core"));
        assert!(packages.iter().all(|package| package.name != "xtask" && package.rust_version.is_some()));
    }
}
