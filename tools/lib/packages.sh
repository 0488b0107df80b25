# Installs the Debian packages that are missing.
# shellcheck shell=bash

# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Servers of databases, and a pooler in front of one, which the tests start by tests/utils/sql_server.sh.
# shellcheck disable=SC2034 # for the scripts that source this file
LATCH_SQL_SERVER_PACKAGES=(postgresql mariadb-server galera-4 pgbouncer openssl util-linux)

# latch_is_installed PACKAGE
latch_is_installed() {
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2> /dev/null) == installed ]]
}

# latch_as_root COMMAND...: runs it as root, through sudo where need be.
latch_as_root() {
    local sudo=()
    if ((EUID != 0)); then
        sudo=(sudo)
        # Without a terminal no password can be typed.
        [[ -t 0 ]] || sudo+=(-n)
    fi
    "${sudo[@]}" "$@"
}

# latch_without_services COMMAND...: the packages that it installs start no servers: the tests start
# their own, and a machine is to have no others for their sake. So says Debian's policy-rc.d, unless the
# machine has one of its own.
latch_without_services() (
    policy=/usr/sbin/policy-rc.d
    if [[ ! -e $policy ]]; then
        trap 'latch_as_root rm -f "$policy"' EXIT
        printf '#!/bin/sh\nexit 101\n' | latch_as_root install -m 755 /dev/stdin "$policy"
    fi
    "$@"
)

# latch_require_packages PACKAGE...: installs those that are missing, all in one call of apt-get.
# Needs root, or sudo; when that is not to be had, names the command that would help.
latch_require_packages() {
    local package missing=()
    command -v dpkg-query > /dev/null \
        || latch_die "this is no Debian system; please install by hand what these supply: $*"
    for package in "$@"; do
        latch_is_installed "$package" || missing+=("$package")
    done
    ((${#missing[@]} > 0)) || return 0

    latch_as_root true || latch_die "please run as root: apt-get install ${missing[*]}"
    latch_say "installing ${missing[*]}"
    local apt=(latch_as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq
        -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
    latch_quietly "$LATCH_WORK/log/apt-update.log" "${apt[@]}" update \
        || latch_die 'apt-get update failed'
    latch_quietly "$LATCH_WORK/log/apt-install.log" latch_without_services \
        "${apt[@]}" install --yes --no-install-recommends "${missing[@]}" \
        || latch_die "cannot install ${missing[*]}"
}
