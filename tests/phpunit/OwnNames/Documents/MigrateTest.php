<?php

declare(strict_types=1);

namespace Latch\Tests\OwnNames\Documents;

use Latch\Tests\MySqlServer;
use Latch\Tests\RedisServer;
use Latch\Tests\Support\DocumentTestCase;

/**
 * The code before and the code after exclude each other, each in the other's place.
 */
final class MigrateTest extends DocumentTestCase
{
    /** Runs the first example, and in its import() the second one, which is to be refused. */
    private const ONE_IN_THE_OTHER = <<<'PHP'
        function import(): void
        {
            global $second;
            echo "begins\n";
            if ($second !== null) {
                run($second);
            }
            echo "ends\n";
        }
        function run(string $example): void
        {
            global $second, $depth, $pdo, $redis, $password;
            $second = $example === $second ? null : $second;
            ++$depth;
            require $example;
            --$depth;
        }
        run('FIRST');
        // What was refused is free now.
        run($inner);
        PHP;

    private const ALONE = "begins\nends\n";

    private ?RedisServer $redis = null;
    private ?MySqlServer $database = null;

    protected static function page(): string
    {
        return 'docs/migrate.md';
    }

    protected function substitutes(): array
    {
        return [
            '/var/lock/shop' => "{$this->directory()}/locks",
            'redis://redis.example.com' => (string) $this->redis?->dsn(),
            'mysql:host=db.example.com;dbname=shop' => (string) $this->database?->pdoDsn(),
            "'shop'" => "'latch'",
            'GET_LOCK(?, 10)' => 'GET_LOCK(?, 0.2)',
            'timeout: 10.0' => 'timeout: 0.2',
        ];
    }

    public function testTheTwoLinesSwitchAnApplication(): void
    {
        $settings = parse_ini_string($this->text('from-symfony-s-lock-in-php-1.ini'), false, \INI_SCANNER_RAW);

        self::assertSame(['extension' => 'latch', 'latch.symfony' => '1'], $settings);
        self::assertSame(self::ALONE . 'native', $this->said(<<<'PHP'
            function import(): void
            {
                echo "begins\nends\n";
            }
            require example('from-symfony-s-lock-in-php-2.php');
            echo (new ReflectionObject($lock))->isInternal() ? 'native' : 'PHP';
            PHP, "latch.symfony={$settings['latch.symfony']}"));
    }

    public function testSymfonysLock(): void
    {
        $this->assertExclusion(
            $this->example('from-symfony-s-lock-in-php-2.php'),
            $this->example('from-symfony-s-lock-in-php-3.php'),
            'require getenv("LATCH_VENDOR") . "/autoload.php";',
        );
    }

    public function testLaravelsLock(): void
    {
        $this->redis = new RedisServer();
        $this->prepare();

        $this->assertExclusion($this->example('from-laravel-2.php'), $this->example('from-laravel-3.php'), sprintf(<<<'PHP'
            require getenv('LATCH_LARAVEL') . '/autoload.php';
            $app = new Illuminate\Container\Container();
            $options = ['host' => '127.0.0.1', 'port' => %d, 'prefix' => 'laravel-database-'];
            $manager = new Illuminate\Redis\RedisManager($app, 'phpredis', ['default' => $options]);
            $store = new Illuminate\Cache\RedisStore($manager, 'laravel-cache-', 'default');
            $app->instance('cache', new Illuminate\Cache\Repository($store));
            Illuminate\Support\Facades\Facade::setFacadeApplication($app);
            PHP, $this->redis->port));
        self::assertSame('composer require latch/laravel', trim($this->text('from-laravel-1.sh')));
        self::assertSame('latch/laravel', self::manifest()['name']);
        // As the page says of what remains.
        self::assertSame(['laravel-database-latch:fencing'], $this->redis->command('KEYS', '*'));
    }

    public function testKeysThatAreSetUnlessTheyAreThere(): void
    {
        $this->redis = new RedisServer();
        $this->prepare();

        $this->assertExclusion($this->example('from-set-nx-1.php'), $this->example('from-set-nx-2.php'), sprintf(
            '$redis = new Redis(); $redis->connect("127.0.0.1", %d);',
            $this->redis->port,
        ));
    }

