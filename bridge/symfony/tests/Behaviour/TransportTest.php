<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

use PHPUnit\Framework\Attributes\Group;

/**
 * Where transports have ways of their own.
 */
#[Group('telling')]
final class TransportTest extends BehaviourTestCase
{
    public function testAnIdleWorkerIsToldOfMessages(): void
    {
        $this->app->worker('a', 'worker', $this->app->notified());
        $this->journal->awaitThat(fn (): bool => $this->app->isHeardBy(1), 'the worker listens');
        foreach (['x', 'y'] as $name) {
            $this->send('PerKey', $name, [], '1');
            $this->journal->await('handled', $name);
            $this->journal->awaitThat(fn (): bool => $this->app->isHeardBy(1), 'the worker listens');
        }

        self::assertSame(['x', 'y'], $this->journal->messages('end'));
    }

    public function testSoItIsWhenARuleSendsThemOn(): void
    {
        $this->app->worker('b', 'idle', $this->app->notified());
        $this->journal->await('idle');
        $this->journal->awaitThat(fn (): bool => $this->app->isHeardBy(1), 'the worker listens');
        $rules = [['Ordered', ['key' => 'product_{key}']]];
        $this->send('Plain', 'product', [['gate', 'go']], '1', rules: $rules, to: ['a']);
        self::assertTrue($this->send('Plain', 'settings', [], '1', rules: $rules, to: ['b'])['parked']);
        $this->app->worker('a', 'busy', $this->app->notified());
        $this->journal->await('at gate', 'product');
        $this->app->openGate('go');
        $this->journal->await('handled', 'settings');

        self::assertSame('idle', $this->journal->events('end', 'settings')[0]->by);
        $this->assertNoOverlap('product', 'settings');
    }

    public function testOnAmqpTheDeathOfAWorkerIsATryOfItsMessage(): void
    {
        $this->send('PerKey', 'x', [['gate', 'try N']], '1');
        $victim = $this->app->worker('a', 'victim', $this->app->redeliverSoon());
        $this->journal->await('at gate', 'x');
        $victim->kill();
        $this->app->openGate('try 2');
        $this->app->locks->command('DEL', 'order_1');
        $this->app->worker('a', 'victim', $this->app->redeliverSoon());
        $this->journal->await('handled', 'x');
        $this->awaitNothingQueued();

        $retries = $this->app->way->transport === 'amqp' ? [1] : [];
        self::assertSame($retries, array_map(static fn (Event $e): int => $e->more['retries'], $this->journal->events('sent again', 'x')));
    }

    public function testAMessageWhoseWorkersDieHoldsThoseBehindItUpUntilItIsParkedOrHandled(): void
    {
        $rules = [['Ordered', ['key' => 'product_{key}', 'lease' => 1.0]]];
        $this->send('Plain', 'x', [['gate', 'try N']], '1', rules: $rules);
        self::assertTrue($this->send('Plain', 'y', [], '1', rules: $rules)['parked']);
        foreach ([1, 2, 3] as $try) {
            $victim = $this->app->worker('a', 'victim', $this->app->redeliverSoon());
            $this->journal->await('at gate', 'x', $try);
            $victim->kill();
        }
        $this->app->openGate('try 4');
        $this->app->worker('a', 'victim', $this->app->redeliverSoon());
        $this->journal->await('handled', 'y');

        // On AMQP three deaths were its three tries.
        $parked = (int) ($this->app->way->transport === 'amqp');
        self::assertSame($parked, $this->journal->count('parked', 'x'));
        self::assertSame($parked, $this->app->queued('failed'));
        self::assertSame(4 - $parked, $this->journal->count('begin', 'x'));
        $this->assertNoOverlap('x', 'y');
    }
}
