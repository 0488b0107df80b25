<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyDocs;

use Latch\Tests\Support\Wait;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

/**
 * The examples of Symfony's documentation of its Lock, with every store that runs here: on Latch under Symfony's
 * names, in pure PHP, and with one of each as the two processes that want the lock. What can be seen is the
 * same. The documentation is that of commit 09abff42 for lock.rst, of 706fb1a5 for components/lock.rst.
 */
final class DocumentationTest extends TestCase
{
    private const EXPIRING = 1;
    private const SHARED = 2;
    private const SERIALIZABLE = 4;
    /** A lock whose object is gone without a release is still there, as long as its store is. */
    private const LASTING = 8;
    /** Nobody in another process has to do with it. */
    private const ALONE = 16;
    /** Symfony 7.4 takes its argument without making use of it: Latch is not to be tried beside that. */
    private const SINCE_8_1 = 32;
    private const IN_A_TABLE = self::EXPIRING | self::SERIALIZABLE | self::LASTING;
    private const IN_REDIS = self::IN_A_TABLE | self::SHARED;
    private const IN_A_SESSION = self::SHARED | self::LASTING;

    /** Where they come from, examples or a DSN; the class; what the documentation's table tells of it. */
    private const STORES = [
        'flock' => [['store-flock'], 'FlockStore', self::SHARED],
        'semaphore' => [['configuration'], 'SemaphoreStore', 0],
        'semaphore of a project' => [['store-semaphore'], 'SemaphoreStore', self::SINCE_8_1],
        'memcached' => [['store-memcached'], 'MemcachedStore', self::IN_A_TABLE],
        'pdo' => [['store-pdo'], 'PdoStore', self::IN_A_TABLE],
        'dbal' => [['store-dbal'], 'DoctrineDbalStore', self::IN_A_TABLE],
        'postgresql' => [['store-postgresql'], 'PostgreSqlStore', self::IN_A_SESSION],
        'dbal-postgresql' => [['store-dbal-postgresql'], 'DoctrineDbalPostgreSqlStore', self::IN_A_SESSION],
        'redis' => [['store-redis'], 'RedisStore', self::IN_REDIS],
        'predis' => [['store-predis'], 'RedisStore', self::IN_REDIS],
        'combined' => [['store-combined'], 'CombinedStore', self::IN_REDIS],
        'combined, unanimous' => [['store-combined', 'store-combined-unanimous'], 'CombinedStore', self::IN_REDIS],
    ];

    /** The DSNs of section "Configuration", and what they leave out. */
    private const DSNS = [
        'flock' => ['flock', 'FlockStore', self::SHARED],
        'flock in a folder' => ['flock:///var/stores', 'FlockStore', self::SHARED],
        'semaphore' => ['semaphore', 'SemaphoreStore', 0],
        'memcached' => ['memcached://m1.docker', 'MemcachedStore', self::IN_A_TABLE],
        'redis' => ['redis://r1.docker', 'RedisStore', self::IN_REDIS],
        'sqlite' => ['sqlite:////var/stores/lock.db', 'DoctrineDbalStore', self::IN_A_TABLE],
        'sqlite by pdo' => ['sqlite:/var/stores/pdo.db', 'PdoStore', self::IN_A_TABLE],
        'mysql' => ['mysql:host=127.0.0.1;dbname=app', 'PdoStore', self::IN_A_TABLE],
        'pgsql' => ['pgsql:host=127.0.0.1;port=5634;dbname=app', 'PdoStore', self::IN_A_TABLE],
        'pgsql+advisory' => [
            'pgsql+advisory:host=127.0.0.1;port=5634;dbname=app', 'PostgreSqlStore', self::IN_A_SESSION,
        ],
        'in-memory' => [
            'in-memory', 'InMemoryStore', self::SHARED | self::SERIALIZABLE | self::LASTING | self::ALONE,
        ],
    ];

