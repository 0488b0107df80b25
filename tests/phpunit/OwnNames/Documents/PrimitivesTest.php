<?php

declare(strict_types=1);

namespace Latch\Tests\OwnNames\Documents;

use Latch\Tests\RedisServer;
use Latch\Tests\Support\DocumentTestCase;
use Latch\Tests\Support\Redis\Servers;

final class PrimitivesTest extends DocumentTestCase
{
    private RedisServer $server;

    protected static function page(): string
    {
        return 'docs/primitives.md';
    }

    protected function substitutes(): array
    {
        return ['redis://redis.example.com' => $this->server->dsn(), 'acquire(true, 30)' => 'acquire(true, 0.1)', 'timeout: 60' => 'timeout: 0.1',
            'acquire(true, 5)' => 'acquire(true, 0.1)', 'timeout: 30' => 'timeout: 0.1', 'lease: 60' => 'lease: 0.1',
            'quiet: 5, max: 60' => 'quiet: 0.5, max: 60'];
    }

    protected function setUp(): void
    {
        $this->server = Servers::fresh();
        parent::setUp();
    }

    public function testThreeMayCallAtATime(): void
    {
        $program = <<<'PHP'
            function sendPayments(): void
            {
                echo 'sent';
            }
            require example('counting-semaphore-at-most-n-at-a-time-1.php');
            PHP;

        $this->hold('payment-api', 2);
        self::assertSame('sent', $this->said($program));
        $this->hold('payment-api', 1);
        self::assertSame("the payment API is busy\n", $this->said($program));
    }

    public function testScriptsShareSemaphoresOfTheSystem(): void
    {
        $program = <<<'PHP'
            $project = '';
            $name = 'latch ' . bin2hex(random_bytes(8));
            require example('system-v-semaphores-1.php');
            $permits = fn (int $weight) => new Latch\Semaphore\Semaphore(
                new Latch\Semaphore\Key($name, $limit, $weight),
                Latch\Semaphore\Store\StoreFactory::createStore('semaphore'),
            );
            sem_acquire($semaphore);
            var_dump($permits(3)->acquire(), ($two = $permits(2))->acquire(), sem_acquire($semaphore, true));
            $two->release();
            sem_remove($semaphore);
            PHP;

        self::assertSame("bool(false)\nbool(true)\nbool(false)\n", $this->said($program));
    }

    public function testAQuotaCountsUnits(): void
    {
        $program = <<<'PHP'
            function search(string $number): string
            {
                return "found $number";
            }
            function export(): string
            {
                return 'exported';
            }
            require example('recipe-the-quota-of-an-api-by-weight-1.php');
            echo $found, ', ', $file ?? http_response_code();
            PHP;

        $this->hold('erp-api', 30);
        self::assertSame('found 4711, exported', $this->said($program));
        $this->hold('erp-api', 1);
        self::assertStringStartsWith('found 4711, ', $said = $this->said($program));
        self::assertStringNotContainsString('exported', $said);
    }

    public function testOnlyNewerUsersAreStored(): void
    {
        $program = <<<'PHP'
            function save(array $user): void
            {
                if ($user['fails'] ?? false) {
                    throw new DomainException('failed');
                }
                echo $user['version'], ' ';
            }
            require example('versions-throttles-and-count-downs-1.php');
            require example('version-only-if-newer-1.php');
            store($sync, ['id' => 7, 'version' => 120]);
            store($sync, ['id' => 7, 'version' => 119]);
            store($sync, ['id' => 8, 'version' => 119]);
            try {
                store($sync, ['id' => 7, 'version' => 121, 'fails' => true]);
            } catch (DomainException) {
            }
            store($sync, ['id' => 7, 'version' => 120]);
            store($sync, ['id' => 7, 'version' => 121]);
            PHP;

        self::assertSame('120 119 121', trim($this->said($program)));
    }

    public function testMailsAreSentOneAfterTheOther(): void
    {
        $program = <<<'PHP'
            function send(string $mail): void
            {
                global $times;
                $times[] = microtime(true);
            }
            require example('versions-throttles-and-count-downs-1.php');
            $mails = ['a', 'b', 'c', 'd'];
            require example('throttle-no-more-than-n-in-a-time-1.php');
            echo end($times) - $times[0] > 0.59 ? 'in time' : 'too soon';
            PHP;

        self::assertSame('in time', $this->said($program));
    }

