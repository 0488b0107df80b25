<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use Latch\Tests\Fault\Check\Findings;
use Latch\Tests\Fault\Record\History;
use Latch\Tests\Fault\Record\Writer;
use Latch\Tests\Fault\Run\Folder;
use PHPUnit\Framework\TestCase;

/**
 * A long history takes time and memory in proportion. The time is bounded by PHPUnit's limit: what is
 * quadratic takes many minutes.
 */
final class SizeTest extends TestCase
{
    private const HOLDS = 50_000;
    private const WORKERS = 8;

    public function testLongHistoryWithOneOverlapAtItsEnd(): void
    {
        $folder = new Folder();
        $writers = [];
        for ($worker = 0; $worker < self::WORKERS; ++$worker) {
            $writers[] = $writer = new Writer("$folder->path/worker-$worker." . History::EXTENSION);
            $writer->write('worker', 0, 'test', 1, 'expiring,fencing');
        }
        for ($i = 1; $i <= self::HOLDS; ++$i) {
            $time = $i * 1000;
            $this->hold($writers[$i % self::WORKERS], $i, $time);
            // One who is refused each time.
            $refused = $writers[($i + 1) % self::WORKERS];
            $refused->write('try', $time + 210, self::HOLDS + $i, self::HOLDS + $i, 'r', 'x', 'try', 100);
            $refused->write('conflict', $time + 220, self::HOLDS + $i);
        }
        // Beside the last but one.
        $this->hold($writers[(self::HOLDS + 1) % self::WORKERS], 3 * self::HOLDS, (self::HOLDS - 1) * 1000 + 100);

        memory_reset_peak_usage();
        $before = memory_get_usage();
        $history = new History($folder->path);
        $findings = new Findings($history);
        $used = memory_get_peak_usage() - $before;

        self::assertCount(self::HOLDS + 1, $history->holds['r']);
        self::assertSame(['overlap', 'fencing'], array_keys($findings->counts));
        self::assertSame(1, $findings->counts['overlap']);
        // Some hundred bytes for each hold, nothing for each conflict.
        self::assertLessThan(800 * self::HOLDS, $used);
    }

    private function hold(Writer $writer, int $number, int $time): void
    {
        $writer->write('try', $time, $number, $number, 'r', 'x', 'try', 100);
        $writer->write('granted', $time + 200, $number, $number);
        $writer->write('held', $time + 500, $number);
        $writer->write('release', $time + 510, $number);
        $writer->write('released', $time + 800, $number);
    }
}
