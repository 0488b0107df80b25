<?php

declare(strict_types=1);

namespace Latch\Tests\Additions;

use Latch\Exception\InvalidArgumentException;
use Latch\Exception\LockAcquiringException;
use Latch\Key;
use Latch\Lock;
use Latch\Store\SemaphoreStore;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\Semaphores;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;

final class SemaphoreStoreTest extends TestCase
{
    private string $resource;

    protected function setUp(): void
    {
        $this->resource = 'latch test ' . bin2hex(random_bytes(8));
    }

    /**
     * @return iterable<string, array{\Closure(string): Peer, string, string, list<string>}>
     */
    public static function releases(): iterable
    {
        yield 'Symfony 5.4' => [Peer::debian(...), 'md5', '', []];
        yield 'Symfony 7.4' => [Peer::symfony(...), 'xxh128', '', []];
        yield 'Symfony 8.1' => [Peer::symfony8(...), 'xxh64', '', []];
        yield 'Symfony 8.1 with a project' => [Peer::symfony8(...), 'xxh64', 'shop', ['shop']];
    }

    /**
     * @param list<string> $theirArguments
     */
    #[DataProvider('releases')]
    public function testTheDigestOfAnyReleaseOfSymfonysExcludesIt(
        \Closure $start,
        string $digest,
        string $project,
        array $theirArguments,
    ): void {
        $peer = $start($this->directory());
        $peer->do('semaphore', 'theirs', $this->resource, ...$theirArguments);
        $ours = new Lock(new Key($this->resource), new SemaphoreStore($project, $digest));

        self::assertTrue($ours->acquire());
        self::assertTrue(Semaphores::exists(Semaphores::key($project . $this->resource, $digest)));
        self::assertFalse($peer->do('call', 'theirs', 'acquire'));
        $ours->release();
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        self::assertFalse($ours->acquire());

        $peer->ask('release when it waits for a semaphore', 'theirs', getmypid());
        self::assertTrue($ours->acquire(true));
        $peer->answer();
        $peer->ask('call', 'theirs', 'acquire', true);
        Semaphores::untilQueued($peer->pid());
        $ours->release();
        self::assertTrue($peer->answer());
        $peer->do('call', 'theirs', 'release');
        self::assertFalse(Semaphores::exists(Semaphores::key($project . $this->resource, $digest)));
    }

    #[TestWith(['md5'])]
    #[TestWith(['xxh64'])]
    #[TestWith(['xxh128'])]
    public function testTheSettingIsTheDefault(string $digest): void
    {
        self::assertSame('xxh128', \ini_set('latch.semaphore_digest', $digest));
        try {
            $lock = new Lock(new Key($this->resource), new SemaphoreStore());
        } finally {
            \ini_restore('latch.semaphore_digest');
        }

        $lock->acquire();
        self::assertTrue(Semaphores::exists(Semaphores::key($this->resource, $digest)));
    }

    public function testAnUnknownDigestIsRefused(): void
    {
        foreach (['sha256', '', 'XXH64', 'crc32'] as $digest) {
            $e = $this->assertThrows(
                InvalidArgumentException::class,
                null,
                static fn () => new SemaphoreStore('', $digest),
            );
            self::assertStringEndsWith(
                'Argument #2 ($digest) must be "xxh128", "xxh64", "md5" or null',
                $e->getMessage(),
            );
            $errors = $this->errorsOf(
                static fn () => self::assertFalse(\ini_set('latch.semaphore_digest', $digest)),
            );
            self::assertSame(['latch.semaphore_digest must be "xxh128", "xxh64" or "md5"'], $errors);
        }
        self::assertSame('xxh128', \ini_get('latch.semaphore_digest'));
    }

    public function testAWaitHasATimeout(): void
    {
        $holder = new Lock(new Key($this->resource), new SemaphoreStore());
        $holder->acquire();
        $lock = new Lock(new Key($this->resource), new SemaphoreStore());

        $begun = hrtime(true);
        self::assertFalse($lock->acquire(true, 0.03));
        self::assertGreaterThanOrEqual(30_000_000, hrtime(true) - $begun);
        $e = $this->assertThrows(LockAcquiringException::class, null, static fn () => $lock->acquire(true));
        self::assertStringContainsString('so that the wait would never end', $e->getMessage());
        self::assertTrue($holder->isHeld());
        $holder->release();
        self::assertTrue($lock->acquire(true, 0.03));
    }

    public function testALockThatWasRemovedIsNotHeld(): void
    {
        $lock = new Lock(new Key($this->resource), new SemaphoreStore());
        $lock->acquire();
        $this->removeBehindItsBack();
        $lost = Lock::getStatistics()['lost'];

        self::assertFalse($lock->isAcquired());
        self::assertSame($lost + 1, Lock::getStatistics()['lost']);
        self::assertFalse($lock->isHeld());
        $lock->release();
        self::assertTrue($lock->acquire());
    }

    public function testALockThatWasLostIsNotLeftHeldBySynchronized(): void
    {
        $lock = new Lock(new Key($this->resource), new SemaphoreStore());
        $other = new Lock(new Key($this->resource), new SemaphoreStore());
        $lock->acquire();
        $this->removeBehindItsBack();
        $other->acquire();
        self::assertFalse($lock->acquire());
        $other->release();

        $lock->synchronized(static fn () => self::assertTrue($lock->isHeld()));
        self::assertFalse($lock->isHeld());
        self::assertTrue($other->acquire());
    }

    private function removeBehindItsBack(): void
    {
        $this->inPurePhp('sem_remove(sem_get(' . Semaphores::key($this->resource) . '));');
    }
}
