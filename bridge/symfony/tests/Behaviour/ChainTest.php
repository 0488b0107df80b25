<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

use PHPUnit\Framework\Attributes\Group;

/**
 * Chain: messages that are sent together and handled one after the other.
 */
final class ChainTest extends BehaviourTestCase
{
    #[Group('telling')]
    public function testB7TheyAreHandledInTheirOrder(): void
    {
        $this->work(2, 'a b');
        $this->work(2, 'b a');
        $this->sendChain([['pause', 10]]);
        $this->journal->await('handled', 'fourth');
        $this->awaitNothingQueued('a', 'b');

        self::assertSame(['first', 'second', 'third', 'fourth'], $this->journal->messages('begin'));
        $this->assertNoOverlap('first', 'second', 'third', 'fourth');
    }

    public function testB7WithoutTheRuleTheyOverlap(): void
    {
        foreach (['first', 'second'] as $name) {
            $this->send('Plain', $name, [['gate', 'go']]);
        }
        $this->work(2);
        $this->journal->await('at gate', times: 2);
        $this->app->openGate('go');
        $this->awaitNothingQueued();

        $this->assertOverlap('first', 'second');
    }

    public function testB7bAStepThatIsTriedAgainHoldsTheNextBack(): void
    {
        $this->sendChain([], [['fail', 2]]);
        $this->work(2, 'a b');
        $this->journal->await('handled', 'fourth');

        self::assertSame(
            ['first', 'second', 'second', 'second', 'third', 'fourth'],
            $this->journal->messages('begin'),
        );
    }

    public function testB7bAParkedStepEndsItUntilItIsRetriedByHand(): void
    {
        $this->sendChain([], [['fail', 3]]);
        $this->work(2, 'a b');
        $this->journal->await('parked', 'second');
        $this->awaitNothingQueued('a', 'b');
        self::assertSame(0, $this->journal->count('begin', 'third'));
        $this->app->command('messenger:failed:retry --force', 'by hand');
        $this->journal->await('handled', 'fourth');

        self::assertSame(
            ['first', 'second', 'second', 'second', 'second', 'third', 'fourth'],
            $this->journal->messages('begin'),
        );
    }

    #[Group('telling')]
    public function testE1AStepThatWasChangedInTheQueueIsRefused(): void
    {
        $this->sendChain([]);
        self::assertSame(1, $this->app->changeQueued('a', 'third', 'thief'));
        $this->work(2, 'a b');
        $this->journal->await('parked');
        $this->awaitNothingQueued('a', 'b');

        self::assertSame(0, $this->journal->count('begin', 'thief'));
        self::assertSame(0, $this->journal->count('begin', 'fourth'));
    }

    /**
     * @param list<list<mixed>> $steps  of each message
     * @param list<list<mixed>> $second of the second one
     */
    private function sendChain(array $steps, array $second = []): void
    {
        $this->send('Plain', 'first', $steps, chain: [
            self::message('Plain', 'second', $second === [] ? $steps : $second, to: ['b']),
            self::message('Plain', 'third', $steps),
            self::message('Plain', 'fourth', $steps, to: ['b']),
        ]);
    }
}
