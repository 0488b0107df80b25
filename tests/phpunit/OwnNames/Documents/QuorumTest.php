<?php

declare(strict_types=1);

namespace Latch\Tests\OwnNames\Documents;

use Latch\Tests\RedisServer;
use Latch\Tests\Support\DocumentTestCase;

final class QuorumTest extends DocumentTestCase
{
    /** @var list<RedisServer> */
    private array $servers;

    protected static function page(): string
    {
        return 'docs/quorum.md';
    }

    protected function substitutes(): array
    {
        return [
            'redis://10.0.0.1' => $this->servers[0]->dsn(),
            'redis://10.0.0.2' => $this->servers[1]->dsn(),
            'redis://10.0.0.3' => $this->servers[2]->dsn(),
        ];
    }

    protected function setUp(): void
    {
        $this->servers = [new RedisServer(), new RedisServer(), new RedisServer()];
        parent::setUp();
    }

    public function testALockIsHeldWhenMostServersAgree(): void
    {
        $this->servers[1]->stop();

        self::assertSame('held', $this->said(<<<'PHP'
            require example('locks-in-several-stores-at-once-1.php');
            if ($lock->acquire()) {
                echo $lock->isHeld() ? 'held' : 'not held';
                $lock->release();
            }
            PHP));
        self::assertSame([0, 0], [
            $this->servers[0]->command('EXISTS', 'invoice-42'),
            $this->servers[2]->command('EXISTS', 'invoice-42'),
        ]);
    }
}