    public function testAQuorumExcludesRedlock(): void
    {
        $servers = [new RedisServer(), new RedisServer(), new RedisServer()];
        $stores = implode(', ', array_map(
            static fn (RedisServer $server): string => "new Latch\Store\RedisStringStore('{$server->dsn()}')",
            $servers,
        ));
        $program = <<<PHP
            \$store = new Latch\Store\CombinedStore([$stores], new Latch\Strategy\ConsensusStrategy());
            \$lock = (new Latch\LockFactory(\$store))->createLock('import', 30);
            echo \$lock->acquire() ? 'acquired' : 'refused';
            \$lock->release();
            PHP;

        self::assertSame('acquired', $this->said($program));
        foreach (\array_slice($servers, 1) as $server) {
            self::assertSame('OK', $server->command('SET', 'import', 'redlock', 'NX', 'PX', 30_000));
        }
        self::assertSame('refused', $this->said($program));
    }

    public function testADeletedKeyIsNoticed(): void
    {
        $this->redis = new RedisServer();

        self::assertSame('false', $this->said(sprintf(<<<'PHP'
            $lock = (new Latch\LockFactory(new Latch\Store\RedisStringStore('%s')))->createLock('import', 30);
            $lock->acquire();
            $redis = new Redis();
            $redis->connect('127.0.0.1', %d);
            $redis->del('import');
            echo json_encode($lock->releaseIfHeld());
            PHP, $this->redis->dsn(), $this->redis->port)));
    }

    public function testNamedLocksAndTheStepBetween(): void
    {
        $this->startDatabase();
        $this->assertNamedLocks($this->example('from-get_lock-1.php'), $this->example('from-get_lock-3.php'));
    }

    public function testTheStepBetweenAndAfterIt(): void
    {
        $this->startDatabase();
        $this->assertNamedLocks($this->example('from-get_lock-3.php'), $this->example('from-get_lock-2.php'));
    }

    /** That is why there is a step between. */
    public function testNamedLocksDoNotExcludeLatch(): void
    {
        $this->startDatabase();
        $this->assertNamedLocks($this->example('from-get_lock-1.php'), $this->example('from-get_lock-2.php'), false);
    }

    public function testTheSessionsLocksAreReleasedWithLatchs(): void
    {
        $this->database = new MySqlServer();

        self::assertSame("true true\nfalse", $this->said(str_replace('DSN', $this->database->pdoDsn(), <<<'PHP'
            $pdo = new PDO('DSN', 'latch', 'never-told-8642');
            $lock = (new Latch\LockFactory(new Latch\Store\MysqlStore($pdo)))->createLock('import');
            $isOwn = $pdo->prepare("SELECT IS_USED_LOCK(SHA2('import', 256)) = CONNECTION_ID()");
            echo json_encode($lock->acquire()), ' ';
            $isOwn->execute();
            echo json_encode($isOwn->fetchColumn() == 1), "\n";
            $pdo->query('SELECT RELEASE_ALL_LOCKS()')->fetchAll();
            echo json_encode($lock->isAcquired());
            PHP)));
    }

    private function startDatabase(): void
    {
        $this->database = new MySqlServer();
        $this->prepare();
    }

    private function assertNamedLocks(string $one, string $other, bool $exclude = true): void
    {
        $connect = <<<'PHP'
            $password = 'never-told-8642';
            // A session for each, as of processes.
            class Sessions
            {
                public function prepare(string $sql): PDOStatement
                {
                    static $sessions = [];
                    return ($sessions[$GLOBALS['depth']] ??= new PDO('DSN', 'latch', 'never-told-8642'))->prepare($sql);
                }
            }
            $pdo = new Sessions();
            PHP;
        $this->assertExclusion($one, $other, str_replace('DSN', $this->database->pdoDsn(), $connect), $exclude);
        self::assertSame(0, $this->database->held());
    }

    private function assertExclusion(string $one, string $other, string $prelude, bool $exclude = true): void
    {
        $inside = $exclude ? '' : self::ALONE;
        foreach ([[$one, $other], [$other, $one]] as [$first, $second]) {
            self::assertSame("begins\n{$inside}ends\n" . self::ALONE, $this->said(
                "\$second = \$inner = '$second';\n$prelude\n" . str_replace('FIRST', $first, self::ONE_IN_THE_OTHER),
            ), basename($second) . ' in ' . basename($first) . ', and afterwards');
        }
    }

    /**
     * @return array<string, mixed>
     */
    private static function manifest(): array
    {
        $file = __DIR__ . '/../../../../bridge/laravel/composer.json';

        return json_decode((string) file_get_contents($file), true, 16, \JSON_THROW_ON_ERROR);
    }
}
