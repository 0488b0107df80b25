# Stage "fuzz": what the engine reads from outside, in variations that libFuzzer makes of a corpus.
# shellcheck shell=bash

# shellcheck source=tools/lib/build.sh
source "$(dirname "${BASH_SOURCE[0]}")/../build.sh"
# shellcheck source=tools/lib/check.sh
source "$(dirname "${BASH_SOURCE[0]}")/../check.sh"

STAGE_PACKAGES=(clang libclang-rt-dev make libc6-dev libhiredis-dev libssl-dev libpq-dev libmariadb-dev libsqlite3-dev
    pkgconf)

# A target that does less has not been at work.
RUNS_MIN=1000

# fuzz ARGUMENT...: calls make for the targets.
fuzz() {
    make -C "$LATCH_ROOT/tests/fuzz" BUILD="$LATCH_WORK/fuzz" "$@"
}

# target_holds TARGET: the same runs each time, but for what a slow machine does not get through: the targets have to
# share what other stages leave of the processors.
target_holds() {
    local log=$LATCH_WORK/log/$1.log
    latch_quietly "$log" fuzz "run-$1" RUNS=30000 SECONDS_MAX=60 SEED=1
    awk -v least="$RUNS_MIN" '$1 == "stat::number_of_executed_units:" { runs = $2 }
        END { if (runs < least) { print "only " runs + 0 " runs"; exit 1 } }' "$log"
}

stage() {
    local target passed=0 failed=0
    local -A run
    latch_sharing "$LATCH_ROOT" latch_quietly "$LATCH_WORK/log/fuzz-build.log" fuzz -j"$(nproc)"
    # All at a time: each has one minute at most.
    for target in "$LATCH_ROOT"/tests/fuzz/fuzz_*.c; do
        target=$(basename "$target" .c)
        latch_in_shell stages/fuzz.sh target_holds "$target" > "$LATCH_WORK/log/$target.said" 2>&1 &
        run[$target]=$!
    done
    for target in "${!run[@]}"; do
        if wait "${run[$target]}"; then
            ((passed += 1))
        else
            ((failed += 1))
            printf 'fuzz: %s: failed\n' "$target"
            name_failures fuzz <<< "$target"
            cat "$LATCH_WORK/log/$target.said"
        fi
    done
    count fuzz "$passed" "$failed" 0
}
