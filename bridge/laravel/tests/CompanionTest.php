<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests;

use Latch\Laravel\Tests\Support\Application;
use Latch\Laravel\Tests\Support\Driver;
use Latch\Laravel\Tests\Support\Process;
use Latch\Tests\MySqlServer;
use Latch\Tests\PostgreSqlServer;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * Where companion locks are, and what becomes of locks without them.
 */
final class CompanionTest extends LaravelTestCase
{
    #[DataProvider('queuedDrivers')]
    public function testLocksWorkWithoutAPlaceForTheirQueue(Driver $driver): void
    {
        $application = new Application($driver, ['LATCH_QUEUE_PATH' => '/dev/null/none']);
        [$holder, $waiter] = [$application->start(), $application->start()];
        $name = self::lockName();
        $waiter->lock($name, 30);
        for ($i = 0; $i < 3; $i++) {
            $holder->take($name, 30);
            $waiter->beginCall($name, 'block', 10);
            self::assertTrue($holder->call($name, 'release'));
            // It polls, and is told nothing.
            self::assertTrue($waiter->finish()->result);
            $waiter->call($name, 'release');
        }

        $log = $application->log();
        self::assertSame(2, substr_count($log, '.WARNING: Latch: cache locks have no queue in /dev/null/none'), $log);
    }

    public function testFilesOfQueuesDoNotPileUp(): void
    {
        $application = new Application(Driver::File);
        $process = $application->start();
        // Each of them waits, as its hold is taken.
        $process->php(<<<'PHP'
            $holder = Cache::lock('held', 30);
            $holder->get();
            for ($i = 0; $i < 2000; $i++) {
                $name = "other-$i";
                $locks['companion'] = $app->make(Latch\Laravel\Companion\Companions::class)->local("file.$i");
                $locks['companion']->enterQueue(1);
                $locks['companion']->leaveQueue();
            }
            PHP);
        $files = \count(glob("$application->directory/storage/framework/cache/latch/queues/*"));

        // One wait in 100 removes all: more than 1900 are left by a chance of 0.99^1900.
        self::assertLessThan(1900, $files);
    }

    /**
     * @return iterable<string, array{Driver}>
     */
    public static function servers(): iterable
    {
        yield 'mariadb' => [Driver::MariaDb];
        yield 'pgsql' => [Driver::PostgreSql];
    }

    /** Of two machines: each process has files of its own, so that only the server can wake it. */
    #[DataProvider('servers')]
    public function testWaitersOfAllMachinesAreInOneQueueOfTheServer(Driver $driver): void
    {
        $application = new Application($driver, ['LATCH_QUEUE' => 'server', 'LATCH_QUEUE_PATH' => '/dev/null/none']);
        /** @var MySqlServer|PostgreSqlServer $server */
        $server = $driver->server();
        $holder = $application->start();
        $name = self::lockName();
        $holder->take($name, 30);
        $server->awaitHeld(1);
        $waiters = [];
        for ($i = 0; $i < 4; $i++) {
            $waiters[] = $waiter = $application->start();
            $waiter->lock($name, 30);
            $waiter->begin('$locks[$arguments[0]]->block(20, fn () => usleep(20000)); return hrtime(true);', $name);
            // The first one has the queue, and waits for the hold most of the time; the others wait for the queue.
            $i === 0 ? $server->awaitHeld(2) : $server->awaitWaiting(1 + $i);
        }
        $holder->call($name, 'release');
        $ends = array_map(static fn (Process $waiter): int => $waiter->finish()->result, $waiters);
        asort($ends);

        self::assertSame([0, 1, 2, 3], array_keys($ends));
        $server->awaitHeld(0);
        self::assertSame('', $application->log());
    }

    #[DataProvider('servers')]
    public function testTheServerWakesWaiters(Driver $driver): void
    {
        $application = new Application($driver, ['LATCH_QUEUE' => 'server', 'LATCH_QUEUE_PATH' => '/dev/null/none']);
        [$holder, $waiter] = [$application->start(), $application->start()];

        self::assertLessThan(self::QUICK, self::handOver($holder, $waiter, self::lockName(), 'release'));
    }

    /** One more session for each process that locks, and that one alone. */
    #[DataProvider('servers')]
    public function testAProcessHasOneMoreSession(Driver $driver): void
    {
        $application = new Application($driver, ['LATCH_QUEUE' => 'server']);
        $server = $driver->server();
        $server->awaitSessions(0);
        $process = $application->start();
        $process->php('DB::select("SELECT 1");');
        self::assertSame(1, $server->sessions());
        for ($i = 0; $i < 5; $i++) {
            $process->take(self::lockName(), 30);
        }
        self::assertSame(2, $server->sessions());
        self::assertSame(5, $server->held());
        $process->php('$locks->exchangeArray([]);');
        $server->awaitHeld(0);
        $process->stop();
        $server->awaitSessions(0);
    }

    /** Sessions that a server or an operator ends. */
    #[DataProvider('servers')]
    public function testALostSessionIsNoErrorOfTheLock(Driver $driver): void
    {
        $application = new Application($driver, ['LATCH_QUEUE' => 'server']);
        $process = $application->start();
        $process->take($name = self::lockName(), 30);
        $driver->server()->endSessions();
        // Its own session is gone as well, which is Laravel's to replace.
        $process->php('DB::reconnect();');

        self::assertTrue($process->call($name, 'release'));
        $process->take($name, 30);
        self::assertTrue($process->call($name, 'release'));
    }

    /** A server whose address the configuration does not tell Latch: here one that it cannot log in to. */
    #[DataProvider('servers')]
    public function testWithoutTheServersQueueThereIsThatOfThisMachine(Driver $driver): void
    {
        $application = new Application($driver, ['LATCH_QUEUE' => 'server']);
        [$holder, $waiter] = [$application->start(), $application->start()];
        $name = self::lockName();
        foreach ([$holder, $waiter] as $process) {
            // The session that there is has logged in already.
            $process->php('DB::select("SELECT 1"); (fn () => $this->config["password"] = "wrong-secret")->call(DB::connection());');
            // The first lock of a process finds out.
            $process->take("$name-{$process->pid()}", 30);
        }
        $holder->take($name, 30);
        $waiter->lock($name, 30);
        $waiter->beginCall($name, 'block', 10);
        $waiter->awaitQueued();
        $holder->call($name, 'release');

        self::assertTrue($waiter->finish()->result);
        $log = $application->log();
        self::assertSame(2, substr_count($log, '.WARNING: Latch: cache locks have no queue in the server of connection'), $log);
        self::assertStringNotContainsString('wrong-secret', $log);
    }
}
