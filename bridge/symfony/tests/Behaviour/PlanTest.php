<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

/**
 * Plan: messages and their rules in one sentence.
 */
final class PlanTest extends BehaviourTestCase
{
    public function testB10ALockOfPartsLastsUntilTheLastStepWasHandled(): void
    {
        $parts = [self::message('Plain', 'p1', [['gate', 'go']]), self::message('Plain', 'p2', [['gate', 'go']])];
        $after = self::message('Plain', 'after', [['gate', 'last']]);
        $send = fn (): bool => $this->plan(['key', 'import'], ['lock'], ['parallel'], ['addMessage', ...$parts], ['after', $after]);
        self::assertTrue($send());
        self::assertFalse($send());
        $this->work(2);
        $this->journal->await('at gate', times: 2);
        self::assertFalse($send());
        $this->app->openGate('go');
        $this->journal->await('at gate', 'after');
        self::assertSame(2, $this->journal->mostAtATime('p1', 'p2'));
        self::assertFalse($send());
        $this->app->openGate('last');
        $this->journal->await('handled', 'after');
        $this->awaitNothingQueued();

        self::assertSame(1, $this->journal->count('begin', 'after'));
        self::assertTrue($this->plan(['key', 'import'], ['lock'], ['addMessage', self::message('Plain', 'next')]));
        $this->journal->await('handled', 'next');
    }

    public function testB10ALockOfAChainOutlivesItsWorkers(): void
    {
        $steps = [
            self::message('Plain', 's1'),
            self::message('Plain', 's2', [['gate', 'try N']], to: ['b']),
            self::message('Plain', 's3'),
        ];
        $send = fn (): bool => $this->plan(['key', 'order'], ['lock', 3600.0, 1.0], ['addMessage', ...$steps]);
        self::assertTrue($send());
        $this->work(1, 'a');
        $this->journal->await('handled', 's1');
        self::assertFalse($send(), 'The second step waits for its worker.');
        $victim = $this->app->worker('b', 'victim', $this->app->redeliverSoon());
        $this->journal->await('at gate', 's2');
        self::assertFalse($send());
        $victim->kill();
        $this->app->openGate('try 2');
        $this->app->worker('b', 'victim', $this->app->redeliverSoon());
        $this->journal->await('handled', 's3');
        $this->awaitNothingQueued('a', 'b');

        self::assertSame(['s1', 's2', 's2', 's3'], $this->journal->messages('begin'));
        self::assertSame([], $this->app->locked());
    }

    public function testB10AStepThatIsParkedFreesTheKey(): void
    {
        $steps = [self::message('Plain', 's1'), self::message('Plain', 's2', [['failForGood']]), self::message('Plain', 's3')];
        self::assertTrue($this->plan(['key', 'order'], ['lock'], ['addMessage', ...$steps]));
        $this->work();
        $this->journal->await('parked', 's2');

        self::assertTrue($this->plan(['key', 'order'], ['lock'], ['addMessage', self::message('Plain', 'next')]));
        $this->journal->await('handled', 'next');
        self::assertSame(0, $this->journal->count('begin', 's3'));
    }

    /**
     * @param list<mixed> ...$calls
     */
    private function plan(array ...$calls): bool
    {
        return $this->app->talker()->ask('plan', ...$calls);
    }
}
