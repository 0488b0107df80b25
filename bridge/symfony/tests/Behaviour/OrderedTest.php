<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

use PHPUnit\Framework\Attributes\Group;

/**
 * #[Ordered]: messages of a key are handled in the order of their dispatches.
 */
final class OrderedTest extends BehaviourTestCase
{
    /** In seconds: longer than a message is away that two workers took at once. Doctrine's transport counts in whole ones. */
    private const PATIENCE = 2.5;

    #[Group('telling')]
    public function testB6EachKeyHasItsOrderWhateverTheWorkers(): void
    {
        $names = [];
        $this->work(4);
        for ($i = 0; $i < 15; $i++) {
            foreach (['1', '2', '3'] as $key) {
                $names[$key][] = $name = "key $key, $i";
                $this->sendOrdered($name, [['pause', random_int(0, 8)]], $key);
            }
        }
        $this->journal->awaitThat(fn (): bool => $this->journal->count('handled') >= 45, 'all are handled');
        $this->awaitNothingQueued();

        self::assertSame(0, $this->journal->count('sent again'), 'Nobody polls.');
        foreach ($names as $ofKey) {
            $begun = array_intersect($this->journal->messages('begin'), $ofKey);
            self::assertSame($ofKey, array_values($begun));
            $this->assertNoOverlap(...$ofKey);
        }
    }

    public function testB6bTheirTransportsMayDiffer(): void
    {
        $this->sendOrdered('product', [['gate', 'go']], to: ['a']);
        self::assertTrue($this->sendOrdered('settings', [], to: ['b'])['parked']);
        $this->work(1, 'b');
        $this->work(1, 'a');
        $this->journal->await('at gate', 'product');
        self::assertSame(0, $this->app->queued('b'));
        $this->app->openGate('go');
        $this->journal->await('handled', 'settings');

        $this->assertNoOverlap('product', 'settings');
        self::assertNotSame(
            $this->journal->events('end', 'product')[0]->by,
            $this->journal->events('end', 'settings')[0]->by,
        );
    }

    public function testB6cAFailedOneKeepsItsPlaceThroughItsRetries(): void
    {
        $this->sendOrdered('x', [['fail', 2]]);
        $this->sendOrdered('y');
        $this->work(2);
        $this->journal->await('handled', 'y');

        self::assertSame(['x', 'x', 'x', 'y'], $this->journal->messages('begin'));
    }

    public function testB6dTheNextGoesOnWhenOneIsInTheFailureTransport(): void
    {
        $this->sendOrdered('x', [['fail', 3]]);
        $this->sendOrdered('y', [['gate', 'go']]);
        $this->work(2);
        $this->journal->await('at gate', 'y');
        self::assertSame(1, $this->app->queued('failed'));
        $this->app->openGate('go');
        $this->journal->await('handled', 'y');
        $this->app->command('messenger:failed:retry --force', 'by hand');
        $this->journal->await('end', 'x');

        self::assertSame(['x', 'x', 'x', 'y', 'x'], $this->journal->messages('begin'));
    }

    public function testB6d2AlsoWhenItCannotBeTriedAgain(): void
    {
        $this->sendOrdered('x', [['failForGood']]);
        $this->sendOrdered('y', [['gate', 'go']]);
        $this->work(2);
        $this->journal->await('at gate', 'y');
        self::assertSame(1, $this->app->queued('failed'));
        $this->app->openGate('go');
        $this->journal->await('handled', 'y');

        self::assertSame(['x', 'y'], $this->journal->messages('begin'));
    }

    #[Group('telling')]
    public function testB6eAKilledWorkersMessageKeepsItsPlace(): void
    {
        $this->sendOrdered('x', [['gate', 'try N']], lease: 1.0);
        $this->sendOrdered('y');
        $this->sendOrdered('z');
        $victim = $this->app->worker('a', 'victim', $this->app->redeliverSoon());
        $this->journal->await('at gate', 'x');
        $this->work();
        $victim->kill();
        $this->app->openGate('try 2');
        $this->app->worker('a', 'victim', $this->app->redeliverSoon());
        $this->journal->await('handled', 'z');

        self::assertSame(['x', 'x', 'y', 'z'], $this->journal->messages('begin'));
        $this->assertNoOverlap('x', 'y', 'z');
    }

    public function testB6fSoDoesOneBehindIt(): void
    {
        $this->sendOrdered('x');
        $this->sendOrdered('y', [['gate', 'try N']]);
        $this->sendOrdered('z');
        $victim = $this->app->worker('a', 'victim', $this->app->redeliverSoon());
        $this->journal->await('at gate', 'y');
        $victim->kill();
        $this->app->openGate('try 2');
        $this->app->worker('a', 'victim', $this->app->redeliverSoon());
        $this->journal->await('handled', 'z');

        self::assertSame(['x', 'y', 'y', 'z'], $this->journal->messages('begin'));
        $this->assertNoOverlap('x', 'y', 'z');
    }

