--TEST--
Latch\Sequence: entries have their turn in the order in which they entered; parked ones are handed on; leases end with their processes
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sync.inc';

use Latch\Store\RedisStore;
use Latch\{SyncFactory, Turn};
use Latch\Tests\RedisServer;

function turn(Turn $turn): string
{
    return $turn->state . ($turn->retryAfter > 0 ? ', later' : '');
}

$server = new RedisServer();
foreach (sync_factories($server) as $name => $factory) {
    $one = $factory->createSequence('order', lease: PATIENCE * 10);
    $other = $factory->createSequence('order', lease: PATIENCE * 10);
    check($one->getOwner() !== $other->getOwner() && strlen($one->getOwner()) > 20, "$name: owners of their own");
    $nothing = ['head' => null, 'parked' => false, 'heldFor' => 0.0, 'idleFor' => 0.0, 'waiting' => 0, 'average' => null];
    check_same($nothing, $one->inspect(), "$name: nothing is there");

    $a = $one->enter('a', 'kept by nobody, as it is the first');
    $b = $one->enter('b', "\0b");
    $c = $other->enter('c');
    check_same([true, false, false], [$a->isHead, $b->isHead, $c->isHead], "$name: the first is sent, the others wait");
    check($a->ticket < $b->ticket && $b->ticket < $c->ticket, "$name: tickets rise");
    check_same([$a->ticket, true, $b->ticket, false], [$one->enter('a')->ticket, $other->enter('a')->isHead,
        $other->enter('b', 'x')->ticket, $other->enter('b')->isHead], "$name: once more is the same place");

    check_same(['go', 'held, later', 'held, later'], [turn($one->resume($a->ticket)), turn($other->resume($a->ticket)),
        turn($other->resume($b->ticket))], "$name: it is the first one's turn, and one object's");
    check_same('go', turn($one->resume($a->ticket)), "$name: which asks again");
    $taken = $factory->createSequence('order', owner: $one->getOwner());
    check_same('go', turn($taken->resume($a->ticket)), "$name: as may another object of that owner");
    check_same([null, null], [$other->next($a->ticket), $other->next($b->ticket)], "$name: others cannot end it");
    check_same([$a->ticket, false, 2, null], [($known = $one->inspect())['head'], $known['parked'], $known['waiting'], $known['average']],
        "$name: what is known");
    check($known['heldFor'] > 0 && $known['idleFor'] >= 0, "$name: it is held");

    $entry = $one->next($a->ticket);
    check_same([$b->ticket, "\0b"], [$entry->ticket, $entry->payload], "$name: the parked one is handed on");
    check_same([$b->ticket, "\0b"], [($again = $one->next($a->ticket))->ticket, $again->payload], "$name: asked again, once more");
    check_same(['done, later', 'held, later', true], [turn($other->resume($a->ticket)), turn($other->resume($b->ticket)),
        $one->inspect()['parked']], "$name: while it is in somebody's hand, its forerunner's message stays");
    check($one->inspect()['average'] > 0, "$name: how long one takes is known");
    check_same(null, $other->abandon(0.0), "$name: it is not abandoned while it is held");

    check_same(null, $one->next($b->ticket), "$name: the third travels by itself");
    check_same(['done', 'held, later'], [turn($one->resume($b->ticket)), turn($one->resume($factory->createSequence('order')->enter('d')->ticket))],
        "$name: the fourth waits for it");
    check_same('go', turn($other->resume($c->ticket)), "$name: its turn has come");
    $other->putBack($c->ticket);
    check_same('go', turn($one->resume($c->ticket)), "$name: put back, it is anybody's");
    $other->putBack($c->ticket);
    check_same('held, later', turn($other->resume($c->ticket)), "$name: who does not have it cannot put it back");
    $one->putBack($c->ticket);
    check_same(null, $one->abandon(PATIENCE * 10), "$name: it was heard of lately");
    check_same([null, 'late', 'go'], [$one->abandon(0.0), turn($one->resume($c->ticket)), turn($one->resume($one->enter('d')->ticket))],
        "$name: abandoned, it is late, and the next one has its turn");
    check_same([null, null], [$one->next($one->enter('d')->ticket), $one->inspect()['head']], "$name: the last one has ended");
    check_same('late', turn($one->resume(1)), "$name: who was never there is late");

    /* A parked one whose process has died is given to who is delivered the message before it again. */
    $dead = $factory->createSequence('dead', lease: 0.1);
    $first = $dead->enter('1');
    $dead->enter('2', '');
    $dead->resume($first->ticket);
    check_same('', $dead->next($first->ticket)->payload, "$name: an empty payload is one");
    wait_until(fn () => turn($other = $factory->createSequence('dead')->resume($first->ticket)) === 'done', "$name: the lease has ended");
    check_same('', ($entry = $factory->createSequence('dead')->next($first->ticket))->payload, "$name: handed out again");
    check_same(null, $dead->next($entry->ticket), "$name: but not to who had it");

    /* Very many, and large ones. */
    $many = $factory->createSequence('many');
    $count = $name === 'files' ? 50 : 2000;
    for ($at = 0; $at < $count; $at++) {
        $many->enter("e$at", $at === 1 ? str_repeat("\0x", 512 * 1024) : "$at");
    }
    check_same($count - 1, $many->inspect()['waiting'], "$name: very many wait");
    $ticket = $many->enter('e0')->ticket;
    $many->resume($ticket);
    $seen = [];
    while (($entry = $many->next($ticket)) !== null) {
        $seen[] = strlen($entry->payload) === 1024 * 1024 ? '1' : $entry->payload;
        $ticket = $entry->ticket;
    }
    check_same(array_map('strval', range(1, $count - 1)), $seen, "$name: and have their turns in order");
}
check_same([], array_filter($server->command('KEYS', '*'), fn (string $key) => $server->command('PTTL', $key) < 1), 'all keys expire');

