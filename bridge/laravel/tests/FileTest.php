<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Application;
use Latch\Laravel\Tests\Support\Driver;
use Latch\Laravel\Tests\Support\Process;
use PHPUnit\Framework\Attributes\TestWith;

/**
 * The file of an expired lock, which another process acquires, is not removed by the one that had it.
 */
final class FileTest extends LaravelTestCase
{
    /**
     * The lock expires, and another process tries to acquire it, just when this one has read the file and looks at its clock.
     * Then a third one tries. With Laravel's own both have the lock: this one removes the file of the first.
     */
    private const EXPIRE = <<<'PHP'
        [$name, $method, $isLate] = $arguments;
        $attempt = json_encode(['return Cache::lock($arguments[0], 100)->get();', [$name]]) . "\n";
        $other = function () use ($attempt) {
            $command = [PHP_BINARY, '-d', 'extension=' . getenv('LATCH_SO'), ...$_SERVER['argv']];
            $process = proc_open($command, [['pipe', 'r'], ['pipe', 'w']], $pipes);
            fwrite($pipes[0], $attempt);
            fclose($pipes[0]);
            return json_decode(stream_get_contents($pipes[1]), true)['result'];
        };
        $got = [];
        Illuminate\Support\Carbon::setTestNow(function ($now) use (&$got, $other, $isLate) {
            Illuminate\Support\Carbon::setTestNow();
            time_sleep_until(time() + 2);
            $got[] = $other();
            return $isLate ? now() : $now;
        });
        $locks[$name]->$method();
        $got[] = $other();
        return $got;
        PHP;

    #[TestWith(['release', false])]
    #[TestWith(['release', true])]
    #[TestWith(['isOwnedByCurrentProcess', true])]
    public function testAnExpiredLockIsNotTakenFromItsNextHolder(string $method, bool $isLate): void
    {
        $holder = (new Application(Driver::File))->start();
        $holder->take($name = self::lockName(), 1);
        $got = $holder->php(self::EXPIRE, $name, $method, $isLate);

        self::assertCount(2, $got);
        self::assertSame([true], array_values(array_filter($got)), json_encode($got));
    }

    /** Laravel's own acquires a lock in two steps: it opens the file, then it locks and reads it. */
    public function testNoLockIsAcquiredInARemovedFile(): void
    {
        $application = new Application(Driver::File);
        [$holder, $stock] = [$application->start(), $application->startStock()];
        $holder->take($name = self::lockName(), 3);
        $stock->php('$locks["file"] = new Illuminate\Filesystem\LockableFile(Cache::getStore()->path($arguments[0]), "c+");',
            self::keyOf($holder, $name));
        self::assertTrue($holder->call($name, 'release'));
        $rest = $stock->php(<<<'PHP'
            time_sleep_until(time() + 4); // until the lock would have expired
            return $locks['file']->getExclusiveLock()->read(10) - time();
            PHP);

        self::assertGreaterThan(0, $rest);
    }

    public function testAFileThatAnotherProcessHasReplacedIsLeft(): void
    {
        $application = new Application(Driver::File);
        [$holder, $other] = [$application->start(), $application->start()];
        $holder->take($name = self::lockName(), 100);
        $path = $other->php('return Cache::getStore()->path($arguments[0]);', self::keyOf($holder, $name));
        // The holder has opened the file, and waits until it may read it.
        $file = fopen($path, 'r');
        flock($file, \LOCK_EX);
        $holder->beginCall($name, 'release');
        $holder->awaitOpen($path);
        unlink($path);
        $other->take($name, 100);
        fclose($file);

        self::assertFalse($holder->finish()->result);
        self::assertTrue($other->call($name, 'isOwnedByCurrentProcess'));
    }

    /** What Laravel returns in this case. */
    public function testTheReleaseOfAnExpiredLockRemovesTheFile(): void
    {
        $holder = (new Application(Driver::File))->start();
        $holder->take($name = self::lockName(), 1);
        $path = $holder->php('return Cache::getStore()->path($arguments[0]);', self::keyOf($holder, $name));
        self::assertFileExists($path);
        $holder->php('time_sleep_until(time() + 2);');

        self::assertFalse($holder->call($name, 'release'));
        self::assertFileDoesNotExist($path);
    }

    public function testAReleaseOfAnotherOwnersFileLeavesIt(): void
    {
        $application = new Application(Driver::File);
        [$first, $second] = [$application->start(), $application->start()];
        $first->take($name = self::lockName(), 1);
        $second->lock($name, 100);
        self::assertTrue($second->call($name, 'block', 5));

        self::assertFalse($first->call($name, 'release'));
        self::assertTrue($second->call($name, 'isOwnedByCurrentProcess'));
        self::assertTrue($second->call($name, 'release'));
        self::assertFalse($second->call($name, 'release'));
    }

    /** The key of a lock in the store. */
    private static function keyOf(Process $process, string $name): string
    {
        return $process->php('return (fn () => $this->name)->call($locks[$arguments[0]]);', $name);
    }
}
