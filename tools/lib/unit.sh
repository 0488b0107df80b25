# Runs the engine's unit tests and counts them.
# shellcheck shell=bash

# shellcheck source=tools/lib/packages.sh
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
# shellcheck source=tools/lib/build.sh
source "$(dirname "${BASH_SOURCE[0]}")/build.sh"

# shellcheck disable=SC2034 # for the scripts that source this file
LATCH_UNIT_PACKAGES=(gcc make libc6-dev libcmocka-dev libssl-dev libhiredis-dev libpq-dev libmariadb-dev libsqlite3-dev
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

# build_unit LOG COMMAND...: compiles by make, with its arguments, on all the processors that there are. What cannot be
# compiled fails when it is to run.
build_unit() {
    local log=$1
    shift
    latch_sharing "$LATCH_ROOT" latch_alone "${LATCH_WORK##*/}-unit" "$@" -j"$(nproc)" all \
        > "$log.build" 2>&1 < /dev/null || true
}

# run_unit LABEL LOG COMMAND...: compiles; then runs the tests, several for each processor, as they wait for most of their
# time.
run_unit() {
    local label=$1 log=$2 status=0
    shift 2
    build_unit "$log" "$@"
    "$@" -j"$(($(nproc) * 4))" run > "$log" 2>&1 < /dev/null || status=$?
    count_log "$label" "$log" "$status"
}