/* Workers that die between two entries, and in the middle of one: each is handled, in order, and twice only after a death. */
$factory = new SyncFactory(new RedisStore($server->dsn()));
$names = array_map(fn (int $at) => sprintf('%03d', $at), range(0, 99));
foreach ($names as $at => $entry) {
    $factory->createSequence('workers')->enter($entry, $entry);
}
$first = $factory->createSequence('workers')->enter('000')->ticket;
$log = temporary_directory() . '/handled';
touch($log);
$work = function () use ($server, $first, $log): int {
    mt_srand(getmypid());
    $sequence = (new SyncFactory(new RedisStore($server->dsn())))->createSequence('workers', lease: max(1.5, PATIENCE / 20));
    while ($sequence->inspect()['head'] !== null) {
        $turn = $sequence->resume($first);
        [$ticket, $name] = [$first, '000'];
        if ($turn->state === 'done' && ($entry = $sequence->next($first)) !== null) {
            [$ticket, $name] = [$entry->ticket, $entry->payload];
        } elseif ($turn->state !== 'go') {
            usleep(20_000);
            continue;
        }
        for (; ; [$ticket, $name] = [$entry->ticket, $entry->payload]) {
            file_put_contents($log, "$name\n", FILE_APPEND);
            if (mt_rand(0, 24) === 0) {
                file_put_contents($log, "death\n", FILE_APPEND);
                posix_kill(getmypid(), SIGKILL);
            }
            if (($entry = $sequence->next($ticket)) === null) {
                break;
            }
        }
    }
    return 0;
};
for ($ended = false; !$ended; ) {
    $ended = true;
    foreach (array_map(fn () => fork($work), range(1, 3)) as $child) {
        $ended = $child->ending() === 'exit 0' && $ended;
    }
}
$last = $before = '';
$seen = [];
foreach (file($log, FILE_IGNORE_NEW_LINES) as $line) {
    if ($line !== 'death') {
        check($line > $last || $line === $last && $before === 'death', "$line after $last");
        $last = $line;
        $seen[$line] = true;
    }
    $before = $line;
}
check_same($names, array_map(fn ($name) => sprintf('%03d', $name), array_keys($seen)), 'all are handled');
echo "done\n";
?>
--EXPECT--
done