    private const PAIRS = [
        'pure PHP' => ['php', 'php'],
        'Latch' => ['latch', 'latch'],
        'Latch beside pure PHP' => ['latch', 'php'],
        'pure PHP beside Latch' => ['php', 'latch'],
    ];

    /** @var array<string, Process> used again, as what takes time is to start them */
    private static array $processes = [];

    private Process $here;
    private Process $there;

    /**
     * @return iterable<string, array{string, string, string}>
     */
    public static function stores(): iterable
    {
        foreach (array_keys(self::STORES + self::dsns()) as $store) {
            foreach (self::PAIRS as $pair => $kinds) {
                if (!self::is($store, self::ALONE | self::SINCE_8_1) || $kinds[0] === $kinds[1]) {
                    yield "$store: $pair" => [$store, ...$kinds];
                }
            }
        }
    }

    /**
     * @return iterable<string, array{string, string, string}>
     */
    public static function storesOfSeveral(): iterable
    {
        foreach (self::stores() as $name => $arguments) {
            if (!self::is($arguments[0], self::ALONE)) {
                yield $name => $arguments;
            }
        }
    }

    #[DataProvider('stores')]
    public function testTypicalUsage(string $store, string $here, string $there): void
    {
        $this->open($store, $here, $there);
        $this->assertSeen(
            ['acquired; others may nothing', 'refreshed for 300.0', 'works', 'released'],
            'typical-usage',
        );
        $this->assertFree('typical-usage');
        $this->assertSeenWhileHeld(['refused'], 'typical-usage');
    }

    #[DataProvider('storesOfSeveral')]
    public function testBlockingLocks(string $store, string $here, string $there): void
    {
        $this->open($store, $here, $there);
        $this->assertWaits(['acquired; others may nothing', 'refreshed for 300.0'], 'blocking');
    }

    #[DataProvider('stores')]
    public function testExpiringLocks(string $store, string $here, string $there): void
    {
        $this->open($store, $here, $there);
        $acquired = ['acquired; others may nothing', 'refreshed for 30.0'];

        $this->assertSeen([...$acquired, 'released'], 'expiring');
        $this->assertFree('expiring');
        $this->assertSeenWhileHeld(['refused'], 'expiring');

        $this->assertSeen(
            [...$acquired, 'refreshed for 30.0', 'refreshed for 30.0', 'released'],
            'refreshing',
            ['refreshes' => 3],
        );
        $this->assertFree('refreshing');
        $this->assertSeenWhileHeld(['refused'], 'refreshing');

        $this->assertSeen(
            [...$acquired, 'refreshed for 30.0', 'refreshed for 600.0'],
            'refreshing-once-for-longer',
            ['acquired' => true],
        );
        $this->assertHeldFor(600.0, $store);
        self::assertSame('nothing', $this->there->may(Examples::resource('refreshing-once-for-longer')));
        $this->here->drop();
        $this->assertFree('refreshing-once-for-longer');
    }

    #[DataProvider('stores')]
    public function testAutomaticReleaseSwitchedOff(string $store, string $here, string $there): void
    {
        $this->open($store, $here, $there);
        $this->assertSeen([], 'not-releasing');
        self::assertSame(['acquired; others may nothing', 'refreshed for 3600.0'], $this->here->acquire());
        $this->assertHeldFor(3600.0, $store);
        $this->here->drop();
        if ($here === 'latch' && self::isInASession($store)) {
            // Latch's sessions are kept: what nobody could release any more is given back.
            $this->assertFree('not-releasing');
        } else {
            self::assertSame(
                self::is($store, self::LASTING) ? 'nothing' : 'read and write',
                $this->there->may(Examples::resource('not-releasing')),
            );
        }
        $this->leave($store);
    }

