<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

use PHPUnit\Framework\Attributes\Group;

/**
 * #[Once]: while a message of the key is on its way, others are ignored.
 */
final class OnceTest extends BehaviourTestCase
{
    #[Group('telling')]
    public function testB2WhileOneIsQueuedOrHandledOthersAreIgnored(): void
    {
        self::assertSame('a', $this->send('Single', 'x', [['gate', 'go']], '1')['sent']);
        $this->assertIgnored('y', '1');
        $this->work(2);
        $this->journal->await('at gate', 'x');
        $this->assertIgnored('z', '1');
        self::assertSame('a', $this->send('Single', 'other', [], '2')['sent']);
        $this->journal->await('end', 'other');
        $this->app->openGate('go');
        $this->awaitNothingQueued();
        self::assertSame('a', $this->send('Single', 'next', [], '1')['sent']);
        $this->awaitNothingQueued();

        self::assertSame(['other', 'x', 'next'], $this->journal->messages('end'));
    }

    public function testB2WithoutTheRuleBothAreHandled(): void
    {
        $this->send('Plain', 'x', [], '1');
        $this->send('Plain', 'y', [], '1');
        $this->work();
        $this->awaitNothingQueued();

        self::assertSame(['x', 'y'], $this->journal->messages('end'));
    }

    public function testB2bAFailedOneCountsUntilItsLastTry(): void
    {
        $this->send('Single', 'x', [['gate', 'try N'], ['fail']], '1');
        foreach ([1, 2, 3] as $try) {
            [$worker] = $this->work(more: '--limit=1');
            $this->journal->await('at gate', 'x', $try);
            $this->assertIgnored("y$try", '1');
            $this->app->openGate("try $try");
            $worker->awaitItsEnd();
            if ($try < 3) {
                $this->assertIgnored("y$try, between two tries", '1');
            }
        }
        $this->journal->await('parked', 'x');
        $this->awaitNothingQueued();
        self::assertSame('a', $this->send('Single', 'next', [], '1')['sent']);
        $this->work();
        $this->awaitNothingQueued();

        self::assertSame(['next'], $this->journal->messages('end'));
    }

    public function testB2dWhenTheTransportRefusesTheNextIsAccepted(): void
    {
        self::assertArrayHasKey('error', $this->trySend('Single', 'x', [], '1', to: ['broken']));
        self::assertSame([], $this->app->locked());
        self::assertSame('a', $this->send('Single', 'y', [], '1')['sent']);
        $this->work();
        $this->awaitNothingQueued();

        self::assertSame(['y'], $this->journal->messages('end'));
    }

    public function testB2eUntilReceivedOneMayWaitWhileOneIsHandled(): void
    {
        $rules = [['Once', ['key' => 'report_{key}', 'until' => 'received']]];
        $this->send('Plain', 'x', [['gate', 'go']], '1', rules: $rules);
        $this->assertIgnored('early', '1', $rules);
        $this->work();
        $this->journal->await('at gate', 'x');
        self::assertSame('a', $this->send('Plain', 'y', [], '1', rules: $rules)['sent']);
        $this->assertIgnored('z', '1', $rules);
        $this->app->openGate('go');
        $this->awaitNothingQueued();

        self::assertSame(['x', 'y'], $this->journal->messages('end'));
    }

    public function testUntilAttemptAFailureEndsIt(): void
    {
        $rules = [['Once', ['key' => 'report_{key}', 'until' => 'attempt']]];
        $this->send('Plain', 'x', [['gate', 'x'], ['fail', 1]], '1', rules: $rules);
        $this->send('Plain', 'between', [['gate', 'between']]);
        $this->work();
        $this->journal->await('at gate', 'x');
        $this->assertIgnored('y', '1', $rules);
        $this->app->openGate('x');
        $this->journal->await('at gate', 'between');
        self::assertSame('a', $this->send('Plain', 'z', [], '1', rules: $rules)['sent']);
        $this->app->openGate('between');
        $this->awaitNothingQueued();

        self::assertSame(1, $this->journal->count('end', 'x'));
        self::assertSame(1, $this->journal->count('end', 'z'));
    }

    public function testB2fWhenItsTimeInTheQueueIsOverBothAreHandledButNotTogether(): void
    {
        $rules = [['Once', ['key' => 'report_{key}', 'queueTtl' => 0.2]]];
        $this->send('Plain', 'x', [['gate', 'go']], '1', rules: $rules);
        $this->journal->awaitThat(fn (): bool => $this->app->locked() === [], 'the key ends');
        self::assertSame('a', $this->send('Plain', 'y', [['gate', 'go']], '1', rules: $rules)['sent']);
        $this->work(2);
        $this->journal->await('at gate');
        $this->journal->await('sent again');
        $this->app->openGate('go');
        $this->awaitNothingQueued();

        self::assertSame(2, $this->journal->count('end'));
        $this->assertNoOverlap('x', 'y');
    }

    public function testB2gBothCopiesForTwoTransportsAreHandled(): void
    {
        self::assertSame('a b', $this->send('Single', 'x', [['gate', 'go']], '1', to: ['a', 'b'])['sent']);
        $this->assertIgnored('y', '1');
        $this->work(1, 'a');
        $this->work(1, 'b');
        $this->journal->await('at gate', 'x');
        $this->app->openGate('go');
        $this->awaitNothingQueued('a', 'b');

        self::assertSame(['x', 'x'], $this->journal->messages('end'));
        self::assertSame([], $this->app->locked());
        self::assertSame('a', $this->send('Single', 'next', [], '1')['sent']);
        $this->awaitNothingQueued();
    }

    /**
     * @param list<array{string, array<string, mixed>}>|null $rules
     */
    private function assertIgnored(string $name, string $key, ?array $rules = null): void
    {
        $answer = $rules === null
            ? $this->send('Single', $name, [], $key)
            : $this->send('Plain', $name, [], $key, rules: $rules);
        self::assertSame('', $answer['sent'], "$name is sent.");
        self::assertNotNull($answer['skipped'], 'The caller sees why.');
    }
}