    public function testB6gAMessageThatIsLostHoldsTheOthersUpForItsPatience(): void
    {
        $this->sendOrdered('lost', patience: self::PATIENCE);
        $this->app->loseQueued('a');
        $names = [];
        $this->journal->awaitThat(function () use (&$names): bool {
            $names[] = $name = 'next ' . \count($names);
            $this->sendOrdered($name, patience: self::PATIENCE);
            usleep(250_000);

            return $this->app->queued('a') > 0;
        }, 'the lost message is given up');
        $this->work(2);
        $this->journal->await('handled', end($names) ?: '');

        self::assertSame($names, $this->journal->messages('begin'));
        self::assertGreaterThan(1, \count($names), 'Its patience was not over at once.');
    }

    public function testB6gAnIdleWorkerSendsThemToTheFallbackInOrder(): void
    {
        $this->sendOrdered('lost', patience: 1.0, fallback: 'b');
        $this->app->loseQueued('a');
        $names = array_map(static fn (int $i): string => "next $i", range(1, 8));
        foreach ($names as $name) {
            $this->sendOrdered($name, [['pause', 3]], patience: 1.0, fallback: 'b');
        }
        $this->work(2, 'b');
        $this->work(1, 'a');
        $this->journal->await('handled', 'next 8');
        $this->awaitNothingQueued('a', 'b');

        self::assertSame($names, $this->journal->messages('begin'));
        $this->assertNoOverlap(...$names);
        foreach ($this->journal->events('received') as $received) {
            self::assertSame('b', $received->more['from']);
        }
        self::assertSame('a', $this->sendOrdered('later', patience: 1.0, fallback: 'b')['sent'], 'None waits any more.');
        $this->journal->await('handled', 'later');
    }

    public function testB6gSoDoesACommand(): void
    {
        $this->sendOrdered('lost', patience: 0.5, fallback: 'b');
        $this->app->loseQueued('a');
        $this->sendOrdered('y', patience: 0.5, fallback: 'b');
        $this->sendOrdered('z', patience: 0.5, fallback: 'b');
        $this->journal->awaitThat(function (): bool {
            $this->app->command('latch:sweep', 'cron')->awaitItsEnd();

            return $this->app->queued('b') > 0;
        }, 'the lost message is given up');
        $this->work(2, 'b');
        $this->journal->await('handled', 'z');

        self::assertSame(['y', 'z'], $this->journal->messages('begin'));
    }

    public function testB6gOneThatIsHandledIsNotGivenUp(): void
    {
        $this->sendOrdered('x', [['gate', 'go']], patience: 0.3, lease: 0.3, fallback: 'b');
        $this->sendOrdered('y', patience: 0.3, lease: 0.3, fallback: 'b');
        $this->work(1, 'a');
        $this->journal->await('at gate', 'x');
        usleep(700_000);
        $this->app->command('latch:sweep', 'cron')->awaitItsEnd();
        self::assertSame([1, 0], [$this->app->queued('a'), $this->app->queued('b')]);
        $this->app->openGate('go');
        $this->journal->await('handled', 'y');

        self::assertSame(['x', 'y'], $this->journal->messages('begin'));
    }

    public function testB6hAWorkerThatEndsLeavesThemToAnother(): void
    {
        $names = array_map(static fn (int $i): string => "x $i", range(1, 30));
        foreach ($names as $name) {
            $this->sendOrdered($name);
        }
        [$first] = $this->work(1, 'a', '--limit=1');
        $first->awaitItsEnd();
        self::assertSame(['x 1'], $this->journal->messages('handled'));
        $this->work(2);
        $this->journal->await('handled', 'x 30');

        self::assertSame($names, $this->journal->messages('begin'));
        $this->assertNoOverlap(...$names);
    }

    /**
     * @param list<list<mixed>> $steps
     *
     * @return array{sent: string, handled: int, skipped: string|null, parked: bool}
     */
    private function sendOrdered(string $name, array $steps = [], string $key = '1', float $patience = 3600.0, ?string $fallback = null, float $lease = 30.0, mixed ...$more): array
    {
        $rule = ['Ordered', ['key' => 'product_{key}', 'patience' => $patience, 'fallback' => $fallback, 'lease' => $lease]];

        return $this->send('Plain', $name, $steps, $key, ...$more, rules: [$rule]);
    }
}
