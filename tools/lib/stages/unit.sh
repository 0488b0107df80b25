# Stage "unit": the engine alone, by cmocka; as it is, and under the sanitizers.
# shellcheck shell=bash

# shellcheck source=tools/lib/packages.sh
source "$(dirname "${BASH_SOURCE[0]}")/../packages.sh"

STAGE_PACKAGES=(gcc make libc6-dev libcmocka-dev libssl-dev libhiredis-dev libpq-dev libmariadb-dev
    pkgconf redis-server "${LATCH_SQL_SERVER_PACKAGES[@]}")

# number_of KIND LOG: adds up cmocka's lines of that kind, "[  PASSED  ] 7 test(s)."
number_of() {
    awk -v kind="$1" '$1 == "[" && $2 == kind { sum += $4 } END { print sum + 0 }' "$2"
}

stage() {
    local sanitizer log status command
    for sanitizer in none address thread; do
        log=$LATCH_WORK/log/unit-$sanitizer.log
        status=0
        command=(make -k -j"$(($(nproc) + 1))" --output-sync=target -C "$LATCH_ROOT/tests/unit" run
            BUILD="$LATCH_WORK/unit" SANITIZE="$sanitizer")
        # ThreadSanitizer of gcc 12 finds no place for its memory where addresses are very random.
        if [[ $sanitizer == thread ]] && setarch -R true 2> /dev/null; then
            command=(setarch -R "${command[@]}")
        fi
        "${command[@]}" > "$log" 2>&1 < /dev/null || status=$?
        count_log "$sanitizer" "$log" "$status"
    done
}

count_log() {
    local label="unit, sanitizer: $1" log=$2 status=$3 passed failed skipped
    passed=$(number_of PASSED "$log")
    failed=$(number_of FAILED "$log")
    skipped=$(number_of SKIPPED "$log")
    # A program that crashed has no such line.
    ((status == 0 || failed > 0)) || failed=1
    ((passed + failed + skipped > 0)) || failed=1
    if ((failed > 0)); then
        grep -vE '^ +(AWK|CC|LD) |^\[ (RUN|      OK| PASSED)|^\[=====|^make: (Enter|Leav)' "$log" \
            | tail -n 150
    fi
    count "$label" "$passed" "$failed" "$skipped"
}
