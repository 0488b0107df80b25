<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

/**
 * One for each processor, which notes when it was not to be had. They end with this process, however it ends.
 */
final class Watchmen
{
    /** @var list<resource> */
    private array $processes = [];

    /** @param string $file where they write their records */
    public function __construct(string $file)
    {
        foreach (self::processors() as $processor) {
            $process = proc_open(
                [
                    'setpriv', '--pdeathsig', 'KILL', '--', 'taskset', '--cpu-list', (string) $processor,
                    \PHP_BINARY, '-n', \dirname(__DIR__, 2) . '/watch.php', $file,
                ],
                [['file', '/dev/null', 'r']],
                $pipes,
            );
            if ($process === false) {
                throw new \RuntimeException("Cannot watch processor $processor");
            }
            $this->processes[] = $process;
        }
    }

    /** Ends the watchmen: without that the program would wait for their end for ever. */
    public function __destruct()
    {
        $this->dismiss();
    }

    public function dismiss(): void
    {
        foreach ($this->processes as $process) {
            proc_terminate($process, SIGKILL);
            proc_close($process);
        }
        $this->processes = [];
    }

    /** @return list<int> those that this process may use: sched_setaffinity(2) */
    private static function processors(): array
    {
        preg_match('/^Cpus_allowed_list:\s*(\S+)$/m', (string) file_get_contents('/proc/self/status'), $match);
        $processors = [];
        foreach (explode(',', $match[1] ?? '') as $range) {
            [$first, $last] = [...explode('-', $range), $range];
            array_push($processors, ...range((int) $first, (int) $last));
        }

        return $processors;
    }
}
