# The C++ compiler that CMake will take: new enough? Sourced by setup.sh.
setup_compiler() {
    local compiler=${CXX:-c++} version minimum=12
    have "$compiler" || die "$compiler: no such C++ compiler; unset CXX, or set it to g++ 12 or newer (or clang++ 16 or newer)."
    if "$compiler" --version 2>/dev/null | head -n 1 | grep -qi clang; then minimum=16; fi
    version=$("$compiler" -dumpfullversion -dumpversion 2>/dev/null || echo unknown)
    version_at_least "$version" "$minimum" ||
        die "$compiler: expected version $minimum or newer, got $version; C++20 needs it: install g++-12 (apt-get install g++-12) and run make with CXX=g++-12."
}
