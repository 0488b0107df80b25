#!/usr/bin/env bash
# A database server of a test's own, with its data in a folder of its own.
#
#     sql_server.sh run postgresql|mysql DIRECTORY PORT [OPTION...]
#
# becomes the server, on that port of 127.0.0.1 and on the socket in the folder; it dies with the process
# that started this script. The first time it gets data in DIRECTORY/data: a database "latch"; its user
# "latch", who always needs the password; "admin", who may do everything, without a password on the socket;
# a certificate, DIRECTORY/server.crt, for localhost and 127.0.0.1, and that of a stranger beside it.
# "mysql" is MariaDB, unless LATCH_MYSQL_SERVER of the environment names the server of a MySQL (mysqld).
#
#     sql_server.sh freeze PID
#
# stops that server and the processes that it has forked, says "frozen", and lets them go on when standard
# input ends: so nothing stays frozen that nobody is there to thaw.
set -euo pipefail

PASSWORD=never-told-8642 # in messages, the tests look for it

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

postgresql_program() {
    local folder
    folder=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
    PATH=$folder:$PATH command -v "$1" || die "there is no program $1: package postgresql"
}

mariadb_program() {
    PATH=$PATH:/usr/sbin command -v "$1" || die "there is no program $1: package mariadb-server"
}

# PostgreSQL refuses to be root's: then it is that of the user that Debian has for it. MariaDB wants to
# be told that this is meant.
as_postgres=() mysql_user=()
if ((EUID == 0)); then
    as_postgres=(setpriv --reuid=postgres --regid=postgres --clear-groups)
    mysql_user=(--user=root)
fi

POSTGRESQL_OPTIONS=(-c fsync=off -c synchronous_commit=off -c full_page_writes=off
    -c shared_buffers=4MB -c max_wal_senders=0 -c wal_level=minimal -c max_parallel_workers=0
    -c autovacuum=off -c log_min_messages=warning
    # what a crash leaves is in the folder
    -c dynamic_shared_memory_type=mmap
    -c ssl=on)

MYSQL_OPTIONS=(--innodb-flush-log-at-trx-commit=0 --innodb-flush-method=nosync --innodb-buffer-pool-size=8M
    --innodb-buffer-pool-load-at-startup=OFF --innodb-buffer-pool-dump-at-shutdown=OFF --key-buffer-size=1M --skip-log-bin)
if [[ -z ${LATCH_MYSQL_SERVER:-} ]]; then
    MYSQL_OPTIONS+=(--innodb-log-file-size=4M --innodb-temp-data-file-path=ibtmp1:4M:autoextend
        --aria-pagecache-buffer-size=1M --aria-log-file-size=8M --performance-schema=OFF)
    # locks by name are in this table
    RUNNING_OPTIONS=(--plugin-load-add=metadata_lock_info)
else
    MYSQL_OPTIONS+=(--innodb-redo-log-capacity=8M --innodb-use-native-aio=OFF --mysqlx=OFF --secure-file-priv=
        --innodb-log-buffer-size=1M --table-open-cache=200 --table-definition-cache=400 --log-error-verbosity=1)
    # Locks by name are in the performance schema, which is to do nothing else, and to take less memory. The scheduler
    # would be a session.
    RUNNING_OPTIONS=(--event-scheduler=OFF --performance-schema-instrument=%=OFF
        --performance-schema-instrument=wait/lock/metadata/sql/mdl=ON
        --performance-schema-{error,accounts,hosts,users,digests}-size=0)
fi

certificates() {
    local name
    for name in server stranger; do
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj "/CN=localhost" \
            -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' -keyout "$1/$name.key" -out "$1/$name.crt"
    done
}

make_postgresql() {
    local data=$1
    "${as_postgres[@]}" "$(postgresql_program initdb)" --pgdata="$data" --username=admin --encoding=UTF8 --locale=C \
        --auth=trust --wal-segsize=1 --no-sync --no-instructions
    "${as_postgres[@]}" "$(postgresql_program postgres)" --single -D "$data" template1 <<END
ALTER DATABASE postgres RENAME TO latch
CREATE ROLE latch LOGIN PASSWORD '$PASSWORD'
ALTER DATABASE latch OWNER TO latch
END
    cat > "$data/pg_hba.conf" <<'END'
local all admin trust
local all all scram-sha-256
host all all 127.0.0.1/32 scram-sha-256
END
}

# accounts METHOD: statements that make the database and its accounts; "latch" authenticates by that method.
accounts() {
    cat <<END
CREATE DATABASE IF NOT EXISTS latch;
CREATE USER latch IDENTIFIED $1;
GRANT ALL ON latch.* TO latch;
CREATE USER admin@localhost;
GRANT ALL ON *.* TO admin@localhost WITH GRANT OPTION;
END
}

