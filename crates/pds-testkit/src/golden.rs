//! Golden files: bytes that were written once and have to be read, and written, for ever.

use std::fs;
use std::path::Path;

/// Asserts that a file of a crate's folder `golden` holds exactly these bytes.
///
/// `manifest_dir` is the crate's `env!("CARGO_MANIFEST_DIR")`. Under `PDS_WRITE_GOLDEN=1` a file that is missing is
/// written; one that exists never is: a change of bytes needs a new version and a new file.
///
/// # Panics
///
/// If the file is missing or differs.
pub fn golden(manifest_dir: &str, name: &str, bytes: &[u8]) {
    let path = Path::new(manifest_dir).join("golden").join(name);
    if !path.exists() && std::env::var_os("PDS_WRITE_GOLDEN").is_some() {
        fs::create_dir_all(path.with_file_name("")).expect("a directory that can be made");
        fs::write(&path, bytes).expect("a file that can be written");
    }
    let stored = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(stored == bytes, "{} holds other bytes than are written now", path.display());
}
