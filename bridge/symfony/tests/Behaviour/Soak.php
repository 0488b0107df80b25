<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

/**
 * Many messages for a few workers that are killed now and then, and a judgement of what the journal tells of them.
 */
final class Soak
{
    /** Seconds without the end of a message after which there will be none: more than a claim of a last step lasts. */
    private const PATIENCE = 45.0;

    /** @var list<Process> */
    private array $workers = [];

    /** Seconds of the clock. */
    private float $nextKill = 0.0;

    private int $kills = 0;

    /**
     * @param float $killEvery seconds, on average
     */
    public function __construct(
        private readonly Application $app,
        private readonly int $workerCount,
        private readonly float $killEvery,
    ) {
        // SQLite ends workers, as "database is locked"; PostgreSQL hands a message out again beside a worker that is only
        // slow; AMQP counts each death as a try, so that a message may be parked.
        if ($app->way->transport !== 'redis') {
            throw new \LogicException('Make the soak with Redis.');
        }
    }

    /**
     * Messages in order, of keys that take turns by chance.
     */
    public function runOrdered(int $messages, int $keys): SoakReport
    {
        $rule = ['Ordered', ['key' => 'product_{key}', 'lease' => 1.0]];
        $numbers = array_fill(1, $keys, 0);
        $this->begin();
        for ($i = 0; $i < $messages; $i++) {
            $key = mt_rand(1, $keys);
            $name = "$key-" . ++$numbers[$key];
            $this->send(['type' => 'Plain', 'name' => $name, 'steps' => [['pause', mt_rand(0, 4)]], 'key' => "$key", 'rules' => [$rule]]);
        }
        $this->finish($messages);
        $report = $this->report("$messages messages of $keys keys");
        foreach ($numbers as $key => $number) {
            $report->expectOrder(array_map(static fn (int $n): string => "$key-$n", $number === 0 ? [] : range(1, $number)));
        }

        return $report;
    }

    /**
     * Groups of parts, and a message after each.
     */
    public function runParts(int $groups, int $parts): SoakReport
    {
        $this->begin();
        $names = [];
        for ($group = 1; $group <= $groups; $group++) {
            $names["after $group"] = array_map(static fn (int $n): string => "$group-$n", range(1, $parts));
            $this->send(['type' => 'Plain', 'name' => "after $group", 'parts' => array_map(
                static fn (string $name): array => ['type' => 'Plain', 'name' => $name, 'steps' => [['pause', mt_rand(0, 4)]]],
                $names["after $group"],
            )]);
        }
        $this->finish($groups * ($parts + 1));
        $report = $this->report("$groups groups of $parts parts");
        foreach ($names as $after => $ofGroup) {
            $report->expectAfter($after, $ofGroup);
        }

        return $report;
    }

    private function begin(): void
    {
        for ($i = 1; $i <= $this->workerCount; $i++) {
            $this->workers[] = $this->start("worker $i");
        }
        $this->nextKill = microtime(true) + $this->killEvery;
    }

    private function start(string $name): Process
    {
        // To Redis the same consumer as the one that was killed, which gets what that has not acknowledged.
        return $this->app->worker('a', $name);
    }

    /**
     * @param array<string, mixed> $order
     */
    private function send(array $order): void
    {
        $this->killNowAndThen();
        $answer = $this->app->talker()->ask('send', $order);
        if (isset($answer['error'])) {
            throw new \RuntimeException("The dispatch of $order[name] throws: " . json_encode($answer));
        }
    }

    /** Returns when so many have ended, or none does any more. */
    private function finish(int $messages): void
    {
        $ended = -1;
        $end = 0.0;
        do {
            for ($i = 0; $i < 10; $i++) {
                $this->killNowAndThen();
                usleep(20_000);
            }
            $now = \count(array_unique($this->app->journal->messages('end')));
            if ($now > $ended) {
                $ended = $now;
                $end = microtime(true) + self::PATIENCE;
            }
        } while ($ended < $messages && microtime(true) < $end);
        // Locks of those that were killed last, and messages that are delivered once more.
        for ($i = 0; $i < 50 && $this->app->locked() !== []; $i++) {
            usleep(100_000);
        }
        usleep(300_000);
    }

    private function killNowAndThen(): void
    {
        if (microtime(true) < $this->nextKill) {
            return;
        }
        $this->nextKill = microtime(true) + $this->killEvery * mt_rand(500, 1500) / 1000;
        $i = array_rand($this->workers);
        $this->workers[$i]->kill();
        $this->workers[$i] = $this->start($this->workers[$i]->name);
        $this->kills++;
    }

    private function report(string $what): SoakReport
    {
        return new SoakReport($this->app->journal, "$what, $this->workerCount workers, $this->kills of them killed");
    }
}
