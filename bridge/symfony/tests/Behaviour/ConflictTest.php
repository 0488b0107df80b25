<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

use PHPUnit\Framework\Attributes\Group;

/**
 * What becomes of a message that is refused its lock.
 */
final class ConflictTest extends BehaviourTestCase
{
    #[Group('telling')]
    public function testA3dAConflictSpendsNoTry(): void
    {
        $this->app->talker()->ask('lock', 'order_1');
        $this->send('PerKey', 'x', [['fail']], '1');
        $this->work();
        $this->journal->await('sent again', 'x', 5);
        self::assertSame(0, $this->journal->count('begin', 'x'));
        $this->app->talker()->ask('unlock', 'order_1');
        $this->journal->await('parked', 'x');
        $this->awaitNothingQueued();

        self::assertSame(3, $this->journal->count('begin', 'x'), 'All its tries are left.');
        $failures = array_values(array_filter(
            [...$this->journal->events('failed', 'x'), ...$this->journal->events('parked', 'x')],
            static fn (Event $e): bool => $e->more['error'] === 'RuntimeException',
        ));
        self::assertSame([0, 1, 2], array_map(static fn (Event $e): int => $e->more['retries'], $failures));
        self::assertSame(1, $this->app->queued('failed'));
    }

    public function testA3dWithMessengersOwnExceptionConflictsSpendTheTries(): void
    {
        $this->app->talker()->ask('lock', 'order_1');
        $this->send('Plain', 'x', [['lockOrComeAgain', 'order_1'], ['fail']]);
        $this->work();
        $this->journal->await('sent again', 'x', 5);
        $conflicts = $this->journal->count('begin', 'x');
        $this->app->talker()->ask('unlock', 'order_1');
        $this->journal->await('parked', 'x');

        $failures = array_filter(
            $this->journal->events('thrown', 'x'),
            static fn (Event $e): bool => $e->more['text'] === 'x fails.',
        );
        self::assertGreaterThanOrEqual(5, $conflicts);
        self::assertCount(1, $failures, 'Its first failure was its last.');
    }

    public function testA3iWhereNothingIsQueuedTheCallerHearsOfIt(): void
    {
        $this->app->talker()->ask('lock', 'order_1');
        $answer = $this->trySend('InnerPerKey', 'x', [], '1');
        self::assertStringContainsString('order_1', $answer['error']['text'] ?? 'no error');
        self::assertTrue($answer['error']['recoverable']);

        $this->send('Plain', 'outer', [['send', self::message('InnerPerKey', 'inner', [], '1')]]);
        $this->work();
        $this->journal->await('sent again', 'outer', 4);
        $this->app->talker()->ask('unlock', 'order_1');
        $this->awaitNothingQueued();

        self::assertSame(1, $this->journal->count('end', 'inner'));
        self::assertSame(1, $this->journal->count('end', 'outer'));
        self::assertSame(0, $this->journal->count('parked'), 'The conflict of the inner message was none of its tries.');
    }

    public function testA3jASkippedMessageIsNeitherHandledNorSentAgain(): void
    {
        $rule = ['Lock', ['key' => 'order_{key}', 'onConflict' => 'skip']];
        $this->app->talker()->ask('lock', 'order_1');
        $this->send('Plain', 'x', [], '1', rules: [$rule]);
        $this->work();
        $this->journal->await('handled', 'x');
        $this->awaitNothingQueued();
        $answer = $this->send('Inner', 'y', [], '1', rules: [$rule]);
        self::assertStringContainsString('order_1', $answer['skipped'] ?? 'not skipped');
        $this->app->talker()->ask('unlock', 'order_1');
        $this->send('Plain', 'z', [], '1', rules: [$rule]);
        $this->awaitNothingQueued();

        self::assertSame(['z'], $this->journal->messages('begin'));
        self::assertSame(0, $this->journal->count('sent again'));
    }

    public function testOnConflictFailIsAFailureLikeAnyOther(): void
    {
        $this->app->talker()->ask('lock', 'order_1');
        $this->send('Plain', 'x', [], '1', rules: [['Lock', ['key' => 'order_{key}', 'onConflict' => 'fail']]]);
        $this->work();
        $this->journal->await('parked', 'x');
        $this->awaitNothingQueued();

        self::assertSame(0, $this->journal->count('begin', 'x'));
        self::assertSame(2, $this->journal->count('sent again', 'x'));
        self::assertSame(1, $this->app->queued('failed'));
        $this->app->talker()->ask('unlock', 'order_1');
    }

    public function testA3kItWaitsForAWhileAndThenComesAgain(): void
    {
        $this->app->talker()->ask('lock', 'order_1');
        $this->send('Plain', 'short', [], '1', rules: [['Lock', ['key' => 'order_{key}', 'wait' => 0.1]]]);
        $this->work();
        $this->journal->await('sent again', 'short');
        $this->send('Plain', 'long', [], '1', rules: [['Lock', ['key' => 'order_{key}', 'wait' => 50.0]]]);
        $this->journal->await('received', 'long');
        $this->awaitWaiters('order_1', 1);
        $this->app->talker()->ask('unlock', 'order_1');
        $this->awaitNothingQueued();

        self::assertSame(0, $this->journal->count('sent again', 'long'));
        self::assertSame(1, $this->journal->count('end', 'long'));
        self::assertSame(1, $this->journal->count('end', 'short'));
        $this->assertNoOverlap('short', 'long');
    }

    public function testA3hWithoutTheLockServerMessagesComeAgain(): void
    {
        $this->send('PerKey', 'x', [], '1');
        $this->app->locks->stop();
        $this->work();
        $this->journal->await('sent again', 'x', 3);
        self::assertSame(0, $this->journal->count('begin', 'x'), 'It is never handled without its lock.');
        $this->app->locks->start();
        $this->awaitNothingQueued();

        self::assertSame(1, $this->journal->count('end', 'x'));
        self::assertSame(0, $this->journal->count('parked'));
    }
}
