<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyDocs;

use Latch\Tests\Support\RecordingLogger;
use Latch\Tests\Support\Wait;
use Symfony\Component\Lock\Exception\ExceptionInterface;
use Symfony\Component\Lock\Exception\UnserializableKeyException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\PersistingStoreInterface;
use Symfony\Component\Lock\SharedLockInterface;
use Symfony\Component\Lock\Store\StoreFactory;

/**
 * What the examples take for granted, `$this` of theirs included, and what another process does meanwhile. What
 * can be seen of an example is told line by line: what its lock logs, what it calls, and at each lock that it
 * gets what others then may do.
 */
final class Application
{
    private const EVENTS = [
        'debug: Successfully acquired the "{resource}" lock.' => 'acquired',
        'debug: Successfully acquired the "{resource}" lock for reading.' => 'acquired for reading',
        'debug: Expiration defined for "{resource}" lock for "{ttl}" seconds.' => 'refreshed',
        'debug: Successfully released the "{resource}" lock.' => 'released',
        'debug: Store does not support ReadLocks, fallback to WriteLock.' => 'not shared',
        'info: Failed to acquire the "{resource}" lock. Someone else already acquired the lock.' => 'refused',
        'notice: Failed to define an expiration for the "{resource}" lock, someone else acquired the lock.' => 'lost',
    ];

    /** By these names examples know the store and the message bus. */
    private PersistingStoreInterface $store;
    private object $bus;

    private LockFactory $factory;
    private LockFactory $unlogged;
    private ?SharedLockInterface $lock = null;
    /** the lock by which this process is in the way of the other's example */
    private ?SharedLockInterface $held = null;
    /** the resource that an example has locked last, and its key as it was then, as long as it is locked */
    private string $resource = '';
    private string $lastKey = '';
    private int $acquiredAt = 0;
    private int $refreshes = 0;
    private bool $finished = false;
    /** @var list<string> */
    private array $told = [];
    /** @var array<string, mixed> */
    private array $plan = [];

    /**
     * @param \Closure(string, mixed...): mixed $ask the other process
     */
    public function __construct(private readonly \Closure $ask)
    {
        $this->bus = new class ($this->dispatch(...)) {
            public function __construct(private readonly \Closure $dispatch)
            {
            }

            public function dispatch(object $message): object
            {
                ($this->dispatch)($message);

                return $message;
            }
        };
    }

    /**
     * Uses the store that an example makes, after those before it, or that there is for a DSN.
     *
     * @param list<string>|string $source the files, or the DSN
     *
     * @return array{string, string} its class, and the extension that this is from
     */
    public function open(array|string $source): array
    {
        $this->store = \is_array($source) ? $this->storeOf($source) : StoreFactory::createStore($source);
        $this->unlogged = new LockFactory($this->store);
        $this->factory = new LockFactory($this->store);
        $logger = new RecordingLogger();
        $logger->listener = function (string $level, string $message, array $context) use ($logger): void {
            // Otherwise the keys would live on in it.
            $logger->records = [];
            $this->logged($level, $message, $context);
        };
        $this->factory->setLogger($logger);
        $class = new \ReflectionClass($this->store);

        return [$class->getName(), (string) $class->getExtensionName()];
    }

    /** Lets go of everything, also of a lock that has outlived its object. */
    public function close(): void
    {
        if ($this->lastKey !== '') {
            $this->unlogged->createLockFromKey(unserialize($this->lastKey))->release();
        }
        $this->lock = $this->held = null;
        $this->lastKey = '';
        unset($this->factory, $this->unlogged, $this->store);
        gc_collect_cycles();
    }

