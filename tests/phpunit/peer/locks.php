<?php

/**
 * A process that has locks and does with them what it is told: one JSON array per line
 * on standard input, one JSON object with "returned" or "thrown" per line on standard output.
 *
 * Arguments: the autoload file that supplies the classes (without the extension) and the directory.
 */

declare(strict_types=1);

namespace Latch\Tests;

use Latch\Key;
use Latch\Lock;
use Latch\LockFactory;
use Latch\Semaphore\Key as SemaphoreKey;
use Latch\Semaphore\Semaphore;
use Latch\Semaphore\Store\LockStore;
use Latch\Store\FlockStore;
use Latch\Store\PdoStore;
use Latch\Store\SemaphoreStore;
use Latch\Tests\Support\Booking;
use Latch\Tests\Support\Census;
use Latch\Tests\Support\PostgreSql;
use Latch\Tests\Support\Redis\Client;
use Latch\Tests\Support\Semaphores;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\Wait;

[, $autoload, $directory] = $argv;
require $autoload;
if (is_file(\dirname($autoload, 2) . '/Lock/autoload.php')) {
    require_once \dirname($autoload, 2) . '/Lock/autoload.php'; // Debian's packages, one beside the other
}
if (!class_exists(Subject::class)) {
    // Debian's package, which knows nothing of the names used here.
    spl_autoload_register(static function (string $class): void {
        if (str_starts_with($class, __NAMESPACE__ . '\\')) {
            require \dirname(__DIR__) . strtr(substr($class, \strlen(__NAMESPACE__)), '\\', '/') . '.php';
        }
    });
    Subject::aliasSymfony();
}

