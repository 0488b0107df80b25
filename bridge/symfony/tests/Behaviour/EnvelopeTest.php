<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

use PHPUnit\Framework\Attributes\Group;

/**
 * What is wrong at a dispatch, or comes back changed.
 */
final class EnvelopeTest extends BehaviourTestCase
{
    public function testE2AnEnvelopeThatIsDispatchedAgainHasNothingOfItsFirstDispatch(): void
    {
        $this->send('Forwarded', 'x', [['gate', 'go']], '1');
        $this->work();
        $this->journal->await('at gate', 'x');
        self::assertNotNull($this->journal->events('forwarded')[0]->more['skipped'], 'It is on its way already.');
        self::assertNotNull($this->send('Single', 'y', [], '1')['skipped'], 'The first still has its key.');
        $this->app->openGate('go');
        $this->awaitNothingQueued();

        self::assertSame(['x'], $this->journal->messages('end'));
    }

    #[Group('telling')]
    public function testE2ItHasNoRuleOfItsFirstDispatch(): void
    {
        $this->send('Copied', 'first', chain: [self::message('Plain', 'second')]);
        $this->work(1, 'a');
        $this->work(1, 'b');
        $this->journal->await('handled', 'first', 2);
        $this->journal->await('handled', 'second');
        $this->awaitNothingQueued('a', 'b');

        self::assertSame('b', $this->journal->events('forwarded')[0]->more['sent']);
        self::assertSame(1, $this->journal->count('end', 'second'), 'The chain is that of the first dispatch.');
    }

    public function testE3AWrongPlaceholderIsNamedAtTheDispatch(): void
    {
        $answer = $this->trySend('Plain', 'x', [], '1', rules: [['Lock', ['key' => 'order_{number}']]]);

        self::assertStringContainsString('{number}', $answer['error']['text'] ?? 'no error');
        self::assertStringContainsString('Plain', $answer['error']['text']);
        self::assertSame(0, $this->app->queued('a'));
    }

    public function testE4AStoreWhoseKeysCannotTravelIsNamedAtTheDispatch(): void
    {
        $talker = $this->app->newTalker('on semaphores', ['LATCH_DSN' => 'semaphore']);
        $answer = $talker->ask('send', self::message('Single', 'x', [], '1'));
        self::assertArrayHasKey('error', $answer);
        self::assertSame(0, $this->app->queued('a'), 'Nothing is sent.');
        // Nothing is locked either: the next one hears the same, not that there is one.
        self::assertSame($answer, $talker->ask('send', self::message('Single', 'y', [], '1')));
    }

    public function testE5HalfOfTheFleetIsInDropInMode(): void
    {
        $this->send('Single', 'x', [['gate', 'go']], '1');
        $this->app->worker('a', 'the other way', dropIn: !$this->app->way->dropIn);
        $this->journal->await('at gate', 'x');
        $other = $this->app->newTalker('other talker', dropIn: !$this->app->way->dropIn);
        self::assertNotNull($other->ask('send', self::message('Single', 'y', [], '1'))['skipped']);
        self::assertSame('a', $other->ask('send', self::message('Single', 'z', [], '2'))['sent']);
        $this->work();
        $this->journal->await('end', 'z');
        $this->app->openGate('go');
        $this->awaitNothingQueued();

        self::assertSame(['z', 'x'], $this->journal->messages('end'));
        self::assertSame(0, $this->journal->count('failed') + $this->journal->count('parked'));
    }
}
