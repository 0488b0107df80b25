# Runs the engine's unit tests and counts them.
# shellcheck shell=bash

# shellcheck source=tools/lib/packages.sh
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"

# shellcheck disable=SC2034 # for the scripts that source this file
LATCH_UNIT_PACKAGES=(gcc make libc6-dev libcmocka-dev libssl-dev libhiredis-dev libpq-dev libmariadb-dev
    pkgconf redis-server "${LATCH_SQL_SERVER_PACKAGES[@]}")

# number_of KIND LOG: adds up cmocka's lines of that kind, "[  PASSED  ] 7 test(s)."
number_of() {
    awk -v kind="$1" '$1 == "[" && $2 == kind { sum += $4 } END { print sum + 0 }' "$2"
}

# count_log LABEL LOG STATUS: counts the tests in the log of a run, and shows the log after a failure.
count_log() {
    local label=$1 log=$2 status=$3 passed failed skipped programs
    passed=$(number_of PASSED "$log")
    failed=$(number_of FAILED "$log")
    skipped=$(number_of SKIPPED "$log")
    # A program that crashed has no such line.
    ((status == 0 || failed > 0)) || failed=1
    ((passed + failed + skipped > 0)) || failed=1
    # Each program prints a line at its start: a log with fewer lines is incomplete.
    programs=$(sed -n 's/^programs: //p' "$log")
    (($(grep -c '^\[==========\] Running' "$log") >= ${programs:-0})) || ((failed += 1))
    if ((failed > 0)); then
        grep -vE '^ +(AWK|CC|LD) |^\[ (RUN|      OK| PASSED)|^\[=====|^make: (Enter|Leav)' "$log" \
            | tail -n 150
        # A program that crashed or hung has only the last line of make.
        sed -nE 's/^\[  FAILED  \] ([a-z_]\w*)$/\1/p; /^make.* Error [0-9]+/p' "$log" | name_failures "$label"
    fi
    count "$label" "$passed" "$failed" "$skipped"
}

# build_unit LABEL LOG COMMAND...: compiles by make, with its arguments, on all the processors that there are. The log is
# one beside LOG: the stage's tests may have begun to write there when its preparation comes to this.
build_unit() {
    latch_alone "${LATCH_WORK##*/}-unit" "${@:3}" -j"$(nproc)" all > "$2.build" 2>&1 < /dev/null
}

# run_unit LABEL LOG COMMAND...: compiles, and runs the tests when all are compiled: they wait for most of their time.
# A failed compilation fails once more then.
run_unit() {
    local label=$1 log=$2 status=0
    build_unit "$@" || true
    shift 2
    "$@" -j"$(($(nproc) * 2))" run > "$log" 2>&1 < /dev/null || status=$?
    count_log "$label" "$log" "$status"
}
