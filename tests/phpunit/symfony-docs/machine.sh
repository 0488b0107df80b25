#!/usr/bin/env bash
# Runs a command on the machine that the examples of Symfony's documentation have in mind: all servers on
# their usual ports, by the names, users and passwords that the examples give them.
#
#     machine.sh COMMAND...
#
# It has a network, processes, semaphores and mounts of its own, which go with the command: nothing else on
# this machine can be reached, or sees anything of it. That takes root who may mount (CAP_SYS_ADMIN).
set -euo pipefail

TESTS=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tools/lib/packages.sh
source "$TESTS/../tools/lib/packages.sh"

# The names of the documentation's servers are four addresses, as each of three has a Redis.
HOSTS='127.0.0.1 localhost m1.docker r1.docker
127.0.0.2 server1 r2.docker
127.0.0.3 server2
127.0.0.4 server3'
PATIENCE_S=30

# wait_for WHAT COMMAND...: until it succeeds.
wait_for() {
    local what=$1 end=$((SECONDS + PATIENCE_S))
    shift
    until "$@" > /dev/null 2>&1; do
        ((SECONDS < end)) || {
            tail -n 20 "$work"/*.log >&2
            latch_die "no answer from $what"
        }
        sleep 0.02
    done
}

# hide_var: lets /var/stores be there, and the machine's /var as it is.
hide_var() {
    local entry
    mkdir "$work/var"
    mkdir -m 1777 "$work/var/stores"
    for entry in /var/*; do
        if [[ -L $entry ]]; then
            cp -P "$entry" "$work/var"
        elif [[ -d $entry && $entry != /var/stores ]]; then
            mkdir "$work$entry"
            mount --rbind "$entry" "$work$entry"
        fi
    done
    mount --rbind "$work/var" /var
}

start_redis() {
    local number
    for number in 1 2 3 4; do
        redis-server --bind "127.0.0.$number" --port 6379 --save '' --appendonly no --dir "$work" \
            > "$work/redis-$number.log" 2>&1 &
    done
}

start_memcached() {
    local user=()
    ((EUID != 0)) || user=(-u nobody)
    memcached "${user[@]}" -l 127.0.0.1 > "$work/memcached.log" 2>&1 &
}

# start_sql KIND PORT
start_sql() {
    mkdir -m 755 "$work/$1"
    if [[ $1 == postgresql ]]; then
        chown postgres: "$work/$1"
    fi
    "$TESTS/utils/sql_server.sh" run "$1" "$work/$1" "$2" > "$work/$1.log" 2>&1 &
}

answers_memcached() {
    exec 8<> /dev/tcp/127.0.0.1/11211
}

psql_admin() {
    psql -X -q -v ON_ERROR_STOP=1 -h "$work/postgresql" -p 5634 -U admin -d "$1"
}

mariadb_admin() {
    mariadb --no-defaults --socket="$work/mysql/mysql.sock" --user=admin
}

# The users and databases of the examples; some DSNs name no user.
fill_sql() {
    wait_for PostgreSQL psql_admin latch < /dev/null
    psql_admin latch <<< "
        CREATE ROLE myuser LOGIN PASSWORD 'mypassword';
        CREATE ROLE $(id -un) LOGIN SUPERUSER;
        CREATE ROLE postgres LOGIN SUPERUSER PASSWORD 'password';
        CREATE DATABASE postgres OWNER postgres;
        CREATE DATABASE app OWNER myuser;
        CREATE DATABASE lock OWNER myuser;"
    sed -i 's/scram-sha-256$/trust/' "$work/postgresql/data/pg_hba.conf"
    psql_admin latch <<< 'SELECT pg_reload_conf()' > /dev/null
    wait_for 'PostgreSQL without a password' psql -X -h 127.0.0.1 -p 5634 -d app -c 'SELECT 1'
    wait_for MariaDB mariadb_admin < /dev/null
    mariadb_admin <<< "
        CREATE DATABASE app;
        CREATE USER myuser@'%' IDENTIFIED BY 'mypassword';
        CREATE USER ''@'%';
        GRANT ALL ON app.* TO myuser@'%';
        GRANT ALL ON app.* TO ''@'%';"
}

inside() {
    local status=0 number
    work=$1
    shift
    mount -t tmpfs -o mode=755 tmpfs "$work"
    mkdir -m 1777 "$work/tmp"
    export TMPDIR=$work/tmp
    ip link set lo up
    printf '%s\n' "$HOSTS" > "$work/hosts"
    mount --bind "$work/hosts" /etc/hosts
    start_sql postgresql 5634
    start_sql mysql 3306
    start_redis
    start_memcached
    hide_var
    fill_sql
    for number in 1 2 3 4; do
        wait_for "Redis $number" redis-cli -h "127.0.0.$number" ping
    done
    wait_for Memcached answers_memcached
    "$@" || status=$?
    return "$status"
}

if [[ ${1-} == --inside ]]; then
    shift
    inside "$@"
else
    work=$(mktemp -d)
    trap 'rmdir "$work"' EXIT
    # sudo removes most variables.
    mapfile -t kept < <(env | grep '^LATCH_')
    latch_as_root env "${kept[@]}" "HOME=$HOME" "LATCH_CACHE=$LATCH_CACHE" \
        unshare --mount --net --pid --ipc --fork --kill-child --mount-proc -- \
        bash "$0" --inside "$work" "$@"
fi
