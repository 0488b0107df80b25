<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

use PHPUnit\Framework\Attributes\Group;

/**
 * #[Lock]: who is handled beside whom.
 */
final class LocksTest extends BehaviourTestCase
{
    public function testA1MessagesOfOneClassWaitForEachOther(): void
    {
        foreach (['x', 'y', 'z'] as $name) {
            $this->send('OneAtATime', $name, [['gate', 'go'], ['pause', 20]]);
        }
        $this->work(3);
        $this->journal->await('received', times: 3);
        $this->journal->await('at gate');
        $this->app->openGate('go');
        $this->awaitNothingQueued();

        self::assertSame(3, $this->journal->count('end'));
        self::assertSame(0, $this->journal->count('sent again'), 'They wait, and do not come again.');
        $this->assertNoOverlap('x', 'y', 'z');
    }

    public function testA1bMessagesWithoutARuleAreHandledAtTheSameTime(): void
    {
        $this->send('Plain', 'x', [['gate', 'go']]);
        $this->send('Plain', 'y', [['gate', 'go']]);
        $this->work(2);
        $this->journal->await('at gate', 'x');
        $this->journal->await('at gate', 'y');
        $this->app->openGate('go');
        $this->awaitNothingQueued();

        $this->assertOverlap('x', 'y');
    }

    public function testA1cAfterAFailedTryTheLockIsFree(): void
    {
        $this->send('OneAtATime', 'x', [['fail']]);
        $this->send('OneAtATime', 'y');
        $this->work(2);
        $this->journal->await('parked', 'x');
        $this->awaitNothingQueued();

        self::assertSame(3, $this->journal->count('begin', 'x'));
        self::assertSame(1, $this->journal->count('end', 'y'));
        self::assertSame(1, $this->app->queued('failed'));
        $this->assertNoOverlap('x', 'y');
    }

    #[Group('telling')]
    public function testA2OneAtATimeOfEachKey(): void
    {
        $this->send('PerKey', 'first', [['gate', 'go']], '1');
        $this->work(3);
        $this->journal->await('at gate', 'first');
        $this->send('PerKey', 'second', [], '1');
        $this->send('PerKey', 'other', [['gate', 'go']], '2');
        $this->journal->await('sent again', 'second');
        $this->journal->await('at gate', 'other');
        self::assertSame(['order_1', 'order_2'], $this->app->locked());
        $this->app->openGate('go');
        $this->awaitNothingQueued();

        $this->assertNoOverlap('first', 'second');
        $this->assertOverlap('first', 'other');
        self::assertSame(3, $this->journal->count('end'));
    }

    public function testA3ReadersShareAndAWriterIsAlone(): void
    {
        $this->send('Reader', 'reader', [['gate', 'read']], '1');
        $this->send('Reader', 'too', [['gate', 'read']], '1');
        $this->work(3);
        $this->journal->await('at gate', 'reader');
        $this->journal->await('at gate', 'too');
        $this->send('Writer', 'writer', [['gate', 'write']], '1');
        $this->journal->await('sent again', 'writer');
        $this->app->openGate('read');
        $this->journal->await('at gate', 'writer');
        $this->send('Reader', 'late', [], '1');
        $this->journal->await('sent again', 'late');
        $this->app->openGate('write');
        $this->awaitNothingQueued();

        $this->assertOverlap('reader', 'too');
        $this->assertNoOverlap('reader', 'writer', 'late');
        $this->assertNoOverlap('too', 'writer');
        self::assertSame(1, $this->journal->count('end', 'late'));
    }

    public function testA3eWhoIsRefusedOneOfItsLocksGivesTheOthersBack(): void
    {
        $this->app->talker()->ask('lock', 'lb');
        $this->send('Several', 'both', [], 'la lb');
        $this->work();
        $this->journal->await('sent again', 'both', 2);
        $this->send('Several', 'one', [], 'la');
        $this->journal->await('end', 'one');
        $this->app->talker()->ask('unlock', 'lb');
        $this->awaitNothingQueued();

        self::assertSame(1, $this->journal->count('end', 'both'));
        $this->assertNoOverlap('one', 'both');
    }

    public function testA3fTheOrderOfLocksMakesNoDeadlock(): void
    {
        $this->app->talker()->ask('lock', 'ka');
        $this->app->talker()->ask('lock', 'kb');
        $this->send('Several', 'x', [['pause', 20]], 'ka kb and waits');
        $this->send('Several', 'y', [['pause', 20]], 'kb ka and waits');
        $this->work(2);
        $this->awaitWaiters('ka', 2);
        $this->app->talker()->ask('unlock', 'ka', 'kb');
        $this->awaitNothingQueued();

        self::assertSame(2, $this->journal->count('end'));
        self::assertSame(0, $this->journal->count('sent again'));
        $this->assertNoOverlap('x', 'y');
    }

    public function testA6SeveralHandlersOfAMessageHaveOneLock(): void
    {
        $this->send('Twofold', 'x', [['gate', 'go']], '1');
        $this->work(2);
        $this->journal->await('at gate', 'x');
        $this->send('PerKey', 'y', [], '1');
        $this->journal->await('sent again', 'y');
        $this->app->openGate('go');
        $this->awaitNothingQueued();

        $this->assertNoOverlap('x', 'x, second handler', 'y');
        self::assertSame(3, $this->journal->count('end'));
        self::assertSame('y', $this->journal->messages('begin')[2]);
    }
}
