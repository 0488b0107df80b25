<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

/**
 * A lock that the sender takes and the message ends.
 */
final class HandOverTest extends BehaviourTestCase
{
    public function testA5TheHandlersProcessReleasesWhatARequestHasLocked(): void
    {
        self::assertSame('a', $this->request('first', [['gate', 'go']])['sent']);
        self::assertSame(['create-report-1'], $this->app->locked());
        self::assertSame('locked', $this->request('second', []));
        $this->work();
        $this->journal->await('at gate', 'first');
        self::assertSame('locked', $this->request('second', []));
        $this->app->openGate('go');
        $this->awaitNothingQueued();
        self::assertSame('a', $this->request('third', [])['sent']);
        $this->awaitNothingQueued();

        self::assertSame(['first', 'third'], $this->journal->messages('end'));
    }

    public function testA5bItIsHeldBetweenAFailedTryAndTheNext(): void
    {
        $this->request('x', [['gate', 'try N'], ['fail', 1]]);
        $this->work();
        $this->journal->await('at gate', 'x');
        $this->app->openGate('try 1');
        $this->journal->await('sent again', 'x');
        self::assertSame('locked', $this->request('y', []));
        $this->journal->await('at gate', 'x', 2);
        self::assertSame('locked', $this->request('z', []));
        $this->app->openGate('try 2');
        $this->awaitNothingQueued();

        self::assertSame(['x'], $this->journal->messages('end'));
        self::assertSame([], $this->app->locked());
    }

    public function testA5bItEndsWithTheLastTry(): void
    {
        $this->request('x', [['fail']]);
        $this->work();
        $this->journal->await('parked', 'x');
        $this->awaitNothingQueued();
        self::assertSame([], $this->app->locked());
        self::assertSame('a', $this->request('y', [])['sent']);
        $this->awaitNothingQueued();
    }

    /**
     * @param list<list<mixed>> $steps
     */
    private function request(string $name, array $steps): mixed
    {
        return $this->app->talker()->ask('sendUnderLock', 'create-report-1', self::message('Plain', $name, $steps));
    }
}