/** @var array<string, Lock> $locks */
$locks = [];
/** @var array<string, Key> $keys */
$keys = [];
while (($line = fgets(STDIN)) !== false) {
    $arguments = json_decode($line, true, 16, JSON_THROW_ON_ERROR);
    $command = array_shift($arguments);
    $name = (string) ($arguments[0] ?? '');
    try {
        $returned = match ($command) {
            // name, resource[, argument of FlockStore…]: makes a lock and names it
            'lock' => (bool) $locks[$name] = new Lock(
                new Key($arguments[1]),
                new FlockStore($directory, ...\array_slice($arguments, 2)),
            ),
            // name, resource[, argument of SemaphoreStore…]: the same, by a semaphore
            'semaphore' => (bool) $locks[$name] = new Lock(
                new Key($arguments[1]),
                new SemaphoreStore(...\array_slice($arguments, 2)),
            ),
            // name, resource, port, TTL[, argument of Client::store()…]: the same, in Redis
            'redis' => (bool) $locks[$name] = new Lock(
                $keys[$name] = new Key($arguments[1]),
                Client::store($arguments[2], ...\array_slice($arguments, 4)),
                $arguments[3],
            ),
            // name, resource, limit, weight, port, TTL[, client]: permits of a semaphore in Redis
            'permits' => (bool) $locks[$name] = new Semaphore(
                $keys[$name] = new SemaphoreKey(...\array_slice($arguments, 1, 3)),
                Client::semaphores($arguments[4], ...\array_slice($arguments, 6)),
                $arguments[5],
            ),
            // name, resource, limit, weight, TTL: permits that are locks in files
            'slots' => (bool) $locks[$name] = new Semaphore(
                $keys[$name] = new SemaphoreKey(...\array_slice($arguments, 1, 3)),
                new LockStore(new LockFactory(new FlockStore($directory))),
                $arguments[4],
            ),
            // name, what somebody else has handed over, port, TTL[, client]: permits by that key
            'take permits over' => (bool) $locks[$name] = new Semaphore(
                $keys[$name] = unserialize(base64_decode($arguments[1])),
                Client::semaphores($arguments[2], ...\array_slice($arguments, 4)),
                $arguments[3],
                false,
            ),
            // name, census, weight, times: see Census
            'crowd' => (new Census($arguments[1]))->run($locks[$name], ...\array_slice($arguments, 2)),
            // name, file: waits for its permits and gives them back, again and again, until the file is there
            'take turns' => (static function () use ($locks, $name, $arguments): int {
                for ($turns = 0; !file_exists($arguments[1]); ++$turns) {
                    $locks[$name]->acquire(true, Wait::LIMIT) || throw new \RuntimeException('It has waited in vain.');
                    usleep(2000);
                    $locks[$name]->release();
                }

                return $turns;
            })(),
            // name, resource, ports, TTL[, argument of Client::combine()…]: the same, in several Redis
            'combined' => (bool) $locks[$name] = new Lock(
                $keys[$name] = new Key($arguments[1]),
                Client::combine($arguments[2], ...\array_slice($arguments, 4)),
                $arguments[3],
            ),
            // name, what somebody else has handed over, ports, TTL[, …]: a lock on that key
            'take combined over' => (bool) $locks[$name] = new Lock(
                $keys[$name] = unserialize(base64_decode($arguments[1])),
                Client::combine($arguments[2], ...\array_slice($arguments, 4)),
                $arguments[3],
                false,
            ),
            // name, resource, port, client: the same, in PostgreSQL
            'postgresql' => (bool) $locks[$name] = new Lock(
                new Key($arguments[1]),
                PostgreSql::store(...\array_slice($arguments, 2)),
            ),
            // name, resource, DSN, TTL: the same, in a table
            'table' => (bool) $locks[$name] = new Lock(
                $keys[$name] = new Key($arguments[1]),
                new PdoStore($arguments[2]),
                $arguments[3],
            ),
            // name, what somebody else has handed over, DSN, TTL: a lock on that key
            'take table over' => (bool) $locks[$name] = new Lock(
                $keys[$name] = unserialize(base64_decode($arguments[1])),
                new PdoStore($arguments[2]),
                $arguments[3],
                false,
            ),
            // name: the key of a lock in Redis or a table, for another process
            'hand over' => base64_encode(serialize($keys[$name])),
            // name, what somebody else has handed over, port, TTL[, …]: a lock on that key
            'take over' => (bool) $locks[$name] = new Lock(
                $keys[$name] = unserialize(base64_decode($arguments[1])),
                Client::store($arguments[2], ...\array_slice($arguments, 4)),
                $arguments[3],
                false,
            ),
            // name, port, times, seconds, scripts: releases when waiters have asked for a lock in Redis so often since
            // then, and not before that time
            'release when asked' => Client::untilAsked(...\array_slice($arguments, 1)) ?? $locks[$name]->release(),
            // name, file, times: appends the fencing tokens of the lock
            'append tokens' => (static function () use ($locks, $name, $arguments): void {
                for ($i = 0; $i < $arguments[2]; ++$i) {
                    $locks[$name]->acquire(true);
                    file_put_contents($arguments[1], $locks[$name]->getFencingToken() . "\n", \FILE_APPEND);
                    $locks[$name]->release();
                }
            })(),
            // name, method, argument…
            'call' => $locks[$name]->{$arguments[1]}(...\array_slice($arguments, 2)),
            // name, pid, file: releases when that process queues for the lock
            'release when queued' => Wait::untilQueued($arguments[1], $arguments[2]) ?? $locks[$name]->release(),
            // name, pid: releases when that process waits for a semaphore
            'release when it waits for a semaphore' => Semaphores::untilQueued($arguments[1])
                ?? $locks[$name]->release(),
            // name: forgets the lock
            'drop' => (static function () use (&$locks, $name): void {
                unset($locks[$name]);
            })(),
            // name, ledger, times: see Booking
            'book' => (new Booking($arguments[1]))->run($locks[$name], $arguments[2]),
            // uid: goes on as that user
            'become' => posix_setgid($arguments[0]) && posix_setuid($arguments[0]),
            // class, argument…: whether a store can be made
            'construct' => (new ('Latch\Store\\' . $name)(...\array_slice($arguments, 1))) && true,
        };
        $answer = ['returned' => $returned];
    } catch (\Throwable $e) {
        $thrown = $e;
        for ($texts = []; $thrown !== null; $thrown = $thrown->getPrevious()) {
            $texts[] = Subject::plain($thrown::class) . ': ' . $thrown->getMessage();
        }
        $answer = ['thrown' => implode(' <- ', $texts)];
    }
    echo json_encode($answer, JSON_THROW_ON_ERROR), "\n";
}