    /**
     * Runs an example with the store.
     *
     * @param array<string, mixed> $plan what it finds:
     *                                   alone: bool, no other process is asked
     *                                   with: string, an example with a class
     *                                   lock: string, the resource of its $lock
     *                                   acquired: bool, what its $factory makes is acquired already
     *                                   refreshes: int, $finished is true after so many
     *                                   lifetimes: list<float>, what is left of the lock's after each
     *                                   update: bool, whether it should
     *                                   loses: bool, its lock in the midst of its transaction
     *                                   forks: bool, it is interrupted when its child has ended
     *
     * @return list<string> what could be seen
     */
    public function run(string $file, array $plan = []): array
    {
        $this->plan = $plan;
        $this->told = [];
        $this->refreshes = 0;
        $this->finished = false;
        if (isset($plan['with'])) {
            require_once $plan['with'];
        }
        if (isset($plan['lock'])) {
            $this->lock = $this->factory->createLock($plan['lock']);
        }
        if ($plan['forks'] ?? false) {
            $this->expectChild();
        }
        try {
            $this->lock = $this->lockOf($file);
        } catch (\Exception $e) {
            // The messages of the component are to be Symfony's.
            $this->tell($e::class . ($e instanceof ExceptionInterface ? ': ' . $e->getMessage() : ''));
        }

        return $this->told;
    }

    /**
     * The lock that the example has made.
     *
     * @return array{acquired: bool, lifetime: float|null, expired: bool}
     */
    public function state(): array
    {
        return [
            'acquired' => $this->lock->isAcquired(),
            'lifetime' => $this->lock->getRemainingLifetime(),
            'expired' => $this->lock->isExpired(),
        ];
    }

    /** @return list<string> */
    public function acquire(): array
    {
        $this->told = [];
        $this->lock->acquire();

        return $this->told;
    }

    /** Forgets the lock that the example has made. */
    public function drop(): void
    {
        $this->lock = null;
        gc_collect_cycles();
    }

    /** When the example had its lock, by the machine's clock. */
    public function acquiredAt(): int
    {
        return $this->acquiredAt;
    }

    /** Takes a lock for itself. */
    public function hold(string $resource): bool
    {
        $this->held = $this->unlogged->createLock($resource, 60);

        return $this->held->acquire();
    }

    public function letGo(): void
    {
        $this->held->release();
        $this->held = null;
    }

    /**
     * Releases when that process sleeps for another reason than that it has nothing to do.
     *
     * @return int when, by the machine's clock
     */
    public function letGoWhenAwaited(int $pid): int
    {
        Wait::until(static function () use ($pid): bool {
            $where = (string) file_get_contents("/proc/$pid/wchan");

            return $where !== '0' && $where !== '' && !str_contains($where, 'pipe');
        }, "process $pid waits");
        $now = hrtime(true);
        $this->letGo();

        return $now;
    }

    /**
     * What this process could do with a resource.
     *
     * @return string 'nothing', 'read', 'read and write'
     */
    public function may(string $resource): string
    {
        $lock = $this->unlogged->createLock($resource, 60);
        $may = [];
        foreach (['read' => $lock->acquireRead(...), 'write' => $lock->acquire(...)] as $what => $acquire) {
            if ($acquire()) {
                $may[] = $what;
                $lock->release();
            }
        }

        return implode(' and ', $may) ?: 'nothing';
    }

    /**
     * Handles a message with a key, as the example's other process is to do.
     *
     * @return list<string> what could be seen
     */
    public function handle(string $with, string $message): array
    {
        require_once $with;
        $key = unserialize(base64_decode($message))->getKey();
        $own = $this->unlogged->createLock((string) $key, 60);
        $lock = $this->unlogged->createLockFromKey($key, 300, false);
        $seen = [$own->acquire() ? 'not locked' : 'locked'];
        if (!$lock->isAcquired()) {
            return [...$seen, 'not mine'];
        }
        array_push($seen, 'mine', match (true) {
            $lock->getRemainingLifetime() === null => 'for ever',
            $lock->getRemainingLifetime() > 200 => 'for a while',
            default => 'for ' . $lock->getRemainingLifetime() . ' s',
        });
        $lock->refresh(30);
        $lock->release();
        $seen[] = $own->acquire() ? 'free' : 'not free';
        $own->release();

        return $seen;
    }

