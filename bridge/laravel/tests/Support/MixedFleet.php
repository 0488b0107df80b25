<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests\Support;

/**
 * Processes with the extension and without that contend for one lock, until it has been acquired so many times.
 *
 * Each holder locks a file of its own, the witness, for as long as it has the lock, and does not wait for it: a second holder
 * finds it locked, however short the overlap is. The witness contains the number of acquisitions in all, which holders read
 * and write without any other lock: two at a time would lose one.
 */
final class MixedFleet
{
    /** Seconds after which a fleet is taken not to come to an end. */
    private const PATIENCE = 3600.0;

    private const CONTEND = <<<'PHP'
        [$name, $path, $total, $holdUs, $pauseUs] = $arguments;
        $witness = fopen($path, 'r+');
        $lock = Cache::lock($name, 60);
        $tally = ['acquired' => 0, 'overlaps' => 0, 'longestNs' => 0, 'errors' => []];
        $fail = function (Throwable $e) use (&$tally) {
            $what = $e::class . ': ' . strtok($e->getMessage(), "\n");
            $tally['errors'][$what] = ($tally['errors'][$what] ?? 0) + 1;
        };
        $isOver = false;
        while (!$isOver) {
            for ($begun = hrtime(true), $has = false; !$has;) {
                try {
                    $has = $lock->block(10);
                } catch (Illuminate\Contracts\Cache\LockTimeoutException) {
                } catch (Throwable $e) {
                    $fail($e);
                }
            }
            $tally['longestNs'] = max($tally['longestNs'], hrtime(true) - $begun);
            $tally['overlaps'] += flock($witness, LOCK_EX | LOCK_NB) ? 0 : 1;
            rewind($witness);
            $number = (int) fgets($witness);
            $isOver = $number >= $total;
            usleep(random_int(0, $holdUs));
            if (!$isOver) {
                rewind($witness);
                fwrite($witness, $number + 1 . "\n");
                fflush($witness);
                $tally['acquired']++;
            }
            flock($witness, LOCK_UN);
            while ($has) {
                try {
                    $lock->release();
                    $has = false;
                } catch (Throwable $e) {
                    $fail($e);
                }
            }
            usleep(random_int(0, $pauseUs));
        }
        return $tally;
        PHP;

    /** @var list<Process> */
    private array $bridge = [];

    /** @var list<Process> */
    private array $stock = [];

    private readonly string $witness;

    /**
     * @param int $bridge number of processes with the extension
     * @param int $stock  number of those without
     */
    public function __construct(private readonly Application $application, int $bridge, int $stock)
    {
        for ($i = 0; $i < $bridge; $i++) {
            $this->bridge[] = $application->start();
        }
        for ($i = 0; $i < $stock; $i++) {
            $this->stock[] = $application->startStock();
        }
        $this->witness = "$application->directory/witness";
        file_put_contents($this->witness, "0\n");
    }

    /**
     * @param int                           $acquisitions in all
     * @param int                           $holdUs       for which a process has the lock, at most; without scheduling
     * @param int                           $pauseUs      for which it goes without, likewise
     * @param (\Closure(int): string)|null $nameOf       the lock of each process; null: one for all
     */
    public function run(int $acquisitions, int $holdUs, int $pauseUs, ?\Closure $nameOf = null): MixedFleetReport
    {
        $name = 'job-' . bin2hex(random_bytes(6));
        foreach ([...$this->bridge, ...$this->stock] as $i => $process) {
            $lock = $nameOf === null ? $name : $nameOf($i);
            $process->begin(self::CONTEND, $lock, $this->witness, $acquisitions, $holdUs, $pauseUs);
        }
        $tallies = static fn (array $processes): array => array_map(
            static fn (Process $process): array => $process->finish(self::PATIENCE)->result,
            $processes,
        );

        return new MixedFleetReport($this->application->driver, $tallies($this->bridge), $tallies($this->stock),
            (int) file_get_contents($this->witness));
    }
}
