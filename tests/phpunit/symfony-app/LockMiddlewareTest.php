<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyApp;

use PHPUnit\Framework\Attributes\DataProvider;

/**
 * The lock middleware that articles about Messenger recommend, as an application has it.
 */
final class LockMiddlewareTest extends AppTestCase
{
    private const IMPORT = 'App\Message\ImportCatalogue';

    #[DataProvider('ways')]
    public function testOfAClassOneMessageAtATimeIsHandled(bool $first, bool $second): void
    {
        [$one, $two] = [$this->app->slowFile(), $this->app->slowFile()];
        $this->send("import spring $one->name");
        $worker = $this->app->worker($first);
        $worker->awaitLog('import of spring begins');
        $this->send("import autumn $two->name");
        $other = $this->app->worker($second);
        $other->awaitLog('is wanted');
        self::assertSame([self::IMPORT . ' is wanted'], $other->log());

        $one->write('a tulip');
        self::assertSame([], $worker->finish());
        $other->awaitLog('import of autumn begins');
        $two->write('a pumpkin');
        self::assertSame([], $other->finish());

        $log = static fn (string $catalogue, string $goods): array => [
            ...self::taken(self::IMPORT, 300),
            "import of $catalogue begins",
            "import of $catalogue ends: $goods",
            self::released(self::IMPORT),
        ];
        self::assertSame($log('spring', 'a tulip'), $worker->log());
        self::assertSame($log('autumn', 'a pumpkin'), $other->log());
    }

    #[DataProvider('ways')]
    public function testAWorkerThatIsToStopWhileItWaitsHandlesItsMessageFirst(bool $first, bool $second): void
    {
        [$one, $two] = [$this->app->slowFile(), $this->app->slowFile()];
        $this->send("import spring $one->name");
        $worker = $this->app->worker($first);
        $worker->awaitLog('import of spring begins');
        $this->send("import autumn $two->name");
        $other = $this->app->worker($second, 7);
        $other->awaitLog('is wanted');
        $other->terminate();
        $other->awaitLog('Received signal');

        $one->write('a tulip');
        self::assertSame([], $worker->finish());
        $two->write('a pumpkin');
        self::assertSame([], $other->finish());
        self::assertSame([
            ...self::taken(self::IMPORT, 300),
            'import of autumn begins',
            'import of autumn ends: a pumpkin',
            self::released(self::IMPORT),
        ], $other->log());
    }

    #[DataProvider('ways')]
    public function testMessagesWithOtherKeysAreHandledSideBySide(bool $first, bool $second): void
    {
        [$one, $two] = [$this->app->slowFile(), $this->app->slowFile()];
        $this->send("sync 7 $one->name");
        $worker = $this->app->worker($first);
        $worker->awaitLog('sync of 7 begins');
        $this->send("sync 8 $two->name");
        $other = $this->app->worker($second);
        $other->awaitLog('sync of 8 begins');
        $two->write('here');
        self::assertSame([], $other->finish());
        $one->write('there');
        self::assertSame([], $worker->finish());

        foreach ([[$worker, 7, 'there'], [$other, 8, 'here']] as [$process, $customer, $place]) {
            self::assertSame([
                ...self::taken("customer-$customer", 120),
                "sync of $customer begins",
                "sync of $customer ends: $place",
                self::released("customer-$customer"),
            ], $process->log());
        }
    }

    /** However often: it does not end among the failed ones, for which one retry is the limit. */
    #[DataProvider('ways')]
    public function testWhatIsInUseIsTriedAgainLater(bool $first, bool $second): void
    {
        [$one, $two] = [$this->app->slowFile(), $this->app->slowFile()];
        $this->send("sync 7 $one->name");
        $worker = $this->app->worker($first);
        $worker->awaitLog('sync of 7 begins');
        $this->send("sync 7 $two->name");
        for ($try = 1; $try <= 3; $try++) {
            $refused = $this->app->worker($second);
            self::assertSame([], $refused->finish());
            self::assertSame([
                'customer-7 is wanted',
                'info: Failed to acquire the "customer-7" lock. Someone else already acquired the lock.',
                'warning: Error thrown while handling message App\Message\SyncCustomer.'
                . " Sending for retry #$try using 50 ms delay. Error: \"customer-7 is in use\""
                . ' <- Symfony\Component\Messenger\Exception\RecoverableMessageHandlingException: customer-7 is in use'
                . ' <- Symfony\Component\Lock\Exception\LockConflictedException: customer-7 is in use',
            ], $refused->log());
        }
        $one->write('first');
        self::assertSame([], $worker->finish());
        $two->write('second');
        $other = $this->app->worker($second);
        self::assertSame([], $other->finish());
        self::assertSame([
            ...self::taken('customer-7', 120),
            'sync of 7 begins',
            'sync of 7 ends: second',
            self::released('customer-7'),
        ], $other->log());
        self::assertSame(0, $this->app->redis->command('EXISTS', 'failed'));
    }

