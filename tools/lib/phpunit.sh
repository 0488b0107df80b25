# Runs PHPUnit and counts its tests, for the stages.
# shellcheck shell=bash

# shellcheck source=tools/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=tools/lib/folder.sh
source "$(dirname "${BASH_SOURCE[0]}")/folder.sh"

# Program that runs PHPUnit: machine.sh, or none.
PHPUNIT_BY=()

# run_phpunit NAME VENDOR CONFIGURATION [PHP OPTION...] -- [PHPUNIT OPTION...]: on the PHP in question
# (LATCH_FOLDER).
run_phpunit() {
    local name=$1 vendor=$2 configuration=$3 log=$LATCH_WORK/log/phpunit-$1.log options=() status=0
    local junit=$LATCH_WORK/log/phpunit-$1.xml passed=0 failed=0 skipped=0 total variables
    shift 3
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    shift
    rm -f "$junit"
    # sudo removes them
    mapfile -t variables < <(env | grep '^LATCH_')
    latch_beside_php phpunit.sh run_in "$PWD" env "${variables[@]}" timeout 1200 "${PHPUNIT_BY[@]}" \
        "php$LATCH_PHP_VERSION" "${options[@]}" "$vendor/bin/phpunit" -c "$configuration" \
        --log-junit "$junit" "$@" > "$log" 2>&1 < /dev/null || status=$?

    # The first element of the report has the totals; there is none when PHP has crashed.
    if [[ -s $junit ]]; then
        total=$(grep -m 1 '<testsuite ' "$junit")
        failed=$(($(attribute errors "$total") + $(attribute failures "$total")))
        skipped=$(attribute skipped "$total")
        passed=$(($(attribute tests "$total") - failed - skipped))
    fi
    ((status == 0 || failed > 0)) || failed=1
    ((passed + failed > 0)) || failed=1
    if ((failed > 0)); then
        tail -n 300 "$log"
        { grep -E '^[0-9]+\) ' "$log" || echo 'PHPUnit, see above'; } | name_failures "phpunit, $name"
    fi
    count "phpunit, $name" "$passed" "$failed" "$skipped"
}

# run_in DIRECTORY COMMAND...
run_in() {
    cd "$1"
    "${@:2}"
}

# attribute NAME ELEMENT
attribute() {
    sed -nE "s/.* $1=\"([0-9]+)\".*/\1/p" <<< "$2" | sed 's/^$/0/'
}