    #[DataProvider('stores')]
    public function testSharedLocks(string $store, string $here, string $there): void
    {
        $this->open($store, $here, $there);
        $reading = self::is($store, self::SHARED)
            ? ['acquired for reading; others may read', 'refreshed for 300.0']
            : ['not shared', 'acquired; others may nothing', 'refreshed for 300.0'];
        $writing = ['acquired; others may nothing', 'refreshed for 300.0'];

        $this->assertSeen($reading, 'reading');
        $this->assertHeldFor(300.0, $store);
        $this->here->drop();
        $this->assertFree('reading');
        $this->assertSeenWhileHeld(
            self::is($store, self::SHARED) ? ['refused'] : ['not shared', 'refused'],
            'reading',
        );

        $this->assertSeen($reading, 'promoting', ['update' => false]);
        $this->here->drop();
        $this->assertFree('promoting');
        $this->assertSeen([...$reading, ...$writing, 'updated'], 'promoting', ['update' => true]);
        $this->here->drop();
        $this->assertFree('promoting');

        if (!self::is($store, self::ALONE)) {
            $this->assertWaits($reading, 'reading-blocking');
        }
    }

    #[DataProvider('stores')]
    public function testTheOwnerOfALock(string $store, string $here, string $there): void
    {
        $this->open($store, $here, $there);
        $acquired = ['acquired; others may nothing', 'refreshed for 300.0'];

        $this->assertSeen([...$acquired, 'began', 'committed'], 'owning', ['lock' => 'stock']);
        $this->here->run(Examples::file('owning-asked'), ['lock' => 'stock', 'alone' => true]);
        self::assertFalse($this->here->state()['acquired']);
        $this->here->drop();
        if (self::is($store, self::SERIALIZABLE)) {
            $this->assertSeen(
                [...$acquired, 'began', 'lost', 'rolled back', 'Exception'],
                'owning',
                ['lock' => 'stock', 'loses' => true],
            );
            self::assertFalse($this->here->state()['acquired']);
            $this->there->letGo();
        }
    }

    #[DataProvider('stores')]
    public function testSerializingLocks(string $store, string $here, string $there): void
    {
        $this->open($store, $here, $there);
        $handled = match (true) {
            self::is($store, self::SERIALIZABLE)
                => ['locked', 'mine', self::is($store, self::EXPIRING) ? 'for a while' : 'for ever', 'free'],
            // Symfony's waitAndSave() forgets to mark the key. On Latch it is as the page says.
            $here === 'php' && self::isInASession($store) => ['locked', 'not mine'],
            default => ['Symfony\Component\Lock\Exception\UnserializableKeyException: The key cannot be serialized.'],
        };
        $plan = ['with' => Examples::file('serializing-message')];

        $this->assertSeen(
            ['acquired; others may nothing', 'refreshed for 300.0', 'dispatched', ...$handled],
            'serializing',
            $plan,
        );
        $this->leave($store);
        $this->open($store, $here, $there);
        $this->assertSeen(['dispatched', ...$handled], 'serializing-by-lock', $plan);
        $this->leave($store);
    }

    #[DataProvider('stores')]
    public function testWatchingTheLifetime(string $store, string $here, string $there): void
    {
        $this->open($store, $here, $there);
        $acquired = ['acquired; others may nothing', 'refreshed for 30.0'];
        $this->assertSeen(
            [...$acquired, 'refreshed for 30.0', 'refreshed for 30.0'],
            'watching-the-lifetime',
            ['refreshes' => 3, 'lifetimes' => [5.0, 5.0]],
        );
        $this->assertHeldFor(30.0, $store);
        $this->here->drop();
        $this->assertSeen(
            [...$acquired, 'refreshed for 30.0', 'released', 'RuntimeException'],
            'watching-the-lifetime',
            ['lifetimes' => [5.0, 0.0]],
        );
        $this->assertFree('watching-the-lifetime');
    }

