<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

use PHPUnit\Framework\Attributes\Group;

/**
 * Where Messenger handles messages in ways of its own.
 */
final class SeamsTest extends BehaviourTestCase
{
    #[Group('telling')]
    public function testC6ABatchHasTheLocksOfItsMessagesUntilItIsDone(): void
    {
        $this->send('Batched', 'x', [], '1');
        $this->send('Batched', 'y', [], '2');
        $this->work();
        $this->journal->await('at gate');
        self::assertSame(2, $this->journal->count('begin'), 'Both are in hand.');
        self::assertSame(['order_1', 'order_2'], $this->app->locked());
        $this->work();
        $this->send('PerKey', 'rival', [], '1');
        $this->journal->await('sent again', 'rival');
        $this->app->openGate('batch');
        $this->awaitNothingQueued();

        $this->assertNoOverlap('x', 'rival');
        self::assertSame(3, $this->journal->count('end'));
    }

    public function testC7OnTheSyncTransportTheSenderHasTheLock(): void
    {
        $this->send('PerKey', 'x', [['gate', 'go']], '1');
        $this->work();
        $this->journal->await('at gate', 'x');
        $answer = $this->trySend('PerKey', 'refused', [], '1', to: ['sync']);
        self::assertStringContainsString('order_1', $answer['error']['text'] ?? 'no error');
        $this->app->openGate('go');
        $this->awaitNothingQueued();
        self::assertSame(1, $this->send('PerKey', 'y', [], '1', to: ['sync'])['handled']);
        self::assertSame(1, $this->send('Single', 'z', [], '1', to: ['sync'])['handled']);

        self::assertSame(['x', 'y', 'z'], $this->journal->messages('end'));
    }

    public function testD1TheSchedulersMessagesAreSkippedAndNotParked(): void
    {
        $this->app->talker()->ask('lock', 'round');
        $this->work(1, 'scheduler_rounds');
        $this->journal->await('handled', 'round', 2);
        self::assertSame(0, $this->journal->count('begin'));
        $this->app->talker()->ask('unlock', 'round');
        $this->journal->await('end', 'round');
        $this->app->killWorkers();

        self::assertSame(0, $this->journal->count('parked'));
        self::assertSame(0, $this->journal->count('failed'));
        $this->app->locks->command('DEL', 'round');
    }

    public function testAParkedMessageThatIsRetriedByHandTakesItsLock(): void
    {
        $this->send('PerKey', 'x', [['fail', 3], ['gate', 'go']], '1');
        $this->work();
        $this->journal->await('parked', 'x');
        $this->awaitNothingQueued();
        $this->app->command('messenger:failed:retry --force', 'by hand');
        $this->journal->await('at gate', 'x');
        $this->send('PerKey', 'rival', [], '1');
        $this->journal->await('sent again', 'rival');
        $this->app->openGate('go');
        $this->awaitNothingQueued('a', 'failed');

        $this->assertNoOverlap('x', 'rival');
        self::assertSame(2, $this->journal->count('end'));
    }

    public function testB11LocksAreTakenBeforeAndReleasedAfterTheApplicationsMiddlewares(): void
    {
        $order = $this->app->talker()->ask('middlewares', 'transactional');
        $place = static function (string $class) use ($order): int {
            $place = array_search($class, $order, true);
            self::assertNotFalse($place, "$class is not among " . implode(', ', $order));

            return $place;
        };

        self::assertLessThan($place('LatchMiddleware'), $place('FailedMessageProcessingMiddleware'));
        self::assertLessThan($place('LatchMiddleware'), $place('DispatchAfterCurrentBusMiddleware'));
        self::assertSame($place('CommitWitness') - 1, $place('LatchMiddleware'));
        self::assertGreaterThan($place('DoctrineTransactionMiddleware'), $place('HeldMiddleware'));
        self::assertSame($place('SendMessageMiddleware') - 1, $place('HeldMiddleware'));
    }
}
