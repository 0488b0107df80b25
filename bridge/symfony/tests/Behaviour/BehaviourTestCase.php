<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

use PHPUnit\Framework\TestCase;

/**
 * A scenario: the test sends messages, starts workers, opens gates and kills; the journal tells what happened.
 *
 * A message is described by its class in app/src/Message, its name, what its handler does (app/src/Handler/Steps.php)
 * and the key for its rules.
 */
abstract class BehaviourTestCase extends TestCase
{
    /** Time in ns within which a process gives back its locks after its last record; less than their usual TTL. */
    private const RELEASE_NS = 2_000_000_000;

    protected Application $app;

    protected Journal $journal;

    private int $workers = 0;

    protected function setUp(): void
    {
        $this->app = Application::shared();
        $this->journal = $this->app->journal;
    }

    protected function tearDown(): void
    {
        $this->app->killWorkers();
    }

    /** Whatever happened: no lock is left. */
    protected function assertPostConditions(): void
    {
        $end = hrtime(true) + self::RELEASE_NS;
        while (($locked = $this->app->locked()) !== [] && hrtime(true) < $end) {
            usleep(10_000);
        }
        self::assertSame([], $locked, "Something is locked.\n" . $this->journal->text());
    }

    protected function onNotSuccessfulTest(\Throwable $t): never
    {
        fwrite(\STDERR, "\n--- " . $this->nameWithDataSet() . "\n" . $this->journal->text() . $this->app->complaints());
        parent::onNotSuccessfulTest($t);
    }

    /**
     * An order for Sending::send().
     *
     * @param list<list<mixed>>    $steps
     * @param array<string, mixed> $more
     *
     * @return array<string, mixed>
     */
    protected static function message(string $type, string $name, array $steps = [], string $key = '', mixed ...$more): array
    {
        return ['type' => $type, 'name' => $name, 'steps' => $steps, 'key' => $key] + $more;
    }

    /**
     * Dispatches in a process that is no worker.
     *
     * @param list<list<mixed>> $steps
     *
     * @return array{sent: string, handled: int, skipped: string|null, parked: bool}
     */
    protected function send(string $type, string $name, array $steps = [], string $key = '', mixed ...$more): array
    {
        $answer = $this->trySend($type, $name, $steps, $key, ...$more);
        self::assertArrayNotHasKey('error', $answer, 'The dispatch throws: ' . json_encode($answer));

        return $answer;
    }

    /**
     * The same; when it throws, the answer has the error.
     *
     * @param list<list<mixed>> $steps
     *
     * @return array<string, mixed>
     */
    protected function trySend(string $type, string $name, array $steps = [], string $key = '', mixed ...$more): array
    {
        return $this->app->talker()->ask('send', self::message($type, $name, $steps, $key, ...$more));
    }

    /**
     * Starts workers.
     *
     * @return list<Process>
     */
    protected function work(int $count = 1, string $transports = 'a', string $more = ''): array
    {
        $workers = [];
        while ($count-- > 0) {
            $workers[] = $this->app->worker($transports, 'worker ' . ++$this->workers, more: $more);
        }

        return $workers;
    }

    /** Waits until so many processes stand in the queue of this lock. */
    protected function awaitWaiters(string $resource, int $count): void
    {
        $this->journal->awaitThat(
            fn (): bool => $this->app->locks->command('ZCARD', "latch:queue:$resource") === $count,
            "$count processes wait for $resource",
        );
    }

    /** Waits until nothing is left to do in these transports. */
    protected function awaitNothingQueued(string ...$transports): void
    {
        foreach ($transports === [] ? ['a'] : $transports as $transport) {
            $this->journal->awaitThat(fn (): bool => $this->app->queued($transport) === 0, "$transport is empty");
        }
    }

    /** None of these messages was in hand together with another one of them. */
    protected function assertNoOverlap(string ...$messages): void
    {
        $spans = $this->journal->spans(...$messages);
        for ($i = 1; $i < \count($spans); $i++) {
            self::assertFalse($spans[$i - 1]->overlaps($spans[$i]), "{$spans[$i - 1]->message} and {$spans[$i]->message} overlap.");
        }
    }

    /** These two were in hand at the same time. */
    protected function assertOverlap(string $first, string $second): void
    {
        foreach ($this->journal->spans($first) as $a) {
            foreach ($this->journal->spans($second) as $b) {
                if ($a->overlaps($b)) {
                    $this->addToAssertionCount(1);

                    return;
                }
            }
        }
        self::fail("$first and $second do not overlap.");
    }
}
