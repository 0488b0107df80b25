# Stage "fault": processes that are killed, stopped and cut off, and the checker of their histories, which is
# tested itself. Stage "fault-tables": long histories of locks in tables, with all peers.
# shellcheck shell=bash

# shellcheck source=tools/lib/fault.sh
source "$(dirname "${BASH_SOURCE[0]}")/../fault.sh"
# shellcheck source=tools/lib/phpunit.sh
source "$(dirname "${BASH_SOURCE[0]}")/../phpunit.sh"

HISTORY_SECONDS_MAX=500
[[ $STAGE == fault ]] || HISTORY_SECONDS_MAX=4000

STAGE_PACKAGES=("${LATCH_FAULT_PACKAGES[@]}")

stage() {
    latch_fault_prepare
    if [[ $STAGE == fault-tables ]]; then
        long_histories_of_tables
        return
    fi
    # Only these two in parallel: renewed locks and waiters have limits of fractions of a second.
    side_by_side beside_the_histories histories
}

beside_the_histories() {
    tests_of_the_checker
    run_history flock '' --acquisitions=6000
    run_history flock ', semaphore' --primitive=semaphore --operations=5000
}

tests_of_the_checker() {
    local suite
    cd "$LATCH_ROOT/tests/fault/tests"
    for suite in checker broken; do
        run_phpunit "fault-$suite" "$LATCH_VENDOR" phpunit.xml -- --no-progress --testsuite "$suite"
    done
}

histories() {
    local store primitive
    run_history redis '' --acquisitions=20000 --latch=16 --symfony=2 --groups=4 --pause=400
    run_history redis-string '' --acquisitions=10000 --latch=12 --laravel=4 --groups=4 --pause=400
    run_history redis-string ', kept alive' --acquisitions=500 --keepers=6 --latch=3 --laravel=2 --groups=2 --pause=600
    run_history quorum '' --acquisitions=5000
    for store in redis quorum; do
        run_history "$store" ', kept alive' --acquisitions=500 --keepers=6 --latch=3 --symfony=2 --groups=2 --pause=600
    done
    # TLS goes on top of what the unit and phpt tests of failovers do without it.
    run_history sentinel ', encrypted' --tls --acquisitions=1000 --failovers=2 --latch=6 --keepers=2 --groups=2
    run_history cluster ', moved' --reshard-only --moves=15 --objects=2 --keepers=2 --groups=2 --pause=500 \
        --acquisitions=1000
    run_history cluster ', encrypted' --tls --failovers=4 --moves=5 --keepers=2 --groups=2 --pause=500 \
        --acquisitions=1000
    for primitive in semaphore version throttle count-down sequence debounce; do
        run_history redis ", $primitive" --primitive="$primitive" --operations=5000
    done
    run_history redis ', multi-lock' --primitive=multi-lock --operations=2000
    run_history redis ', kept semaphore' --primitive=semaphore --keepers=4 --workers=4 --operations=2000
    run_history postgresql '' --acquisitions=4000 --groups=2 --latch=8
    run_history mysql '' --acquisitions=4000 --groups=2 --latch=8
    run_history table-postgresql ', both names' --names=both --acquisitions=1500 --resources=16 --groups=2 --pause=300 \
        --symfony=2
    run_history table-mysql ', keys handed over' --heirs=4 --acquisitions=1500 --resources=16 --groups=2 --pause=300
    run_history table-sqlite '' --acquisitions=1000 --resources=16 --groups=2 --pause=300
}

long_histories_of_tables() {
    local store
    for store in table-postgresql table-mysql table-sqlite; do
        run_history "$store" ', hash' --long-table --heirs=3 --releases=7.4,6.4 --symfony=3
        run_history "$store" ', whole seconds' --long-table --releases=5.4
        run_history "$store" ', plain' --long-table --heirs=3 --names=plain
        run_history "$store" ', both' --long-table --names=both
        run_history "$store" ', Laravel' --long-table --layout=laravel
    done
    for store in table-postgresql table-mysql; do
        run_history "$store" ', deadlocks' --deadlocks
    done
}

# run_history STORE SUFFIX OPTION...: one run, whose report is shown, and whose records are kept, when something is
# wrong.
run_history() {
    local store=$1 suffix=$2 name=$1${2//[^a-z]/-} status=0 passed reason
    local log=$LATCH_WORK/log/fault-$name.log records=$LATCH_WORK/histories/$name
    shift 2
    rm -rf "$records"
    mkdir -p "$records"
    timeout "$HISTORY_SECONDS_MAX" "php$LATCH_PHP_VERSION" "$LATCH_ROOT/tests/fault/run.php" --keep="$records" \
        --store="$store" "$@" > "$log" 2>&1 < /dev/null || status=$?
    passed=$((status == 0))
    if ((passed)); then
        rm -rf "$records"
    else
        tail -n 300 "$log"
        echo "The records are in $records."
        reason=$(grep -m 1 -E '^[A-Z ]+: [0-9]+, |^Too few |^Unexpected ' "$log" || echo "status $status")
        name_failures fault <<< "history on $store$suffix: $reason"
    fi
    count "fault, history on $store$suffix" "$passed" "$((1 - passed))" 0
}
