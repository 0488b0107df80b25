<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

use PHPUnit\Framework\Attributes\Group;

/**
 * Workers that are killed, and those that are told to end.
 */
final class CrashTest extends BehaviourTestCase
{
    #[Group('telling')]
    public function testC9AKilledWorkersLockEndsAndItsMessageIsHandledAgain(): void
    {
        $rules = [['Lock', ['key' => 'order_{key}', 'ttl' => 1.0]]];
        $this->send('Plain', 'x', [['gate', 'try N']], '1', rules: $rules);
        $victim = $this->app->worker('a', 'victim', $this->app->redeliverSoon());
        $this->journal->await('at gate', 'x');
        $this->send('Plain', 'y', [], '1', rules: $rules);
        $this->work();
        $this->journal->await('sent again', 'y');
        $victim->kill();
        $this->app->openGate('try 2');
        $this->journal->await('end', 'y');
        // To Redis the same consumer, which gets what it has not acknowledged; to others any.
        $this->app->worker('a', 'victim', $this->app->redeliverSoon());
        // Messenger rejects what AMQP delivers again, and then sends it as a retry: in between it is in no queue.
        $this->journal->await('handled', 'x');
        $this->awaitNothingQueued();

        $this->assertNoOverlap('x', 'y');
        self::assertSame(2, $this->journal->count('begin', 'x'));
        self::assertSame(1, $this->journal->count('end', 'x'));
        self::assertSame(1, $this->journal->count('end', 'y'));
    }

    public function testC9TheKeyOfOnceOutlivesAKilledWorkerUntilItsMessageWasHandled(): void
    {
        $rules = [['Once', ['key' => 'report_{key}', 'ttl' => 1.0]]];
        $this->send('Plain', 'x', [['gate', 'try N']], '1', rules: $rules);
        $victim = $this->app->worker('a', 'victim', $this->app->redeliverSoon());
        $this->journal->await('at gate', 'x');
        $victim->kill();
        self::assertNotNull($this->send('Plain', 'y', [], '1', rules: $rules)['skipped']);
        $this->app->openGate('try 2');
        $this->app->worker('a', 'victim', $this->app->redeliverSoon());
        $this->journal->await('handled', 'x');
        $this->awaitNothingQueued();

        self::assertSame(['x'], $this->journal->messages('end'));
        self::assertSame([], $this->app->locked());
    }

    #[Group('telling')]
    public function testC14AWorkerThatWaitsEndsWhenItIsToldTo(): void
    {
        $this->app->talker()->ask('lock', 'order_1');
        $rules = [['Lock', ['key' => 'order_{key}', 'wait' => true]]];
        $this->send('Plain', 'x', [], '1', rules: $rules);
        [$worker] = $this->work();
        $this->awaitWaiters('order_1', 1);
        $worker->tellToEnd();
        $worker->awaitItsEnd();
        self::assertSame(0, $this->journal->count('begin', 'x'));
        self::assertSame(1, $this->journal->count('stopped'), 'It has ended in good order.');
        self::assertSame(['order_1'], $this->app->locked());
        self::assertSame(1, $this->app->queued('a'), 'Its message is not lost.');
        $this->app->talker()->ask('unlock', 'order_1');
        $this->work();
        $this->awaitNothingQueued();

        self::assertSame(1, $this->journal->count('end', 'x'));
        self::assertSame(0, $this->journal->count('parked'));
    }

    public function testAWorkerThatIsToldToEndEndsItsMessageFirst(): void
    {
        $this->send('PerKey', 'x', [['gate', 'go']], '1');
        [$worker] = $this->work();
        $this->journal->await('at gate', 'x');
        $worker->tellToEnd();
        $this->app->openGate('go');
        $worker->awaitItsEnd();

        self::assertSame(1, $this->journal->count('end', 'x'));
        self::assertSame([], $this->app->locked());
        self::assertSame(0, $this->app->queued('a'));
    }
}
