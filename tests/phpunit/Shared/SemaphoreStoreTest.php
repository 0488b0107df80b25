<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Key;
use Latch\Lock;
use Latch\Store\SemaphoreStore;
use Latch\Tests\Support\Booking;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\Semaphores;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * Semaphores are the whole machine's: every test has a resource of its own.
 */
final class SemaphoreStoreTest extends TestCase
{
    private string $resource;

    protected function setUp(): void
    {
        $this->resource = 'latch test ' . bin2hex(random_bytes(8));
    }

    protected function tearDown(): void
    {
        self::assertFalse(Semaphores::exists(Semaphores::key($this->resource)), 'A set was left behind.');
        parent::tearDown();
    }

    public function testItIsSupportedAsPhpsExtensionIs(): void
    {
        self::assertSame(\extension_loaded('sysvsem'), SemaphoreStore::isSupported());
    }

    public function testALockForReadingIsALockForWriting(): void
    {
        $lock = new Lock(new Key($this->resource), new SemaphoreStore());
        $other = new Lock(new Key($this->resource), new SemaphoreStore());

        self::assertTrue($lock->acquireRead());
        self::assertFalse($other->acquireRead());
        $lock->release();
    }

    /**
     * @return iterable<string, array{\Closure(string): Peer}>
     */
    public static function peers(): iterable
    {
        yield 'our own kind' => [Peer::own(...)];
        yield 'Symfony 7.4' => [Peer::symfony(...)];
    }

    #[DataProvider('peers')]
    public function testTheyExcludeEachOther(\Closure $start): void
    {
        $peer = $start($this->directory());
        $peer->do('semaphore', 'theirs', $this->resource);
        $ours = new Lock(new Key($this->resource), new SemaphoreStore());

        self::assertTrue($ours->acquire());
        self::assertFalse($peer->do('call', 'theirs', 'acquire'));
        $ours->release();
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        self::assertFalse($ours->acquire());
        $peer->do('call', 'theirs', 'release');
        self::assertTrue($ours->acquire());
        $ours->release();
    }

    #[DataProvider('peers')]
    public function testWhoWaitsIsLetIn(\Closure $start): void
    {
        $peer = $start($this->directory());
        $peer->do('semaphore', 'theirs', $this->resource);
        $ours = new Lock(new Key($this->resource), new SemaphoreStore());

        $ours->acquire();
        $peer->ask('call', 'theirs', 'acquire', true);
        Semaphores::untilQueued($peer->pid());
        $ours->release();
        self::assertTrue($peer->answer());
        self::assertFalse($ours->acquire());

        $peer->ask('release when it waits for a semaphore', 'theirs', getmypid());
        self::assertTrue($ours->acquire(true));
        $peer->answer();
        $ours->release();
    }

    #[DataProvider('peers')]
    public function testAKilledHolderHoldsNothing(\Closure $start): void
    {
        $peer = $start($this->directory());
        $peer->do('semaphore', 'theirs', $this->resource);
        $peer->do('call', 'theirs', 'acquire');
        $ours = new Lock(new Key($this->resource), new SemaphoreStore());
        self::assertFalse($ours->acquire());

        $peer->kill();
        self::assertTrue($ours->acquire());
        $ours->release();
    }

    public function testNothingIsLostAmongManyOfEveryKind(): void
    {
        $ledger = $this->directory() . '/ledger';
        $peers = [];
        foreach (self::peers() as [$start]) {
            array_push($peers, $start($this->directory()), $start($this->directory()));
        }
        foreach ($peers as $peer) {
            $peer->do('semaphore', 'theirs', $this->resource);
        }
        foreach ($peers as $peer) {
            $peer->ask('book', 'theirs', $ledger, 200);
        }
        foreach ($peers as $peer) {
            self::assertSame(200, $peer->answer(60.0));
        }

        self::assertSame(4 * 200, (new Booking($ledger))->balance());
    }
}
