# Stage "unit": the engine alone, by cmocka, under the sanitizers. Stage "unit-plain": as it is.
# shellcheck shell=bash

# shellcheck source=tools/lib/unit.sh
source "$(dirname "${BASH_SOURCE[0]}")/../unit.sh"

STAGE_PACKAGES=("${LATCH_UNIT_PACKAGES[@]}")

stage() {
    local sanitizer sanitizers=(address thread) command
    [[ $STAGE != unit-plain ]] || sanitizers=(none)
    for sanitizer in "${sanitizers[@]}"; do
        command=(make -k --output-sync=target -C "$LATCH_ROOT/tests/unit"
            BUILD="$LATCH_WORK/unit" SANITIZE="$sanitizer")
        # ThreadSanitizer of gcc 12 finds no place for its memory where addresses are very random.
        if [[ $sanitizer == thread ]] && setarch -R true 2> /dev/null; then
            command=(setarch -R "${command[@]}")
        fi
        run_unit "unit, sanitizer: $sanitizer" "$LATCH_WORK/log/unit-$sanitizer.log" "${command[@]}"
    done
    # Under a sanitizer this one searches little.
    [[ $STAGE == unit-plain ]] || run_unit "unit, queue model" "$LATCH_WORK/log/unit-model.log" \
        make -k --output-sync=target -C "$LATCH_ROOT/tests/unit" BUILD="$LATCH_WORK/unit" SANITIZE=none \
        TESTS=test_redis_queue_model
}
