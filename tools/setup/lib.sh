# Words that every set-up script says in the same way. Sourced, never run.
say() { echo "candor setup: $*" >&2; }
die() { echo "candor setup: $*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# version_at_least HAVE WANT: dotted numbers, as in 1.96.0 and 1.87.
version_at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# need_space FOLDER MIB WHAT-FOR: ends with a sentence if the file system of FOLDER has less free.
need_space() {
    local free
    free=$(df -Pm "$1" | awk 'NR == 2 { print $4 }')
    [ "$free" -ge "$2" ] || die "$1: expected $2 MiB of free disk space for $3, got $free MiB; free some space and run this again."
}

# as_root COMMAND…: runs it as it is for root, by sudo for anyone else.
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# root_or_die WHAT: ends with a sentence if WHAT (a command) can be run neither as root nor by sudo.
root_or_die() {
    [ "$(id -u)" = 0 ] || have sudo || die "not root, and there is no sudo; ask an administrator to run: $*"
}