    #[TestWith(['latch'])]
    #[TestWith(['php'])]
    public function testAStandaloneProgram(string $kind): void
    {
        $this->open('semaphore', $kind, 'php');
        $resource = Examples::resource('locking');

        self::assertTrue($this->there->hold($resource));
        $this->assertSeen([], 'locking');
        self::assertFalse($this->here->state()['acquired']);
        self::assertSame('nothing', $this->here->may($resource));
        $this->there->letGo();
        $this->assertSeen([], 'locking');
        $this->assertFree('locking');
    }

    /** The one example that has another end on Latch, as docs/differences.md says. */
    #[TestWith(['flock', 'latch', 'nothing'])]
    #[TestWith(['flock', 'php', 'read and write'])]
    #[TestWith(['pgsql+advisory (DSN)', 'latch', 'nothing'])]
    public function testAChildThatEnds(string $store, string $kind, string $left): void
    {
        $this->open($store, $kind, 'php');
        // Its child takes a copy of everything with it.
        $here = new Process($kind);
        $here->contendWith($this->there);
        $here->open($this->source($store));
        $seen = $here->run(Examples::file('forking'), ['forks' => true]);

        self::assertSame(
            [
                'acquired; others may nothing', 'refreshed for 300.0', "the child has ended; others may $left",
                'released', 'RuntimeException',
            ],
            $seen,
        );
        self::assertMatchesRegularExpression(
            '/^(?:the child ends|The lock will be released now\.)$/',
            $here->printed(),
        );
    }

    public function testLatchIsWhatRuns(): void
    {
        foreach (['FlockStore', 'SemaphoreStore', 'PostgreSqlStore', 'DoctrineDbalPostgreSqlStore'] as $class) {
            foreach (self::STORES as $name => [, $classOfIt]) {
                if ($classOfIt === $class) {
                    self::assertSame('latch', self::process('latch', 0)->open($this->source($name))[1]);
                    self::assertSame('', self::process('php', 0)->open($this->source($name))[1]);
                }
            }
        }
    }

    #[TestWith(['latch'])]
    #[TestWith(['php'])]
    public function testTheNullStore(string $kind): void
    {
        $process = self::process($kind, 0);
        self::assertSame('Symfony\Component\Lock\Store\NullStore', $process->open('null')[0]);
        self::assertSame(
            ['acquired; others may read and write', 'refreshed for 300.0', 'works', 'released'],
            $process->run(Examples::file('typical-usage'), ['alone' => true]),
        );
    }

    public function testNoExampleIsForgotten(): void
    {
        self::assertSame([], Examples::forgotten());
    }

    /** What the page says of three servers: one of them may fail. */
    #[DataProvider('pairs')]
    public function testCombinedStoresWithAServerThatFails(string $here, string $there): void
    {
        $this->open('combined', $here, $there);
        $this->failingServer(function (): void {
            $this->assertSeen(
                ['acquired; others may nothing', 'refreshed for 300.0', 'works', 'released'],
                'typical-usage',
            );
            $this->assertFree('typical-usage');
            $this->assertSeenWhileHeld(['refused'], 'typical-usage');
        });
        $this->open('combined, unanimous', $here, $there);
        $this->failingServer(fn () => $this->assertSeen(['refused'], 'typical-usage'));
    }

    /**
     * @return array<string, array{string, string}>
     */
    public static function pairs(): array
    {
        return self::PAIRS;
    }

    protected function tearDown(): void
    {
        if ($this->status()->isSuccess()) {
            foreach (self::$processes as $process) {
                $process->close();
            }
        } else {
            self::$processes = [];
        }
    }

    public static function tearDownAfterClass(): void
    {
        self::$processes = [];
    }

    /** Two processes that both have the store. */
    private function open(string $store, string $here, string $there): void
    {
        $this->here = self::process($here, 0);
        $this->there = self::is($store, self::ALONE) ? $this->here : self::process($there, 1);
        $this->here->contendWith($this->there === $this->here ? null : $this->there);
        foreach ([$this->here, $this->there] as $process) {
            $class = $process->open($this->source($store))[0];
            // RedisStore is one under Symfony's name and one under Latch's.
            self::assertStringEndsWith('\Store\\' . (self::STORES + self::dsns())[$store][1], $class);
        }
    }

