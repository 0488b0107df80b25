# Stage "unit": the engine alone, by cmocka, under the sanitizers. Stage "unit-plain": as it is.
# shellcheck shell=bash

# shellcheck source=tools/lib/unit.sh
source "$(dirname "${BASH_SOURCE[0]}")/../unit.sh"

STAGE_PACKAGES=("${LATCH_UNIT_PACKAGES[@]}")

# unit_make SANITIZER [ARGUMENT...]: sets `command`, which calls make for the tests under that sanitizer. Semaphores are
# the whole system's: here they are the run's own where that can be had.
unit_make() {
    command=(make -k --output-sync=target -C "$LATCH_ROOT/tests/unit" BUILD="$LATCH_WORK/unit" SANITIZE="$@")
    # ThreadSanitizer of gcc 12 finds no place for its memory where addresses are very random.
    if [[ $1 != none ]] && setarch -R true 2> /dev/null; then
        command=(setarch -R "${command[@]}")
    fi
    if unshare --ipc true 2> /dev/null; then
        command=(unshare --ipc "${command[@]}")
    fi
}

under_sanitizers() {
    local command logs=$LATCH_WORK/unit/thread-logs log=$LATCH_WORK/log/unit-thread.log status=0 marks
    unit_make thread ALONE=
    build_unit "$log" "${command[@]}"
    rm -rf "$logs"
    mkdir -p "$logs"
    # A program that starts no thread under ASan is left out by TSan.
    unit_make address TSAN_LOGS="$logs"
    run_unit 'unit, sanitizer: address' "$LATCH_WORK/log/unit-address.log" "${command[@]}"
    marks=("$LATCH_WORK"/unit/address/*.threads)
    cat "$logs"/*.log > "$log"
    echo "programs: ${#marks[@]}" >> "$log"
    ! grep -q '^failed: ' "$log" || status=1
    count_log 'unit, sanitizer: thread' "$log" "$status"
}

# Under a sanitizer they search little.
models() {
    local command
    unit_make none TESTS='test_redis_queue_model test_shm_model'
    run_unit 'unit, models' "$LATCH_WORK/log/unit-model.log" "${command[@]}"
}

# See tests/unit/mutants.
mutants() {
    local command log=$LATCH_WORK/log/unit-mutants.log found
    unit_make none mutants
    "${command[@]}" > "$log" 2>&1 < /dev/null || { grep -v '^ ' "$log" | tail -n 100 && name_failures unit <<< mutants; }
    found=$(awk '$1 == "mutants:" { sum += $2 } END { print sum + 0 }' "$log")
    count 'unit, mutants' "$found" "$(grep -c -e '^mutant: ' -e '^make: \*\*\*' "$log")" 0
}

stage() {
    local command
    case $STAGE in
        unit) side_by_side under_sanitizers models ;;
        unit-plain)
            unit_make none
            run_unit 'unit, sanitizer: none' "$LATCH_WORK/log/unit-none.log" "${command[@]}"
            mutants
            ;;
    esac
}
