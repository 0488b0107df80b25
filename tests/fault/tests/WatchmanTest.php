<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use Latch\Tests\Fault\Record\Fault;
use Latch\Tests\Fault\Record\Faults;
use Latch\Tests\Fault\Record\Lines;
use Latch\Tests\Fault\Run\Watchmen;
use PHPUnit\Framework\TestCase;

/**
 * Who has no processor for long cannot be blamed for what it does late.
 */
final class WatchmanTest extends TestCase
{
    public function testNotesWhenItWasKeptFromItsProcessor(): void
    {
        $folder = sys_get_temp_dir() . '/latch-watchman-' . bin2hex(random_bytes(6));
        mkdir($folder);
        $file = "$folder/" . Faults::FILE;
        touch($file);
        $process = proc_open([\PHP_BINARY, '-n', __DIR__ . '/../watch.php', $file], [], $pipes);
        self::assertIsResource($process);
        $end = hrtime(true) + 20_000_000_000;
        do {
            // For the watchman the same as if its processor were gone.
            proc_terminate($process, SIGSTOP);
            usleep(150_000);
            proc_terminate($process, SIGCONT);
            usleep(20_000);
            clearstatcache();
        } while (filesize($file) === 0 && hrtime(true) < $end);
        proc_terminate($process, SIGKILL);
        proc_close($process);
        $records = iterator_to_array(Lines::of($file));
        $faults = Faults::read($folder);
        unlink($file);
        rmdir($folder);

        self::assertArrayHasKey(1, $records, 'It has noted nothing.');
        [$word, $from, $whom, $until] = $records[1];
        self::assertSame([Fault::Stall->value, Faults::ALL], [$word, $whom]);
        self::assertGreaterThan(100_000_000, (int) $until - (int) $from);
        self::assertTrue($faults->hindered('anybody', (int) $from + 1, (int) $until - 1));
    }

    public function testThereIsOneForEachProcessorUntilTheyAreForgotten(): void
    {
        $file = sys_get_temp_dir() . '/latch-watchmen-' . bin2hex(random_bytes(6));
        $watchmen = new Watchmen($file);
        $processors = (int) shell_exec('nproc');
        $end = hrtime(true) + 20_000_000_000;
        do {
            $count = self::countWatchmen($file);
        } while ($count < $processors && hrtime(true) < $end);
        unset($watchmen);
        $left = self::countWatchmen($file);
        if (is_file($file)) {
            unlink($file);
        }

        self::assertSame([$processors, 0], [$count, $left]);
    }

    private static function countWatchmen(string $file): int
    {
        $count = 0;
        foreach (glob('/proc/[0-9]*/cmdline') ?: [] as $process) {
            $arguments = explode("\0", (string) @file_get_contents($process));
            $count += (int) (\in_array($file, $arguments, true) && \in_array(\PHP_BINARY, $arguments, true));
        }

        return $count;
    }
}