    /** Without server1, of which both processes have a connection. */
    private function failingServer(\Closure $test): void
    {
        $redis = static fn (string $command): string => (string) shell_exec("redis-cli -h server1 $command 2>&1");
        self::assertSame("PONG\n", $redis('ping'));
        $redis('shutdown nosave');
        try {
            $test();
        } finally {
            shell_exec("redis-server --bind 127.0.0.2 --save '' --appendonly no --daemonize yes");
            Wait::until(static fn (): bool => $redis('ping') === "PONG\n", 'server1 is there again');
        }
    }

    /** After an example that has left a lock: one that is a session's ends with the process. */
    private function leave(string $store): void
    {
        if (self::isInASession($store)) {
            self::$processes = [];
        } else {
            $this->here->close();
        }
    }

    private static function process(string $kind, int $number): Process
    {
        return self::$processes["$kind $number"] ??= new Process($kind);
    }

    /**
     * @param list<string>         $expected
     * @param array<string, mixed> $plan
     */
    private function assertSeen(array $expected, string $example, array $plan = []): void
    {
        $plan['alone'] = $this->here === $this->there;
        self::assertSame($expected, $this->here->run(Examples::file($example), $plan), "Example $example");
    }

    /**
     * @param list<string> $expected
     */
    private function assertSeenWhileHeld(array $expected, string $example): void
    {
        self::assertTrue($this->there->hold(Examples::resource($example)));
        $this->assertSeen($expected, $example);
        $this->there->letGo();
    }

    /**
     * @param list<string> $expected
     */
    private function assertWaits(array $expected, string $example): void
    {
        self::assertTrue($this->there->hold(Examples::resource($example)));
        $this->here->begin('run', Examples::file($example), []);
        $released = $this->there->letGoWhenAwaited($this->here->pid());
        self::assertSame($expected, $this->here->finish(), "Example $example");
        self::assertGreaterThan($released, $this->here->acquiredAt());
        self::assertTrue($this->here->state()['acquired']);
        $this->here->drop();
        $this->assertFree($example);
    }

    /** Soon: who destroys a lock does not await its server's answer. */
    private function assertFree(string $example): void
    {
        $resource = Examples::resource($example);
        Wait::until(fn (): bool => $this->there->may($resource) === 'read and write', "$example leaves $resource");
        $this->addToAssertionCount(1);
    }

    private function assertHeldFor(float $ttl, string $store): void
    {
        ['acquired' => $acquired, 'lifetime' => $lifetime, 'expired' => $expired] = $this->here->state();
        self::assertTrue($acquired);
        self::assertFalse($expired);
        if (self::is($store, self::EXPIRING)) {
            self::assertLessThanOrEqual($ttl, $lifetime);
            self::assertGreaterThan(0.99 * $ttl - 20.0, $lifetime); // what is certain in a quorum
        } else {
            self::assertNull($lifetime);
        }
    }

    /**
     * @return array<string, array{string, string, int}>
     */
    private static function dsns(): array
    {
        return array_combine(
            array_map(static fn (string $name): string => "$name (DSN)", array_keys(self::DSNS)),
            self::DSNS,
        );
    }

    private static function is(string $store, int $what): bool
    {
        return ((self::STORES + self::dsns())[$store][2] & $what) !== 0;
    }

    private static function isInASession(string $store): bool
    {
        return (self::STORES + self::dsns())[$store][2] === self::IN_A_SESSION;
    }

    /**
     * @return list<string>|string
     */
    private function source(string $store): array|string
    {
        $source = (self::STORES + self::dsns())[$store][0];

        return \is_array($source) ? array_map(Examples::file(...), $source) : $source;
    }
}
