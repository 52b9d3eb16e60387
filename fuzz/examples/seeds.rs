//! Writes the seeds of targets below a folder, one folder for each: `seeds FOLDER [TARGET..]`, all targets if none is named.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let mut arguments = env::args().skip(1);
    let folder = arguments.next().ok_or(io::Error::other("seeds FOLDER [TARGET..]"))?;
    let chosen: Vec<String> = arguments.collect();
    let golden = pds_fuzz::golden_files()?;
    for (target, _) in pds_fuzz::TARGETS {
        if chosen.is_empty() || chosen.iter().any(|name| name == target) {
            let folder = Path::new(&folder).join(target);
            fs::create_dir_all(&folder)?;
            for (i, seed) in pds_fuzz::seeds(target, &golden).into_iter().enumerate() {
                fs::write(folder.join(format!("seed-{i:04}")), seed)?;
            }
        }
    }
    Ok(())
}
