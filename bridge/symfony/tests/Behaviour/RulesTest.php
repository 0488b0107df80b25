<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

use PHPUnit\Framework\Attributes\Group;

/**
 * Rules beside #[Lock] and #[Once].
 */
final class RulesTest extends BehaviourTestCase
{
    private const NEWER = [['IfNewer', ['key' => 'user_{key}', 'version' => '{name}']]];

    public function testB4AnOlderVersionIsIgnoredAtItsDispatch(): void
    {
        self::assertSame('a', $this->sendVersion('121'));
        self::assertSame('ignored', $this->sendVersion('120'));
        self::assertSame('ignored', $this->sendVersion('121'));
        self::assertSame('a', $this->sendVersion('120', 'somebody else'));
        $this->work();
        $this->awaitNothingQueued();
        self::assertSame('ignored', $this->sendVersion('119'));
        self::assertSame('a', $this->sendVersion('122'));
        $this->awaitNothingQueued();

        self::assertSame(['121', '120', '122'], $this->journal->messages('end'));
    }

    public function testB4bAnOlderVersionThatIsOvertakenInTheQueueIsNotHandled(): void
    {
        self::assertSame('a', $this->sendVersion('1'));
        self::assertSame('a', $this->sendVersion('2'));
        $this->work();
        $this->awaitNothingQueued();

        self::assertSame(['2'], $this->journal->messages('begin'));
    }

    public function testB4cLongNumbersAreComparedWhole(): void
    {
        self::assertSame('a', $this->sendVersion('9007199254740992'));
        self::assertSame('a', $this->sendVersion('9007199254740993'));
        self::assertSame('ignored', $this->sendVersion('9007199254740992'));
        self::assertSame('a', $this->sendVersion('10000000000000000000'));
        self::assertSame('ignored', $this->sendVersion('9999999999999999999'));
    }

    public function testB4dAfterAFailedDispatchTheSameVersionMayComeAgain(): void
    {
        self::assertSame('a', $this->sendVersion('1'));
        self::assertArrayHasKey('error', $this->trySend('Plain', '2', [], '7', rules: self::NEWER, to: ['broken']));
        self::assertSame('a', $this->sendVersion('2'));
        self::assertSame('ignored', $this->sendVersion('1'));
        $this->work();
        $this->awaitNothingQueued();

        self::assertSame(['2'], $this->journal->messages('end'));
    }

    public function testC1bNeverMoreThanTheLimitAtATime(): void
    {
        $names = [];
        for ($i = 0; $i < 8; $i++) {
            $names[] = $name = "x$i";
            $this->send('Plain', $name, [['gate', 'go'], ['pause', 10]], '1', rules: [['Limit', ['limit' => 2, 'key' => 'shop_{key}']]]);
        }
        $this->work(4);
        $this->journal->await('at gate', times: 2);
        $this->journal->await('sent again', times: 2);
        $this->app->openGate('go');
        $this->awaitNothingQueued();

        self::assertSame(8, $this->journal->count('end'));
        self::assertSame(2, $this->journal->mostAtATime(...$names));
    }

    public function testC2MessagesBeginNoFasterThanTheirThrottleLets(): void
    {
        for ($i = 0; $i < 11; $i++) {
            $this->send('Plain', "x$i", [], '1', rules: [['Throttle', ['limit' => 20, 'interval' => 1.0, 'key' => 'shop_{key}']]]);
        }
        $this->work(2);
        $this->awaitNothingQueued();

        self::assertSame(11, $this->journal->count('end'));
        $first = $this->journal->events('received')[0];
        $last = $this->journal->events('begin')[10];
        // No bound on how slow they may be, which a machine decides; a millisecond for what clocks differ.
        self::assertGreaterThanOrEqual(499, ($last->at - $first->at) / 1e6, '20 a second are one each 50 ms.');
    }

    #[Group('telling')]
    public function testC4OfABurstTheLastOneIsHandled(): void
    {
        $rules = [['Debounce', ['key' => 'index_{key}', 'seconds' => 1.0]]];
        $this->work();
        foreach (['x', 'y', 'z'] as $name) {
            $this->send('Plain', $name, [], '1', rules: $rules);
        }
        $this->send('Plain', 'other', [], '2', rules: $rules);
        $this->journal->await('end', 'z');
        $this->awaitNothingQueued();
        $this->send('Plain', 'later', [], '1', rules: $rules);
        $this->awaitNothingQueued();

        self::assertEqualsCanonicalizing(['z', 'other', 'later'], $this->journal->messages('begin'));
    }

    public function testC1WhatTheQueueCannotTakeIsHandledByItsSender(): void
    {
        $rules = [['Bounded', ['limit' => 2, 'key' => 'mail_{key}']]];
        self::assertSame('a', $this->send('Plain', 'first', [['gate', 'go']], '1', rules: $rules)['sent']);
        self::assertSame('a', $this->send('Plain', 'second', [['fail', 1]], '1', rules: $rules)['sent']);
        $third = $this->send('Plain', 'third', [], '1', rules: $rules);
        self::assertSame(['', 1], [$third['sent'], $third['handled']]);
        self::assertSame('talker', $this->journal->events('end', 'third')[0]->by);
        $this->work();
        $this->journal->await('at gate', 'first');
        self::assertSame(1, $this->send('Plain', 'fourth', [], '1', rules: $rules)['handled']);
        $this->app->openGate('go');
        $this->awaitNothingQueued();
        self::assertSame('a', $this->send('Plain', 'fifth', [], '1', rules: $rules)['sent']);
        $this->awaitNothingQueued();

        self::assertSame(5, $this->journal->count('end'));
    }

    /** Returns the transport, or "ignored". */
    private function sendVersion(string $version, string $user = '7'): string
    {
        $answer = $this->send('Plain', $version, [], $user, rules: self::NEWER);

        return $answer['skipped'] === null ? $answer['sent'] : 'ignored';
    }
}
