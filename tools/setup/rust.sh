# Rust for the text library: a cargo on the path if it is new enough, else Debian's cargo-web. Sourced by setup.sh.
rust_minimum=1.87

# cargo_version: of the cargo on the path, nothing without one.
cargo_version() { if have cargo; then cargo --version 2>/dev/null | awk '{ print $2 }'; fi; }

rust_is_new_enough() {
    local version
    version=$(cargo_version)
    [ -n "$version" ] && version_at_least "$version" "$rust_minimum"
}

setup_rust() {
    local version
    if rust_is_new_enough; then return 0; fi
    version=$(cargo_version)
    if [ -n "$version" ] && [ "$(command -v cargo)" != /usr/bin/cargo ]; then
        die "cargo: expected version $rust_minimum or newer, got $version from $(command -v cargo); run: rustup update stable."
    fi
    apt_install cargo-web rustc-web
    rust_is_new_enough ||
        die "cargo: expected version $rust_minimum or newer, got ${version:-none}; install a newer Rust (rustup) and run this again."
}