    /** Releases somebody else's lock by a copy of its key, and takes one for itself. */
    public function takeAway(string $key): bool
    {
        $key = unserialize(base64_decode($key));
        $this->unlogged->createLockFromKey($key)->release();

        return $this->hold((string) $key);
    }

    /**
     * @param list<string> $files
     */
    private function storeOf(array $files): PersistingStoreInterface
    {
        $projectId = 'shop';
        foreach ($files as $file) {
            include $file;
        }

        return $store;
    }

    private function lockOf(string $file): ?SharedLockInterface
    {
        $lockFactory = $factory = ($this->plan['acquired'] ?? false)
            ? new AcquiringFactory($this->store, $this->factory)
            : $this->factory;
        $lock = $this->lock;
        $service = new class ($this->tell(...)) {
            public function __construct(private readonly \Closure $tell)
            {
            }

            /** @param array<mixed> $arguments */
            public function __call(string $name, array $arguments): string
            {
                ($this->tell)('works');

                return 'done';
            }
        };
        $finished = &$this->finished;
        $userId = 42;
        $user = (object) ['id' => $userId];
        $article = new Article(42);
        include $file;

        return $lock;
    }

    /** Has what waits for a child's end interrupted by it. */
    private function expectChild(): void
    {
        pcntl_async_signals(true);
        pcntl_signal(\SIGCHLD, function (): never {
            $this->tell('the child has ended; others may ' . $this->ask('may', $this->resource));
            throw new \RuntimeException('The child has ended.');
        });
        // A sleep that begins just after the child's end is interrupted by this.
        pcntl_signal(\SIGALRM, static function (): void {
        });
        pcntl_alarm(2);
    }

    private function tell(string $what): void
    {
        $this->told[] = $what;
    }

    /**
     * @param array<string, mixed> $context
     */
    private function logged(string $level, string $message, array $context): void
    {
        $event = self::EVENTS["$level: $message"] ?? "$level: $message";
        $key = $context['resource'];
        switch ($event) {
            case 'acquired':
            case 'acquired for reading':
                $this->acquiredAt = hrtime(true);
                $this->remember($key);
                $this->tell("$event; others may " . $this->ask('may', (string) $key));
                break;
            case 'refreshed':
                $this->tell("$event for " . var_export($context['ttl'], true));
                ++$this->refreshes;
                $this->finished = $this->refreshes === ($this->plan['refreshes'] ?? 0);
                if (isset($this->plan['lifetimes'][$this->refreshes - 1])) {
                    $key->reduceLifetime($this->plan['lifetimes'][$this->refreshes - 1]);
                }
                break;
            default:
                $this->tell($event);
        }
        if ($event === 'released') {
            $this->lastKey = '';
        }
    }

    private function remember(Key $key): void
    {
        $this->resource = (string) $key;
        try {
            $this->lastKey = serialize($key);
        } catch (UnserializableKeyException) {
            $this->lastKey = '';
        }
    }

    private function ask(string $method, mixed ...$arguments): mixed
    {
        return ($this->plan['alone'] ?? false)
            ? $this->$method(...$arguments)
            : ($this->ask)($method, ...$arguments);
    }

    private function dispatch(object $message): void
    {
        $this->tell('dispatched');
        $text = base64_encode(serialize($message));
        array_map($this->tell(...), $this->ask('handle', $this->plan['with'], $text));
        $this->lastKey = '';
    }

    private function shouldUpdate(int $userId): bool
    {
        return $this->plan['update'];
    }

    private function update(int $userId): void
    {
        $this->tell('updated');
    }

    private function beginTransaction(): void
    {
        $this->tell('began');
        if ($this->plan['loses'] ?? false) {
            $this->tell($this->ask('takeAway', base64_encode($this->lastKey)) ? 'lost' : 'not lost');
            $this->lastKey = '';
        }
    }

    private function commit(): void
    {
        $this->tell('committed');
    }

    private function rollback(): void
    {
        $this->tell('rolled back');
    }
}
