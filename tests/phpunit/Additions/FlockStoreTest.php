<?php

declare(strict_types=1);

namespace Latch\Tests\Additions;

use Latch\Exception\InvalidArgumentException;
use Latch\Exception\LockAcquiringException;
use Latch\Exception\LockStorageException;
use Latch\Key;
use Latch\Lock;
use Latch\Store\FlockStore;
use Latch\Tests\Support\Booking;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\TestCase;
use Latch\Tests\Support\Wait;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;

/**
 * FlockStore: what stands in the lock's place, removal on release, and what must not be left behind.
 */
final class FlockStoreTest extends TestCase
{
    public function testASymbolicLinkIsNotFollowed(): void
    {
        $target = $this->directory() . '/target';
        file_put_contents($target, 'content');
        symlink($target, $this->lockFile('r'));

        $this->assertRefused();
        self::assertSame('content', file_get_contents($target));
    }

    public function testALinkToNothingMakesNothing(): void
    {
        $target = $this->directory() . '/target';
        symlink($target, $this->lockFile('r'));

        $this->assertRefused();
        self::assertFileDoesNotExist($target);
    }

    public function testADirectoryIsNoLock(): void
    {
        mkdir($this->lockFile('r'));

        $this->assertRefused();
    }

    public function testAPipeIsNoLockAndIsNotWaitedFor(): void
    {
        posix_mkfifo($this->lockFile('r'), 0666);

        $this->assertRefused();
    }

    public function testALinkToTheDirectoryIsFollowed(): void
    {
        mkdir($this->directory() . '/real');
        symlink('real', $this->directory() . '/link');
        $a = new Lock(new Key('r'), new FlockStore($this->directory() . '/real'));
        $b = new Lock(new Key('r'), new FlockStore($this->directory() . '/link'));

        self::assertTrue($a->acquire());
        self::assertFalse($b->acquire());
    }

    public function testADirectoryWithANulByteIsRefused(): void
    {
        try {
            new FlockStore($this->directory() . "/a\0b");
            self::fail('Nothing was thrown.');
        } catch (InvalidArgumentException | \ValueError $e) {
            self::assertStringContainsString($e instanceof \ValueError ? '$lockPath' : 'a', $e->getMessage());
        }
        self::assertFileDoesNotExist($this->directory() . '/a');
    }

    public function testADirectoryWhoseNameIsTooLongIsRefused(): void
    {
        $directory = $this->directory() . '/' . str_repeat('x', 10000);

        $this->assertThrows(
            InvalidArgumentException::class,
            "The FlockStore directory \"$directory\" does not exists and cannot be created.",
            static fn () => new FlockStore($directory),
        );
    }

    public function testTheFileGoesWithTheLockWhenAskedTo(): void
    {
        $store = new FlockStore($this->directory(), true);
        $lock = new Lock(new Key('r'), $store);
        for ($i = 0; $i < 3; ++$i) {
            $lock->acquire();
            self::assertFileExists($this->lockFile('r'));
            $lock->release();
            self::assertFileDoesNotExist($this->lockFile('r'));
        }

        $lock->acquire();
        unset($lock);
        self::assertFileDoesNotExist($this->lockFile('r'));
    }

    public function testTheFileOfAReaderStaysForTheOthers(): void
    {
        $store = new FlockStore($this->directory(), removeOnRelease: true);
        $a = new Lock(new Key('r'), $store);
        $b = new Lock(new Key('r'), $store);
        $a->acquireRead();
        $b->acquireRead();

        $a->release();
        self::assertFileExists($this->lockFile('r'));
        self::assertFalse((new Lock(new Key('r'), $store))->acquire());
    }

    public function testARefusedLockRemovesNothing(): void
    {
        $peer = Peer::own($this->directory());
        $peer->do('lock', 'theirs', 'r', true);
        $peer->do('call', 'theirs', 'acquire');
        $lock = new Lock(new Key('r'), new FlockStore($this->directory(), true));

        self::assertFalse($lock->acquire());
        $lock->release();
        unset($lock);
        self::assertFileExists($this->lockFile('r'));
    }

    #[TestWith([true])]
    #[TestWith([false])]
    public function testAWaiterIsNotLeftWithARemovedFile(bool $removes): void
    {
        $peer = Peer::own($this->directory());
        $peer->do('lock', 'theirs', 'r', $removes);
        $ours = new Lock(new Key('r'), new FlockStore($this->directory(), true));
        $ours->acquire();
        $peer->ask('call', 'theirs', 'acquire', true);
        Wait::untilQueued($peer->pid(), $this->lockFile('r'));
        $ours->release();

        self::assertTrue($peer->answer());
        self::assertFileExists($this->lockFile('r'));
        self::assertFalse($ours->acquire());
    }

    public function testNothingIsLostWhileFilesComeAndGo(): void
    {
        $ledger = $this->directory() . '/ledger';
        $peers = [];
        for ($i = 0; $i < 4; ++$i) {
            $peers[$i] = Peer::own($this->directory());
            // Those who do not remove must notice those who do.
            $peers[$i]->do('lock', 'theirs', 'r', $i % 2 === 0);
        }
        foreach ($peers as $peer) {
            $peer->ask('book', 'theirs', $ledger, 300);
        }
        foreach ($peers as $peer) {
            self::assertSame(300, $peer->answer(60.0));
        }

        self::assertSame(4 * 300, (new Booking($ledger))->balance());
    }

