<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

/**
 * Locks and doctrine_transaction, on PostgreSQL.
 */
final class TransactionTest extends BehaviourTestCase
{
    protected function setUp(): void
    {
        parent::setUp();
        $this->app->database()->rows('DROP TABLE IF EXISTS account');
        $this->app->database()->rows('CREATE TABLE account (owner text)');
        $this->app->database()->rows('GRANT ALL ON account TO latch');
    }

    public function testA1dUnderALockTheEntityIsMadeOnce(): void
    {
        foreach (['x', 'y'] as $name) {
            $this->openAccount($name, rules: [['Lock', ['key' => 'account_{key}']]]);
        }
        $this->work(2);
        $this->journal->await('at gate');
        $this->journal->await('sent again');
        $this->app->openGate('go');
        $this->awaitNothingQueued();

        self::assertSame(2, $this->journal->count('end'));
        self::assertSame(1, $this->journal->count('exists'));
        self::assertSame('1', $this->app->database()->value('SELECT count(*) FROM account'));
    }

    public function testA1dWithoutItIsMadeTwice(): void
    {
        $this->openAccount('x');
        $this->openAccount('y');
        $this->work(2);
        $this->journal->await('at gate', times: 2);
        $this->app->openGate('go');
        $this->awaitNothingQueued();

        self::assertSame('2', $this->app->database()->value('SELECT count(*) FROM account'));
    }

    public function testA4LocksEndAfterTheCommit(): void
    {
        $this->send('Plain', 'by rule', [], 'customer-1', bus: 'transactional', rules: [['Lock', ['key' => '{key}']]]);
        $this->send('Plain', 'own', [['lock', 'customer-2']], 'customer-2', bus: 'transactional');
        $this->send('Plain', 'none', [], 'customer-3', bus: 'transactional');
        $this->work();
        $this->awaitNothingQueued();

        foreach (['by rule' => true, 'own' => true, 'none' => false] as $name => $locked) {
            self::assertSame($locked, $this->journal->events('committed', $name)[0]->more['locked'], $name);
        }
        self::assertSame([], $this->app->locked());
    }

    public function testA4bAndAfterTheRollback(): void
    {
        $this->send('Plain', 'by rule', [['fail', 1]], 'customer-1', bus: 'transactional', rules: [['Lock', ['key' => '{key}']]]);
        $this->send('Plain', 'own', [['lock', 'customer-2'], ['fail', 1]], 'customer-2', bus: 'transactional');
        $this->work();
        $this->awaitNothingQueued();

        foreach (['by rule', 'own'] as $name) {
            self::assertTrue($this->journal->events('rolled back', $name)[0]->more['locked'], $name);
            self::assertTrue($this->journal->events('committed', $name)[0]->more['locked'], "$name, at its second try");
            self::assertSame(1, $this->journal->count('end', $name));
        }
        self::assertSame([], $this->app->locked());
    }

    public function testA4OfManyMessagesInAProcessEachHasItsOwnLocks(): void
    {
        for ($i = 0; $i < 30; $i++) {
            $this->send('Inner', "inner $i", [['lock', "customer-$i"]]);
            self::assertSame([], $this->app->locked());
        }
    }

    public function testC3ALostLockRollsTheTransactionBack(): void
    {
        $this->openAccount('x', rules: [['Lock', ['key' => 'account_{key}', 'ttl' => 0.5]]]);
        [$worker] = $this->work();
        $this->journal->await('at gate', 'x');
        $worker->freeze();
        $this->journal->awaitThat(fn (): bool => $this->app->locked() === [], 'the lock ends');
        $this->app->openGate('go');
        $worker->thaw();
        $this->awaitNothingQueued();

        self::assertSame('LockLostException', $this->journal->events('failed', 'x')[0]->more['error']);
        self::assertSame(1, $this->journal->count('rolled back', 'x'));
        self::assertSame(1, $this->journal->count('committed', 'x'), 'Its next try has the lock.');
        self::assertSame(1, $this->journal->events('sent again', 'x')[0]->more['retries'], 'The loss was one of its tries.');
        self::assertSame('1', $this->app->database()->value('SELECT count(*) FROM account'));
    }

    private function openAccount(string $name, mixed ...$more): void
    {
        $this->send('Plain', $name, [['openAccount', 'ann', 'go']], 'ann', ...$more, bus: 'transactional');
    }
}
