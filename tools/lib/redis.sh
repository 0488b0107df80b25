# The Redis and Valkey servers of other Debians. They are only unpacked, and run with the C library and
# the loader of their own Debian.
# shellcheck shell=bash

# shellcheck source=tools/lib/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

# Packages that each server needs to run; apt would install many more.
LATCH_REDIS_LIBRARIES=(libatomic1 libc6 libcap2 libgcc-s1 libgcrypt20 libgpg-error0 libjemalloc2 liblz4-1 liblzf1
    liblzma5 libstdc++6 libsystemd0 libzstd1)

# latch_redis_server NAME: prints the path of that server, which is used like redis-server.
latch_redis_server() {
    case $1 in
        redis-6) latch_server_of bullseye "$1" redis-server libssl1.1 liblua5.1-0 lua-bitop lua-cjson ;;
        redis-8) latch_server_of trixie "$1" redis-server libssl3t64 zlib1g ;;
        valkey-8) latch_server_of trixie "$1" valkey-server libssl3t64 zlib1g ;;
        valkey-9) latch_server_of sid "$1" valkey-server libssl3t64 zlib1g ;;
        *) latch_die "there is no server \"$1\"" ;;
    esac
}

# latch_server_of SUITE NAME PACKAGE LIBRARY...: the package's program is in its "-tools".
latch_server_of() {
    local suite=$1 name=$2 program=$3 directory
    shift 3
    directory=$(LATCH_SUITE=$suite latch_debian_files "$name" "$program" "${program%-server}-tools" \
        "${LATCH_REDIS_LIBRARIES[@]}" "$@") || return
    latch_debian_program "$directory" "usr/bin/$program"
}
