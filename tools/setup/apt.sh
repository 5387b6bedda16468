# Debian packages of packages.txt: finds what is missing or too old and installs exactly that. Sourced by setup.sh.

# wanted_packages run|test: lines "name minimum".
wanted_packages() {
    awk -v stage="$1" '/^[^#]/ && ($3 == "run" || stage == "test") { print $1, $2 }' "$here/packages.txt"
}

# missing_packages run|test: lines "name minimum installed-version-or-none", one a package that is not there in the version needed.
missing_packages() {
    local installed name minimum version
    installed=$(dpkg-query -W -f='${Package} ${db:Status-Status} ${Version}\n' 2>/dev/null | awk '$2 == "installed" { print $1, $3 }')
    wanted_packages "$1" | while read -r name minimum; do
        version=$(awk -v name="$name" '$1 == name { print $2; exit }' <<<"$installed")
        if [ -z "$version" ]; then
            echo "$name $minimum none"
        elif ! dpkg --compare-versions "$version" ge "$minimum"; then
            echo "$name $minimum $version"
        fi
    done
}

# apt_install PACKAGE…: installs, or ends with a sentence that says why not. Removes nothing that is installed.
apt_install() {
    local log
    root_or_die "apt-get install $*"
    need_space / 2500 "the packages $*"
    log=$(mktemp)
    say "installing $* (apt-get)"
    if as_root apt-get update -q >"$log" 2>&1 &&
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends --no-remove \
            -o DPkg::Lock::Timeout=300 "$@" >>"$log" 2>&1; then
        rm -f "$log"
    else
        explain_apt_failure "$log" "$*"
    fi
}

# explain_apt_failure LOG PACKAGES: the sentence for what apt-get said, then apt's own last lines.
explain_apt_failure() {
    local log=$1 why
    if grep -qiE 'no space left|enough free space' "$log"; then
        why="the disk is full; free some space and run this again"
    elif grep -qiE 'temporary failure resolving|could not resolve|could not connect|connection (failed|timed out|refused)|network is unreachable' "$log"; then
        why="the package server can't be reached; check the network (and /etc/apt/sources.list) and run this again"
    elif grep -qiE 'unable to locate package|no installation candidate' "$log"; then
        why="this system's package lists lack one of them; Candor is set up on Debian 12 (Ubuntu 24.04 is written for, not tried)"
    elif grep -qi 'packages need to be removed' "$log"; then
        why="it would have to remove other packages; run it by hand and decide: apt-get install $2"
    else
        why="see the lines below"
    fi
    tail -n 5 "$log" >&2
    rm -f "$log"
    die "apt-get could not install $2: $why."
}

# setup_packages run|test
setup_packages() {
    local missing
    have dpkg-query && have apt-get ||
        die "no apt-get: expected Debian 12 or Ubuntu 24.04; elsewhere install the counterparts of tools/setup/packages.txt yourself and run make SETUP=no."
    missing=$(missing_packages "$1")
    [ -n "$missing" ] || return 0
    # shellcheck disable=SC2046  # one word a package
    apt_install $(awk '{ print $1 }' <<<"$missing")
    missing=$(missing_packages "$1")
    [ -z "$missing" ] ||
        die "$(awk '{ print $1 ": expected version " $2 " or newer, got " $3 ";" }' <<<"$missing") this release has nothing newer: use Debian 12 or Ubuntu 24.04."
}