make_mysql() {
    local data=$1 work
    if [[ -z ${LATCH_MYSQL_SERVER:-} ]]; then
        {
            printf '%s;\n' "DELETE FROM mysql.global_priv WHERE User = ''" 'FLUSH PRIVILEGES'
            accounts "VIA mysql_native_password USING PASSWORD('$PASSWORD')"
        } > "$data.sql"
        "$(mariadb_program mariadb-install-db)" --no-defaults "${mysql_user[@]}" --datadir="$data" --skip-test-db \
            --skip-name-resolve --auth-root-authentication-method=normal --extra-file="$data.sql" "${MYSQL_OPTIONS[@]}"
    else
        # While it initializes the data it makes no accounts. By default their method is caching_sha2_password.
        { accounts "BY '$PASSWORD'" && echo 'SHUTDOWN;'; } > "$data.sql"
        for work in --initialize-insecure "--init-file=$data.sql"; do
            "$LATCH_MYSQL_SERVER" --no-defaults "${mysql_user[@]}" --datadir="$data" --skip-networking \
                --socket="$data.sock" --pid-file="$data.pid" --tmpdir="${data%/*}" "${MYSQL_OPTIONS[@]}" "$work" || return
        done
    fi
}

# template KIND PROGRAM: prints the folder with data to be copied, made at the first call; one for each
# server and each version of this script.
template() {
    local kind=$1 folder key work
    key=$({ cat "$0" && stat -L -c '%s %Y' "$2"; } | sha256sum | cut -c 1-8)
    folder=${LATCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/latch}/server/$kind-$key
    if [[ ! -d $folder ]]; then
        mkdir -p "${folder%/*}"
        exec 9> "$folder.lock"
        flock 9
        if [[ ! -d $folder ]]; then
            # In the cache the server's user might not get at it.
            work=$(mktemp -d)
            # shellcheck disable=SC2064 # the folder of now
            trap "rm -rf '$work'" EXIT
            mkdir "$work/data"
            owned_by_server "$kind" "$work"
            {
                "make_$kind" "$work/data" && certificates "$work/data"
            } > "$work/log" 2>&1 < /dev/null || die "cannot make data for $kind: $(< "$work/log")"
            rm -rf "$folder.new"
            cp -a --sparse=always "$work/data" "$folder.new"
            mv "$folder.new" "$folder"
        fi
        exec 9>&-
    fi
    printf '%s\n' "$folder"
}

# owned_by_server KIND DIRECTORY
owned_by_server() {
    if ((EUID == 0)) && [[ $1 == postgresql ]]; then
        chown -R postgres: "$2"
    fi
}

run() {
    local kind=$1 directory=$2 port=$3 program from
    shift 3
    case $kind in
        postgresql) program=$(postgresql_program postgres) ;;
        mysql) program=${LATCH_MYSQL_SERVER:-$(mariadb_program mariadbd)} ;;
        *) die "there is no kind of server \"$kind\"" ;;
    esac
    if [[ ! -d $directory/data ]]; then
        from=$(template "$kind" "$program")
        cp -a "$from" "$directory/data"
        mv "$directory/data"/{server,stranger}.crt "$directory"
        owned_by_server "$kind" "$directory"
    fi
    case $kind in
        postgresql)
            # Its processes end with it, and its shared memory, by SIGQUIT and not by SIGKILL.
            exec setpriv --pdeathsig=QUIT "${as_postgres[@]:1}" -- "$program" -D "$directory/data" -k "$directory" \
                -h 127.0.0.1 -p "$port" "${POSTGRESQL_OPTIONS[@]}" \
                -c ssl_cert_file="$directory/server.crt" -c ssl_key_file="$directory/data/server.key" "$@"
            ;;
        mysql)
            exec setpriv --pdeathsig=KILL -- "$program" --no-defaults "${mysql_user[@]}" --datadir="$directory/data" \
                --tmpdir="$directory" --socket="$directory/mysql.sock" --pid-file="$directory/mysql.pid" \
                --bind-address=127.0.0.1 --port="$port" --skip-name-resolve "${MYSQL_OPTIONS[@]}" \
                "${RUNNING_OPTIONS[@]}" \
                --ssl-cert="$directory/server.crt" --ssl-key="$directory/data/server.key" "$@"
            ;;
    esac
}

# A server that stands still forks no more.
freeze() {
    local pid
    pids=("$1") # for the trap
    trap 'kill -CONT "${pids[@]}" 2> /dev/null || true' EXIT
    kill -STOP "$1"
    await_standstill "$1"
    read -ra pids <<< "$1 $(< "/proc/$1/task/$1/children")"
    kill -STOP "${pids[@]}"
    for pid in "${pids[@]}"; do
        await_standstill "$pid"
    done
    echo frozen
    read -r || true
}

# A process that runs on another processor hears of it when the kernel comes to interrupt it.
await_standstill() {
    local look
    for ((look = 0; look < 4000; look++)); do
        # its threads too
        (($(grep -LE '^State:\s*[TtZ]' "/proc/$1/task"/*/status 2> /dev/null | wc -l) == 0)) && return
        sleep 0.005
    done
    die "process $1 does not stop"
}

case ${1-} in
    run | freeze) "$@" ;;
    *) die 'usage: sql_server.sh run postgresql|mysql DIRECTORY PORT [OPTION...] | freeze PID' ;;
esac
