--TEST--
Latch\Sequence: entries are handled one after the other, and those that wait are handed out
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sync.inc';

use Latch\{Entry, Sequence};
use Latch\Tests\RedisServer;

/** What a turn tells. */
$turn = fn (Sequence $sequence, int $ticket): string => $sequence->resume($ticket)->state;
/** What is handed out. */
$entry = fn (?Entry $entry): ?array => $entry === null ? null : [$entry->ticket, $entry->payload];

$server = new RedisServer();
foreach (sync_factories($server) as $name => $factory) {
    $one = $factory->createSequence('customer-7', 60.0, 3600.0);
    $other = $factory->createSequence('customer-7', 60.0, 3600.0);
    check(preg_match('/^[0-9a-f]{32}$/', $one->getOwner()) === 1 && $one->getOwner() !== $other->getOwner(), "$name: owners");
    check_same(['head' => null, 'parked' => false, 'heldFor' => 0.0, 'idleFor' => 0.0, 'waiting' => 0, 'average' => null], $one->inspect(),
        "$name: nobody is there");

    $first = $one->enter('a', 'message a');
    $second = $other->enter('b', "b\0" . 'message');
    $third = $one->enter('c', '');
    check_same([true, false, false], [$first->isHead, $second->isHead, $third->isHead], "$name: the first is the head");
    check($first->ticket > 0 && $first->ticket < $second->ticket && $second->ticket < $third->ticket, "$name: tickets rise");
    check_same([$second->ticket, false], [$one->enter('b')->ticket, $one->enter('b')->isHead], "$name: an id has one ticket");
    check_same(true, $other->enter('a')->isHead, "$name: and one place");

    $held = $other->resume($third->ticket);
    check_same(['held', true], [$held->state, $held->retryAfter > 0], "$name: the third waits");
    check_same(['go', 0.0], [$one->resume($first->ticket)->state, $one->resume($first->ticket)->retryAfter], "$name: the first goes");
    $held = $other->resume($first->ticket);
    check_same(['held', true], [$held->state, $held->retryAfter > 0 && $held->retryAfter <= 3600], "$name: with one alone");
    check_same(null, $other->next($first->ticket), "$name: another does not end it");
    $known = $one->inspect();
    check_same([$first->ticket, false, 2, null], [$known['head'], $known['parked'], $known['waiting'], $known['average']], "$name: what is known");
    check($known['heldFor'] > 0 && $known['heldFor'] <= 3600 && $known['idleFor'] >= 0, "$name: times");

    check_same([$second->ticket, "b\0" . 'message'], $entry($one->next($first->ticket)), "$name: the second is handed out");
    check_same([$second->ticket, "b\0" . 'message'], $entry($one->next($first->ticket)), "$name: once more when it is asked again");
    check_same(null, $other->next($first->ticket), "$name: to no other");
    check_same(true, $one->inspect()['parked'] && $one->inspect()['average'] > 0, "$name: it is kept until it has ended");
    check_same('done', $turn($one, $first->ticket), "$name: the first has ended");

    $finishing = $factory->createSequence('customer-7', 60.0, 3600.0, $one->getOwner());
    check_same('go', $turn($finishing, $second->ticket), "$name: the same owner");
    check_same([$third->ticket, ''], $entry($finishing->next($second->ticket)), "$name: an empty payload is one");
    $one->putBack($third->ticket);
    check_same([true, false, 0.0], [$one->enter('c')->isHead, $one->inspect()['parked'], $one->inspect()['heldFor']], "$name: its message is sent");
    check_same('go', $turn($other, $third->ticket), "$name: to whoever gets it");
    check_same(null, $other->next($third->ticket), "$name: there is no other");
    check_same([null, 0], [$one->inspect()['head'], $one->inspect()['waiting']], "$name: all have ended");

    /* Without a payload an entry travels, and waits by itself. */
    $first = $one->enter('d');
    $second = $one->enter('e');
    check_same(['held', 'go'], [$turn($other, $second->ticket), $turn($one, $first->ticket)], "$name: the second waits");
    check_same(null, $one->next($first->ticket), "$name: nothing is handed out");
    check_same('go', $turn($other, $second->ticket), "$name: it is its turn");
    check_same(null, $other->next($second->ticket), "$name: the end");

    /* A head that never comes. */
    $lost = $one->enter('lost');
    $next = $one->enter('next', 'p');
    check_same(null, $other->abandon(3600.0), "$name: patience");
    check_same([$next->ticket, 'p'], $entry($other->abandon(0.0)), "$name: without patience it is abandoned");
    check_same(['late', 'go'], [$turn($one, $lost->ticket), $turn($other, $next->ticket)], "$name: it is late then");
    check_same(null, $one->abandon(0.0), "$name: one that is in a hand is not");
    check_same(null, $other->next($next->ticket), "$name: the end");
    check_same('late', $turn($one, PHP_INT_MAX), "$name: no such ticket");

    check_same(true, $factory->createSequence('customer-8')->enter('a')->isHead, "$name: each name has its own");
}
check_same(0, count(array_filter($server->command('KEYS', '*'), fn (string $key) => $server->command('PTTL', $key) < 1)), 'all keys expire');

$factory = sync_factories($server)['Redis'];
$ticket = $factory->createSequence('short', 0.02)->enter('a')->ticket;
wait_until(fn () => $factory->createSequence('short')->inspect()['head'] === null, 'the sequence is forgotten');
check_same('late', $factory->createSequence('short')->resume($ticket)->state, 'and its ticket');
check_same(true, $factory->createSequence('short')->enter('b')->isHead, 'and begins anew');
echo "done\n";
?>
--EXPECT--
done
