<?php

/*
 * summary.php STORE WHERE: the nanoseconds of acquire() and release() of one lock that nobody else wants, of all
 * subjects in turns, round by round.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

const COST_ROUNDS = 51;
const COST_BATCH_NS = 5_000_000;

[, $store, $where] = $argv;
$loops = array_map(
    static fn (Subject $subject) => (new Loops($subject->locks($store, $where), 30.0, "$subject->value-one"))->sameLock(),
    Subject::byName(Subject::cases()),
);

echo json_encode(Rounds::interleave($loops, COST_ROUNDS, COST_BATCH_NS), JSON_THROW_ON_ERROR);
