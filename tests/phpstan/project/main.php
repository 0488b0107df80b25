<?php

/*
 * The project at work, so that what the stubs promise PHPStan is also seen to be true. Its first
 * argument is a folder for lock files; the last line says that all went well.
 */

declare(strict_types=1);

namespace Shop;

use Latch\Key;
use Latch\LockFactory;
use Latch\NoLock;
use Latch\Semaphore\Key as PermitKey;
use Latch\Semaphore\SemaphoreFactory;
use Latch\Semaphore\Store\InMemoryStore as PermitStore;
use Latch\Store\FlockStore;
use Latch\Store\InMemoryStore;
use Psr\Log\NullLogger;

/** @var list<string> $argv */
require __DIR__ . '/vendor/autoload.php';

$expect = function (bool $fact, string $what): void {
    if (!$fact) {
        throw new \LogicException("not so: $what");
    }
};
$logger = new NullLogger();
$ledger = new Ledger(new FlockStore($argv[1]));
$factory = new LockFactory($ledger);
$invoices = new Invoices($factory, $logger);

$expect($invoices->send(1, 'first'), 'an invoice is sent');
$invoices->sendInTurn(2, 'second');
$expect($invoices->count() === 2, 'two were sent');
$expect(in_array('save invoice-1', $ledger->lines, true), 'the store was asked');
$expect($invoices->archive($factory->createLock('archive'), $logger) === [1 => 'first', 2 => 'second'], 'archived');
$expect($invoices->count() === 0, 'nothing is left');
$lasting = new LockFactory(new FlockStore($argv[1]));
$expect($invoices->sendRest($lasting->createLock('rest')) === null, 'a lock is kept');
$expect($invoices->count() === 1, 'what was sent meanwhile');
$expect($invoices->sendTogether($lasting, [4, 5]) === 2, 'several are locked at once');
$expect($invoices->averageWait() < 1.0, 'nobody was in the way');

$stores = new Stores();
$expect($stores->files($argv[1], new Key('files')), 'locks in files');
$expect($stores->semaphores(new Key('semaphore'), 'latch-' . getmypid()), 'locks by semaphores');
$expect($stores->memory(new Key('memory')), 'locks in memory');
$expect($stores->nothing(new Key('nothing')), 'no locks at all');
$expect($stores->configured("flock://$argv[1]", new Key('configured')), 'locks where the configuration says');
$expect($stores->combined($logger, new Key('combined')), 'locks in several stores');
$expect($stores->agreements(), 'how many agree');
$expect($stores->noLock(new NoLock()), 'no lock');
$expect($stores->any($invoices->lockOf(3, needed: true)), 'a lock that is needed');
$expect($stores->any($invoices->lockOf(3, needed: false)), 'a lock that is not');

$expect(!$stores->outlivesItsTerminal(), 'this ends with its terminal');

$hand = new HandOver();
$expect((string) $hand->unpack($hand->pack(new Key('parcel'))) === 'parcel', 'a key arrives');
$expect($stores->any($hand->lock(new Key('parcel'), new InMemoryStore())), 'a lock on a key');
$expect($stores->any($hand->lockByFactory(new Key('parcel'), $factory)), 'a lock on a key by the factory');
$expect(
    Failure::of(fn () => serialize($hand->stayHere(new Key('anchor')))) === 'this lock stays in its process',
    'some keys cannot be handed over',
);
$expect(Failure::of(fn () => $factory->createLock('x', -1.0)) === 'this time to live cannot be', 'a TTL is checked');
$expect(Failure::of(fn () => $factory->createLock('x')->acquire(timeout: 1.0)) !== 'nothing', 'timeouts are for waits');

$permits = new Permits();
$expect($permits->made($logger), 'permits by a factory');
$expect($permits->used($logger) === 2, 'permits are used, and not lost');
$expect($permits->any((new SemaphoreFactory(new PermitStore()))->createSemaphore('any', 1)), 'any semaphore');
$expect($permits->memory(new PermitKey('memory', 3, 2)), 'permits in memory');
$expect($permits->slots(new PermitKey('slots-of-phpstan', 3, 2)), 'permits that are locks');
$expect($permits->kernel(new PermitKey('permits-of-phpstan', 3, 2)), 'permits in the kernel');
$expect($permits->handedOver(new PermitKey('parcel', 3, 2))->getLimit() === 3, "a semaphore's key arrives");
$expect($permits->failure(fn () => serialize($permits->stayHere(new PermitKey('anchor', 1)))) === 'local', 'it stays');
$expect($permits->failure(fn () => new PermitKey('x', 0)) === 'argument', 'a limit is checked');
foreach ($permits->exceptions(new PermitKey('x', 1)) as $exception) {
    $expect($permits->failure(fn () => throw $exception) !== 'nothing', 'exceptions of stores');
}

$deliveries = new Deliveries();
$expect($deliveries->isNew(7, new \DateTimeImmutable('2024-01-01')), 'a version is new, and taken back');
foreach (['first', 'second'] as $slot) {
    $expect($deliveries->seconds() === 0.0, "the $slot slot");
}
$expect($deliveries->inOrder() === 'go parcel head known owned', 'one after the other');
$expect($deliveries->atRest() === 'no: held later', 'a burst goes on');
$expect($deliveries->deliver(['one']) === 'payload0one', 'the last part has failed');

echo "all went well\n";