    #[DataProvider('ways')]
    public function testReadersShareAndAStampHasAWriterWaitForThem(bool $first, bool $second): void
    {
        [$one, $two, $three] = [$this->app->slowFile(), $this->app->slowFile(), $this->app->slowFile()];
        $this->send("read 7 $one->name");
        $reader = $this->app->worker($first);
        $reader->awaitLog('look at 7 begins');
        $this->send("read 7 $two->name");
        $other = $this->app->worker($second);
        $other->awaitLog('look at 7 begins');
        $this->send("sync 7 $three->name --wait --ttl=45");
        $writer = $this->app->worker($second);
        $writer->awaitLog('is wanted');
        $one->write('old');
        self::assertSame([], $reader->finish());
        self::assertSame(['customer-7 is wanted'], $writer->log());
        $two->write('old');
        self::assertSame([], $other->finish());
        $three->write('new');
        self::assertSame([], $writer->finish());

        foreach ([$reader, $other] as $process) {
            self::assertSame([
                'customer-7 is wanted',
                'debug: Successfully acquired the "customer-7" lock for reading.',
                'debug: Expiration defined for "customer-7" lock for "300" seconds.',
                'look at 7 begins',
                'look at 7 ends: old',
                self::released('customer-7'),
            ], $process->log());
        }
        self::assertSame([
            ...self::taken('customer-7', 45),
            'sync of 7 begins',
            'sync of 7 ends: new',
            self::released('customer-7'),
        ], $writer->log());
    }

    #[DataProvider('ways')]
    public function testWhatAHandlerDispatchesInsideHasTheSameLock(bool $first, bool $second): void
    {
        foreach ([$first, $second] as $latch) {
            $web = $this->app->web($latch);
            self::assertSame('200: Warehouse 7 is counted.', $web->post('/warehouses/7/count/3'));
            $anew = 'debug: Expiration defined for "warehouse-7" lock for "60" seconds.';
            self::assertSame([
                'begin',
                ...self::taken('warehouse-7', 60),
                'shelf 3',
                'begin',
                $anew,
                'shelf 2',
                'begin',
                $anew,
                'shelf 1',
                'shelf 1 is counted',
                'commit',
                'shelf 2 is counted',
                'commit',
                'shelf 3 is counted',
                self::released('warehouse-7'),
                'commit',
            ], $web->log());
        }
    }

    #[DataProvider('ways')]
    public function testALaterMiddlewareReleasesWhatAHandlerHasLocked(bool $first, bool $second): void
    {
        foreach ([$first, $second] as $latch) {
            $web = $this->app->web($latch);
            self::assertSame('201: anna has an account.', $web->post('/accounts/anna'));
            self::assertSame('422: Nobody cannot have an account.', $web->post('/accounts/nobody'));
            self::assertSame('201: anna has an account.', $web->post('/accounts/anna'));
            $log = static fn (string $owner, string $end): array => [
                'begin',
                ...self::acquired("account-$owner", 10),
                "account of $owner is opened",
                $end,
                self::released("account-$owner"),
            ];
            self::assertSame(
                [...$log('anna', 'commit'), ...$log('nobody', 'roll back'), ...$log('anna', 'commit')],
                $web->log(),
            );
        }
    }

    #[DataProvider('ways')]
    public function testAHandlerReleasesWhatAControllerHasLocked(bool $first, bool $second): void
    {
        $web = $this->app->web($first);
        self::assertSame('202: Article 7 will be published.', $web->post('/articles/7/publish'));
        self::assertSame('423: Article 7 is being published.', $web->post('/articles/7/publish'));
        self::assertSame('423: Article 7 is being published.', $this->app->web($second)->post('/articles/7/publish'));
        $worker = $this->app->worker($second);
        self::assertSame([], $worker->finish());
        self::assertSame('202: Article 7 will be published.', $web->post('/articles/7/publish'));
        self::assertSame([], $this->app->worker($second)->finish());

        self::assertSame([
            ...self::acquired('article-7', 60),
            'info: Failed to acquire the "article-7" lock. Someone else already acquired the lock.',
            ...self::acquired('article-7', 60),
        ], $web->log());
        self::assertSame(['article 7 is published', self::released('article-7')], $worker->log());
    }

    /** Neither is the lock kept then. */
    #[DataProvider('ways')]
    public function testALockFileCannotBeHandedToAnotherProcess(bool $first, bool $second): void
    {
        foreach ([$first, $second] as $latch) {
            $web = $this->app->web($latch, ['LOCK_DSN' => "flock://{$this->app->directory}/var/lock"]);
            self::assertStringStartsWith('500: ', $web->post('/articles/7/publish'));
            self::assertSame([], $this->app->lockedFiles());
            self::assertStringStartsWith('500: ', $web->post('/articles/7/publish'));
            $refusal = 'critical: Uncaught PHP Exception'
                . ' Symfony\Component\Lock\Exception\UnserializableKeyException: "';
            $log = [...self::acquired('article-7', 60), $refusal];
            self::assertSame(
                [...$log, ...$log],
                array_map(static fn (string $line): string => strstr($line, $refusal) ? $refusal : $line, $web->log()),
            );
        }
    }

    /** Not by the ways of the test: what a process sends does not depend on locks. */
    private function send(string $message): void
    {
        self::assertSame(['Sent.'], $this->app->console(false, "app:send $message")->finish());
    }

    /**
     * What the middleware logs.
     *
     * @return list<string>
     */
    private static function taken(string $resource, int $ttl): array
    {
        return ["$resource is wanted", ...self::acquired($resource, $ttl)];
    }

    /**
     * @return list<string>
     */
    private static function acquired(string $resource, int $ttl): array
    {
        return [
            "debug: Successfully acquired the \"$resource\" lock.",
            "debug: Expiration defined for \"$resource\" lock for \"$ttl\" seconds.",
        ];
    }

    private static function released(string $resource): string
    {
        return "debug: Successfully released the \"$resource\" lock.";
    }
}
