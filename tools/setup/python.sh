# build/venv: pip for fetching the model, and the packages of requirements.txt for the tests. Sourced by setup.sh.

# supported_python: the first of the path's and the system's python3 whose version requirements.txt has files for.
supported_python() {
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
            echo "$python"
            return 0
        fi
    done
    die "python3: expected version 3.11, 3.12 or 3.13, got $(python3 --version 2>&1); put one of these first on the path."
}

# make_venv: the file "ready" in it says that it was made to the end; without it an interrupted try starts anew.
make_venv() {
    local venv=$root/build/venv python
    if [ -e "$venv/ready" ] && [ -x "$venv/bin/python" ]; then return 0; fi
    python=$(supported_python)
    say "making build/venv"
    rm -rf "$venv"
    "$python" -m venv "$venv" >"$root/build/venv.log" 2>&1 || {
        tail -n 5 "$root/build/venv.log" >&2
        rm -rf "$venv"
        die "$python could not make build/venv: expected its venv module (apt-get install python3-venv) and free disk space."
    }
    touch "$venv/ready"
}

# Only what the tests need comes from PyPI, each file by its hash; the stamp says which list is installed.
install_requirements() {
    local venv=$root/build/venv list=$here/requirements.txt
    if cmp -s "$list" "$venv/installed.txt"; then return 0; fi
    say "installing tools/setup/requirements.txt into build/venv (pip)"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$list" ||
        die "pip could not install tools/setup/requirements.txt: if the lines above speak of connections, check the network; of space, free some; then run this again."
    cp "$list" "$venv/installed.txt"
}

# setup_python run|test
setup_python() {
    make_venv
    [ "$1" = run ] || install_requirements
}
