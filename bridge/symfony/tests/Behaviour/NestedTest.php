<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

/**
 * Messages that are dispatched and handled while another one is.
 */
final class NestedTest extends BehaviourTestCase
{
    public function testA3bTheEndOfAnInnerMessageLeavesTheOuterOnesLock(): void
    {
        $this->send('PerKey', 'outer', [
            ['send', self::message('InnerPerKey', 'same', [['gate', 'in same']], '1')],
            ['gate', 'between'],
            ['send', self::message('InnerPerKey', 'other', [['gate', 'in other']], '2')],
            ['gate', 'last'],
        ], '1');
        $this->work(2);
        $this->journal->await('at gate', 'same');
        self::assertSame(['order_1'], $this->app->locked());
        $this->app->openGate('in same');
        $this->journal->await('at gate', 'outer');
        self::assertSame(['order_1'], $this->app->locked());
        $this->send('PerKey', 'rival', [], '1');
        $this->journal->await('sent again', 'rival');
        $this->app->openGate('between');
        $this->journal->await('at gate', 'other');
        self::assertSame(['order_1', 'order_2'], $this->app->locked());
        $this->app->openGate('in other');
        $this->journal->await('at gate', 'outer', 2);
        self::assertSame(['order_1'], $this->app->locked());
        $this->app->openGate('last');
        $this->awaitNothingQueued();

        $this->assertNoOverlap('outer', 'rival');
        self::assertSame(['same', 'other', 'outer', 'rival'], $this->journal->messages('end'));
    }

    public function testA3cNeitherDoesAnInnerMessageThatThrows(): void
    {
        $this->send('PerKey', 'outer', [
            ['trySend', self::message('InnerPerKey', 'inner', [['fail']], '1')],
            ['gate', 'go'],
        ], '1');
        $this->work();
        $this->journal->await('at gate', 'outer');
        self::assertSame(1, $this->journal->count('caught', 'inner'));
        self::assertSame(['order_1'], $this->app->locked());
        $this->app->openGate('go');
        $this->awaitNothingQueued();

        self::assertSame(['outer'], $this->journal->messages('end'));
    }

    public function testA3gAnInnerWriterPromotesTheReaderForItsTime(): void
    {
        $this->send('Reader', 'outer', [
            ['send', self::message('InnerWriter', 'inner', [['gate', 'in']], '1')],
            ['gate', 'after'],
        ], '1');
        $this->work(2);
        $this->journal->await('at gate', 'inner');
        $this->send('Reader', 'reader', [], '1');
        $this->journal->await('sent again', 'reader');
        $this->app->openGate('in');
        $this->journal->await('at gate', 'outer');
        $this->journal->await('end', 'reader');
        $this->app->openGate('after');
        $this->awaitNothingQueued();

        $this->assertOverlap('outer', 'reader');
        $this->assertNoOverlap('inner', 'reader');
        self::assertSame(1, $this->journal->count('end', 'outer'));
    }

    public function testA3gAPromotionThatIsRefusedSendsTheOuterMessageAgain(): void
    {
        $this->send('Reader', 'other', [['gate', 'other']], '1');
        $this->work(2);
        $this->journal->await('at gate', 'other');
        $this->send('Reader', 'outer', [['send', self::message('InnerWriter', 'inner', [], '1')]], '1');
        $this->journal->await('sent again', 'outer', 2);
        $this->app->openGate('other');
        $this->awaitNothingQueued();

        $this->assertNoOverlap('other', 'inner');
        self::assertSame(['other', 'inner', 'outer'], $this->journal->messages('end'));
        self::assertSame(0, $this->journal->count('parked'));
    }

    public function testAMessageForAfterTheCurrentOneTakesItsLockThen(): void
    {
        $this->send('PerKey', 'outer', [
            ['send', self::message('InnerPerKey', 'after', [['gate', 'after']], '2', after: true)],
            ['gate', 'outer'],
        ], '1');
        $this->work();
        $this->journal->await('at gate', 'outer');
        self::assertSame(['order_1'], $this->app->locked());
        $this->app->openGate('outer');
        $this->journal->await('at gate', 'after');
        self::assertSame(['order_2'], $this->app->locked());
        $this->app->openGate('after');
        $this->awaitNothingQueued();

        self::assertSame(['outer', 'after'], $this->journal->messages('end'));
    }
}
