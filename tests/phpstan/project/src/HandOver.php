<?php

declare(strict_types=1);

namespace Shop;

use Latch\Key;
use Latch\Lock;
use Latch\LockFactory;
use Latch\PersistingStoreInterface;

/** Hands a key to another process, and takes one. */
final class HandOver
{
    public function pack(Key $key): string
    {
        $key->resetLifetime();
        $key->reduceLifetime(60.0);
        $key->setState('note', ['taken' => 'here']);
        $key->setState('draft', true);
        $key->removeState('draft');

        return serialize($key);
    }

    public function unpack(string $packed): Key
    {
        $key = unserialize($packed, ['allowed_classes' => [Key::class]]);
        if (!$key instanceof Key || $key->isExpired()) {
            throw new Failure('no key, or one that has expired');
        }
        if (!$key->hasState('note') || $key->getState('note') !== ['taken' => 'here']) {
            throw new Failure('not a key of ours');
        }
        if (($key->getRemainingLifetime() ?? 0.0) > 60.0) {
            throw new Failure('a key that lasts too long');
        }

        return $key;
    }

    public function stayHere(Key $key): Key
    {
        $key->markUnserializable();

        return $key;
    }

    public function lock(Key $key, PersistingStoreInterface $store): Lock
    {
        return new Lock($key, $store, 60.0, autoRelease: false);
    }

    public function lockByFactory(Key $key, LockFactory $factory): Lock
    {
        return $factory->createLockFromKey($key, 60.0, false);
    }
}
