<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Application;
use Latch\Laravel\Tests\Support\Driver;
use PHPUnit\Framework\Attributes\TestWith;

/**
 * The file of an expired lock, which another process acquires, is not removed by the one that had it.
 */
final class FileTest extends LaravelTestCase
{
    /**
     * Another process tries to acquire the lock while this one releases its expired lock, just when it has found that. Then a
     * third one tries: two of them have the lock with Laravel's own.
     */
    private const RELEASE = <<<'PHP'
        [$name, $method] = $arguments;
        $attempt = json_encode(['return Cache::lock($arguments[0], 100)->get();', [$name]]) . "\n";
        $other = function () use ($attempt) {
            $command = [PHP_BINARY, '-d', 'extension=' . getenv('LATCH_SO'), ...$_SERVER['argv']];
            $process = proc_open($command, [['pipe', 'r'], ['pipe', 'w']], $pipes);
            fwrite($pipes[0], $attempt);
            fclose($pipes[0]);
            return json_decode(stream_get_contents($pipes[1]), true)['result'];
        };
        $got = [];
        Illuminate\Support\Carbon::setTestNow(function ($now) use (&$got, $other) {
            Illuminate\Support\Carbon::setTestNow();
            $got[] = $other();
            return $now;
        });
        $locks[$name]->$method();
        $got[] = $other();
        return $got;
        PHP;

    #[TestWith(['release'])]
    #[TestWith(['isOwnedByCurrentProcess'])]
    public function testAnExpiredLockIsNotTakenFromItsNextHolder(string $method): void
    {
        $holder = (new Application(Driver::File))->start();
        $holder->take($name = self::lockName(), 1);
        // Expires, by a clock of seconds.
        $holder->php('time_sleep_until(time() + 2);');
        $got = $holder->php(self::RELEASE, $name, $method);

        self::assertCount(2, $got);
        self::assertSame([true], array_values(array_filter($got)), json_encode($got));
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
}
