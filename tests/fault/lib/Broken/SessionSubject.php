<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Broken;

use Latch\Tests\Fault\Record\Teller;
use Latch\Tests\Fault\Worker\Handle;
use Latch\Tests\Fault\Worker\MysqlPeerStore;
use Latch\Tests\Fault\Worker\Subject;
use Latch\Tests\Fault\Worker\SymfonyHandle;
use Latch\Tests\Fault\Worker\Waiting;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\Lock;

/**
 * Locks of a session with MySQL, broken on purpose: the server lets a session in twice.
 */
final class SessionSubject implements Subject
{
    private ?MysqlPeerStore $store = null;

    /** @param string $where PDO's DSN */
    public function __construct(private readonly string $where, private readonly Breakage $breakage)
    {
    }

    public function traits(): array
    {
        return [Teller::SESSION, Teller::EXCLUSIVE_ONLY];
    }

    public function lock(string $resource, float $ttl, bool $autoRelease): Handle
    {
        $this->store ??= new MysqlPeerStore(new \PDO($this->where), $this->breakage !== Breakage::LetsItselfIn);

        return new SymfonyHandle(new Lock(new Key($resource), $this->store, $ttl, $autoRelease), Waiting::NotAtAll);
    }

    public function recover(): void
    {
        $this->store = null;
    }
}