    public function testTheLastPartStartsTheFinalStep(): void
    {
        $program = <<<'PHP'
            function sendToQueue(string $import, string $name, string $part): void
            {
                global $queue;
                array_push($queue, [$import, $name, $part], [$import, $name, $part]);
            }
            function importPart(string $part): void
            {
                echo $part, ' ';
            }
            function finish(string $payload, array $failed): void
            {
                echo $payload, ' ', count($failed), ' ';
            }
            $queue = [];
            require example('versions-throttles-and-count-downs-1.php');
            require example('count-down-when-all-parts-are-done-exactly-once-1.php');
            begin($sync, 'import-1', ['x' => 'one', 'y' => 'two']);
            foreach ($queue as $message) {
                handle($sync, ...$message);
            }
            PHP;

        self::assertSame('one one two report to shop@example.com 0 two', trim($this->said($program)));
    }

    public function testMessagesOfACustomerAreHandledInOrder(): void
    {
        $program = <<<'PHP'
            class RetryLater extends Exception
            {
                public function __construct(public float $after)
                {
                }
            }
            function sendToQueue(string $customer, int $ticket, string $payload): void
            {
                global $queue;
                $queue[] = [$customer, $ticket, $payload];
            }
            function work(string $payload): void
            {
                echo $payload, ' ';
                if ($payload === 'three' && !($GLOBALS['failed'] ?? false)) {
                    $GLOBALS['failed'] = true;
                    throw new DomainException('dead');
                }
            }
            $queue = [];
            require example('versions-throttles-and-count-downs-1.php');
            require example('sequence-one-after-the-other-per-key-1.php');
            foreach (['one', 'two', 'three', 'four'] as $id => $payload) {
                dispatch($sync, 'Ada', "$id", $payload);
                dispatch($sync, 'Ada', "$id", $payload);
            }
            dispatch($sync, 'Bob', '0', 'other');
            for ($tries = 0; $queue !== [] && $tries < 9; $tries++) {
                $message = array_shift($queue);
                try {
                    handle($sync, ...$message);
                } catch (DomainException | RetryLater $e) {
                    echo $e instanceof RetryLater ? 'later ' : 'dead ';
                    $queue[] = $message;
                    usleep(150_000);
                }
            }
            PHP;

        $said = trim(preg_replace('/(later )+/', 'later ', $this->said($program)));
        self::assertMatchesRegularExpression('/^one two three dead (later )?(other )?(later )?three four( other)?$/', $said);
    }

    public function testABurstIsIndexedOnce(): void
    {
        $program = <<<'PHP'
            class RetryLater extends Exception
            {
                public function __construct(public float $after)
                {
                }
            }
            function sendLater(int $product, int $token, float $delay): void
            {
                global $queue;
                $queue[] = [$product, $token, $delay];
            }
            function update(int $product): void
            {
                echo "indexed $product ";
            }
            $queue = [];
            require example('versions-throttles-and-count-downs-1.php');
            require example('debounce-of-a-burst-the-last-one-1.php');
            changed($sync, 7);
            changed($sync, 7);
            changed($sync, 7);
            foreach ($queue as [$product, $token, $delay]) {
                try {
                    index($sync, $product, $token);
                } catch (RetryLater $e) {
                    echo 'later ';
                    usleep((int) ceil($e->after * 1e6));
                    index($sync, $product, $token);
                    index($sync, $product, $token);
                }
            }
            PHP;

        self::assertSame('later indexed 7', trim($this->said($program)));
    }

    public function testATransferNeedsAllOfIt(): void
    {
        $program = <<<'PHP'
            function transfer(int $from, int $to): void
            {
                echo "$from to $to";
            }
            require example('multi-lock-several-resources-all-of-them-or-none-1.php');
            PHP;

        self::assertSame('7 to 3', $this->said($program));
        $this->server->command('SET', 'account-3', 'somebody', 'EX', 300);
        self::assertSame("an account is busy\n", $this->said($program));
        self::assertSame(['account-3'], $this->server->command('KEYS', 'account-*'));
        self::assertTrue($this->server->lacks('rates'));
    }

    public function testAJobHasAllItsRows(): void
    {
        $program = <<<'PHP'
            function change(array $ids): void
            {
                echo 'changed ', implode(' ', $ids);
            }
            function putBack(array $ids): void
            {
                echo 'put back ', implode(' ', $ids);
            }
            $ids = [3, 1, 2, 1];
            require example('recipe-one-job-for-many-rows-1.php');
            PHP;

        self::assertSame('changed 3 1 2 1', $this->said($program));
        $this->server->command('SET', 'row-2', 'somebody', 'EX', 300);
        self::assertSame('put back 3 1 2 1', $this->said($program));
        self::assertSame(['row-2'], $this->server->command('KEYS', 'row-*'));
    }

    /** Somebody else takes permits, in Symfony's layout. */
    private function hold(string $semaphore, int $weight): void
    {
        $token = base64_encode(random_bytes(32));
        $this->server->command('ZADD', "{{$semaphore}}:weight", $weight, $token);
        $this->server->command('ZADD', "{{$semaphore}}:time", time() + 300, $token);
    }
}