    public function testAFileThatSomebodyRemovedIsMadeAgain(): void
    {
        $store = new FlockStore($this->directory());
        $lock = new Lock(new Key('r'), $store);
        $lock->acquire();
        $lock->release();
        unlink($this->lockFile('r'));

        self::assertTrue($lock->acquire());
        self::assertFileExists($this->lockFile('r'));
        $peer = Peer::symfony($this->directory());
        $peer->do('lock', 'theirs', 'r');
        self::assertFalse($peer->do('call', 'theirs', 'acquire'));
    }

    public function testDescriptorsDoNotPileUp(): void
    {
        $store = new FlockStore($this->directory());
        (new Lock(new Key('first'), $store))->acquire();
        $before = \count((array) scandir('/proc/self/fd'));
        for ($i = 0; $i < 300; ++$i) {
            $holder = new Lock(new Key("r$i"), $store);
            $holder->acquire();
            (new Lock(new Key("r$i"), $store))->acquire();
            (new Lock(new Key("r$i"), $store))->acquire(true, 0.0);
            unset($holder);
        }

        // Some are kept on purpose, for the next time.
        self::assertLessThan($before + 100, \count((array) scandir('/proc/self/fd')));
    }

    public function testDescriptorsAreNotPassedOnToACommand(): void
    {
        $lock = new Lock(new Key('r'), new FlockStore($this->directory()));
        $lock->acquire();
        $links = (string) shell_exec('ls -l /proc/self/fd');

        self::assertStringContainsString('/proc/', $links);
        self::assertStringNotContainsString(basename($this->lockFile('r')), $links);
    }

    public function testACommandStartedMeanwhileDoesNotKeepTheLock(): void
    {
        $lock = new Lock(new Key('r'), new FlockStore($this->directory()));
        $lock->acquire();
        $process = proc_open(['cat'], [['pipe', 'r'], ['pipe', 'w']], $pipes);
        self::assertIsResource($process);
        $lock->release();

        self::assertTrue((new Lock(new Key('r'), new FlockStore($this->directory())))->acquire());
        fclose($pipes[0]);
        proc_close($process);
    }

    /**
     * @return iterable<string, array{string}>
     */
    public static function methods(): iterable
    {
        foreach (['save', 'saveRead', 'waitAndSave', 'waitAndSaveRead', 'exists', 'delete'] as $method) {
            yield $method => [$method];
        }
    }

    /**
     * A subclass that overrides one method alone: that one is called, the others are the store's own.
     */
    #[DataProvider('methods')]
    public function testOneOverriddenMethodIsCalled(string $method): void
    {
        $store = match ($method) {
            'save' => new class ($this->directory()) extends FlockStore {
                public int $calls = 0;

                public function save(Key $key): void
                {
                    ++$this->calls;
                    parent::save($key);
                }
            },
            'saveRead' => new class ($this->directory()) extends FlockStore {
                public int $calls = 0;

                public function saveRead(Key $key): void
                {
                    ++$this->calls;
                    parent::saveRead($key);
                }
            },
            'waitAndSave' => new class ($this->directory()) extends FlockStore {
                public int $calls = 0;

                public function waitAndSave(Key $key): void
                {
                    ++$this->calls;
                    parent::waitAndSave($key);
                }
            },
            'waitAndSaveRead' => new class ($this->directory()) extends FlockStore {
                public int $calls = 0;

                public function waitAndSaveRead(Key $key): void
                {
                    ++$this->calls;
                    parent::waitAndSaveRead($key);
                }
            },
            'exists' => new class ($this->directory()) extends FlockStore {
                public int $calls = 0;

                public function exists(Key $key): bool
                {
                    ++$this->calls;

                    return parent::exists($key);
                }
            },
            'delete' => new class ($this->directory()) extends FlockStore {
                public int $calls = 0;

                public function delete(Key $key): void
                {
                    ++$this->calls;
                    parent::delete($key);
                }
            },
        };
        $lock = new Lock(new Key('r'), $store);

        $calls = [];
        foreach (
            [
                'save' => fn () => $lock->acquire(),
                'exists' => fn () => $lock->isAcquired(),
                'saveRead' => fn () => $lock->acquireRead(),
                'waitAndSave' => fn () => $lock->acquire(true),
                'delete' => fn () => $lock->release(),
            ] as $name => $step
        ) {
            $before = $store->calls;
            $step();
            $calls[$name] = $store->calls - $before;
        }

        // A release asks afterwards whether the lock has gone; Lock never calls waitAndSaveRead, as the
        // store is no BlockingSharedLockStoreInterface.
        $expected = ['save' => 0, 'exists' => 0, 'saveRead' => 0, 'waitAndSave' => 0, 'delete' => 0];
        $expected[$method] = 1;
        if ($method === 'exists') {
            $expected['delete'] = 1;
        }
        unset($expected['waitAndSaveRead']);
        self::assertSame($expected, $calls);
        self::assertFalse($lock->isAcquired());
    }

    private function assertRefused(): void
    {
        $store = new FlockStore($this->directory());
        foreach (['save', 'saveRead', 'waitAndSave', 'waitAndSaveRead'] as $method) {
            $key = new Key('r');
            $e = $this->assertThrows(LockStorageException::class, null, static fn () => $store->$method($key));
            self::assertStringContainsString(basename($this->lockFile('r')), $e->getMessage());
            self::assertFalse($store->exists($key));
        }
        $lock = new Lock(new Key('r'), $store);
        $e = $this->assertThrowsWithReason(
            LockAcquiringException::class,
            'Failed to acquire the "r" lock',
            static fn () => $lock->acquire(true),
        );
        self::assertInstanceOf(LockStorageException::class, $e->getPrevious());
        self::assertFalse($lock->isHeld());
    }
}
