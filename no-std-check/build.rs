//! The C runtime starts `main` where there is one; a bare target has an entry of its own and needs none of this.

fn main() {
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if os == "linux" {
        println!("cargo::rustc-link-arg=-lc");
    }
}
