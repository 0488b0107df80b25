<?php

/*
 * Wrong uses of Latch. Each line that PHPStan must complain of says so, with the identifier of the
 * complaint; tools/test compares. It is analysed only, never run.
 */

declare(strict_types=1);

namespace Shop;

use Latch\Key;
use Latch\Lock;
use Latch\LockFactory;
use Latch\LockInterface;
use Latch\NoLock;
use Latch\PersistingStoreInterface;
use Latch\Store\FlockStore;
use Latch\Store\InMemoryStore;
use Latch\Store\RedStore;

final class Wrong
{
    public function lengthOf(LockFactory $factory): int
    {
        return $factory->createLock('x')->synchronized(fn (): string => 'text'); // error: return.type
    }

    public function callbackWithArgument(Lock $lock): void
    {
        $lock->synchronized(fn (int $number): int => $number); // error: argument.type
    }

    public function timeouts(Lock $lock, LockInterface $any, NoLock $none): void
    {
        $lock->acquire(true, '5 seconds'); // error: argument.type
        $any->acquire(true, timeout: 5.0); // error: argument.unknown
        $none->acquire(true, 5.0); // error: arguments.count
    }

    public function renewal(Lock $lock, LockInterface $any): void
    {
        $lock->keepAlive('an hour'); // error: argument.type
        $lock->onLost(fn (int $number): int => $number); // error: argument.type
        $any->keepAlive(); // error: method.notFound
    }

    public function names(Lock $lock): void
    {
        $lock->aquire(); // error: method.notFound
        $any = new RedStore(); // error: class.notFound
        $lock->key = new Key('x'); // error: property.notFound
    }

    public function keys(Key $key): void
    {
        new Key(); // error: arguments.count
        new Lock('resource', new InMemoryStore()); // error: argument.type
        echo $key->resource; // error: property.private
        (new LockFactory('flock'))->createLock('x'); // error: argument.type
    }

    public function results(FlockStore $store, Key $key): string
    {
        return $store->save($key); // error: return.type, method.void
    }
}

final class Half implements PersistingStoreInterface // error: method.abstract
{
    public function save(Key $key): void
    {
    }
}
