<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

use PHPUnit\Framework\Attributes\Group;

/**
 * AfterAll: parts in whatever order, and a message after them.
 */
final class AfterAllTest extends BehaviourTestCase
{
    public function testB8PartsAreHandledAtTheSameTime(): void
    {
        $this->sendAfter('after', [
            self::message('Plain', 'p1', [['gate', 'go']]),
            self::message('Plain', 'p2', [['gate', 'go']]),
            self::message('Plain', 'p3', [['gate', 'go']], to: ['b']),
        ]);
        $this->work(3, 'a b');
        $this->journal->await('at gate', times: 3);
        $this->app->openGate('go');
        $this->journal->await('handled', 'after');

        self::assertSame(3, $this->journal->mostAtATime('p1', 'p2', 'p3'));
    }

    #[Group('telling')]
    public function testB9AfterAllPartsOfItsGroupEachLastStepComesOnce(): void
    {
        $this->work(4);
        foreach ([1, 2, 3] as $group) {
            $parts = [];
            for ($i = 0; $i < 12; $i++) {
                $parts[] = self::message('Plain', "group $group, part $i", [['pause', random_int(0, 8)]]);
            }
            self::assertTrue($this->sendAfter("after $group", $parts)['parked']);
        }
        foreach ([1, 2, 3] as $group) {
            $this->journal->await('handled', "after $group");
        }
        $this->awaitNothingQueued();

        foreach ([1, 2, 3] as $group) {
            self::assertSame(1, $this->journal->count('begin', "after $group"));
            $last = $this->journal->events('begin', "after $group")[0]->at;
            for ($i = 0; $i < 12; $i++) {
                self::assertLessThan($last, $this->journal->events('end', "group $group, part $i")[0]->at);
            }
        }
    }

    public function testB9bAPartThatIsDeliveredTwiceCountsOnce(): void
    {
        $this->sendAfter('after', [self::message('Plain', 'twice'), self::message('Plain', 'slow', [['gate', 'go']])]);
        $this->app->duplicateQueued('a', 'twice');
        $this->work(2);
        $this->journal->await('handled', 'twice', 2);
        $this->journal->await('at gate', 'slow');
        $this->journal->awaitThat(fn (): bool => $this->app->queued('a') === 1, 'there is only the slow one');
        $this->app->openGate('go');
        $this->journal->await('handled', 'after');
        $this->awaitNothingQueued();

        self::assertSame(1, $this->journal->count('begin', 'after'));
        self::assertSame(['twice', 'twice', 'slow', 'after'], $this->journal->messages('end'));
    }

    public function testB9cAWorkerThatIsKilledInAPart(): void
    {
        $this->sendAfter('after', [self::message('Plain', 'p1', [['gate', 'try N']]), self::message('Plain', 'p2')]);
        $victim = $this->app->worker('a', 'victim', $this->app->redeliverSoon());
        $this->journal->await('at gate', 'p1');
        $this->work();
        $this->journal->await('handled', 'p2');
        $victim->kill();
        $this->app->openGate('try 2');
        $this->app->worker('a', 'victim', $this->app->redeliverSoon());
        $this->journal->await('handled', 'after');
        $this->awaitNothingQueued();

        self::assertSame(['p2', 'p1', 'after'], $this->journal->messages('end'));
    }

    /** As by a worker that dies when it has dispatched the last step. */
    public function testB9cALastStepThatIsDispatchedTwiceIsHandledOnce(): void
    {
        $this->sendAfter('after', [self::message('Plain', 'p')], to: ['b']);
        $this->work(1, 'a');
        $this->journal->await('handled', 'p');
        $this->app->duplicateQueued('b', 'after');
        $this->work(2, 'b');
        $this->journal->await('handled', 'after', 2);
        $this->awaitNothingQueued('b');

        self::assertSame(['p', 'after'], $this->journal->messages('begin'));
    }

    public function testB9dAParkedPartHoldsItBackUntilItIsRetriedByHand(): void
    {
        $this->sendAfter('after', [self::message('Plain', 'p1', [['fail', 3]]), self::message('Plain', 'p2')]);
        $this->work();
        $this->journal->await('parked', 'p1');
        $this->journal->await('handled', 'p2');
        $this->awaitNothingQueued();
        self::assertSame(0, $this->journal->count('begin', 'after'));
        $this->app->command('messenger:failed:retry --force', 'by hand');
        $this->journal->await('handled', 'after');

        self::assertSame(['p2', 'p1', 'after'], $this->journal->messages('end'));
    }

    public function testB9dWithFailuresAllowedItDoesNot(): void
    {
        $this->sendAfter('after', [self::message('Plain', 'p1', [['fail']]), self::message('Plain', 'p2')], allowFailures: true);
        $this->work();
        $this->journal->await('handled', 'after');

        self::assertSame(['p2', 'after'], $this->journal->messages('end'));
        self::assertSame(1, $this->journal->count('parked', 'p1'));
    }

    /**
     * @param list<array<string, mixed>> $parts
     *
     * @return array{sent: string, handled: int, skipped: string|null, parked: bool}
     */
    private function sendAfter(string $name, array $parts, mixed ...$more): array
    {
        return $this->send('Plain', $name, [], '', ...$more, parts: $parts);
    }
}
