# build/venv: pip for fetching the model, the compilers of the GPU kernels, and for the tests the packages of requirements.txt. Sourced by setup.sh.

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

# install_list NAME [PIP-OPTION…]: the packages of NAME.txt into build/venv, each file by its hash; the stamp says which list is installed.
install_list() {
    local venv=$root/build/venv name=$1 list=$here/$1.txt
    shift
    if cmp -s "$list" "$venv/installed_$name.txt"; then return 0; fi
    say "installing tools/setup/$name.txt into build/venv (pip)"
    need_space "$root/build" 700 "tools/setup/$name.txt"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: "$@" -r "$list" ||
        die "pip could not install tools/setup/$name.txt: if the lines above speak of connections, check the network; of space, free some; then run this again."
    cp "$list" "$venv/installed_$name.txt"
}

# setup_python run|test: unless CANDOR_GPU=OFF the compilers of the GPU kernels (of each only the program inside, so without its dependencies), and
# what the tests need.
setup_python() {
    make_venv
    [ "${CANDOR_GPU-ON}" != ON ] || install_list requirements_gpu --no-deps
    [ "$1" = run ] || install_list requirements
}
