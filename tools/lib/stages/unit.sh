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
    if [[ $1 == thread ]] && setarch -R true 2> /dev/null; then
        command=(setarch -R "${command[@]}")
    fi
    if unshare --ipc true 2> /dev/null; then
        command=(unshare --ipc "${command[@]}")
    fi
}

# Under a sanitizer the queue model searches little.
sanitized() {
    local sanitizer command
    for sanitizer in address thread; do
        unit_make "$sanitizer"
        "$1" "unit, sanitizer: $sanitizer" "$LATCH_WORK/log/unit-$sanitizer.log" "${command[@]}"
    done
    unit_make none TESTS=test_redis_queue_model
    "$1" "unit, queue model" "$LATCH_WORK/log/unit-model.log" "${command[@]}"
}

prepare() {
    # Which programs TSan is to look at a run under ASan tells: without one, all are compiled.
    sanitized build_unit
}

stage() {
    local command
    case $STAGE in
        unit) sanitized run_unit ;;
        unit-plain)
            unit_make none
            run_unit "unit, sanitizer: none" "$LATCH_WORK/log/unit-none.log" "${command[@]}"
            ;;
    esac
}
