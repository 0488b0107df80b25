<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

use Latch\Symfony\Tests\Behaviour\Queues\AmqpQueues;
use Latch\Symfony\Tests\Behaviour\Queues\Queues;
use Latch\Symfony\Tests\Behaviour\Queues\RedisQueues;
use Latch\Symfony\Tests\Behaviour\Queues\SqlQueues;
use Latch\Tests\PostgreSqlServer;
use Latch\Tests\RedisServer;

/**
 * The application of app/, with servers of its own: one for queues, one Redis for locks.
 *
 * Takes from the environment LATCH_APP_VENDOR, what Composer has installed for it, and LATCH_SO; and, where several
 * PHPUnits share one container, LATCH_APP_CACHE, a folder for it.
 */
final class Application
{
    /** The name of the process that all tests use. */
    public const TALKER = 'talker';

    private const WARM_UP = 'cache:warmup';

    public readonly Journal $journal;

    public readonly RedisServer $locks;

    private static ?self $shared = null;

    private readonly Queues $queues;

    private readonly string $directory;

    private readonly string $cache;

    private ?PostgreSqlServer $database = null;

    private ?Talker $talker = null;

    /** @var list<Process> */
    private array $processes = [];

    /** @var array<int, true> the modes for which there is one */
    private array $containers = [];

    private function __construct(public readonly Way $way)
    {
        $this->directory = sys_get_temp_dir() . '/latch-bundle-' . bin2hex(random_bytes(6));
        $this->cache = getenv('LATCH_APP_CACHE') ?: "$this->directory/cache";
        foreach ([$this->cache, "$this->directory/gate", "$this->directory/log", "$this->directory/data"] as $path) {
            @mkdir($path, 0755, true);
        }
        $this->journal = new Journal("$this->directory/journal");
        $this->queues = match ($way->transport) {
            'redis' => new RedisQueues(),
            'doctrine' => SqlQueues::inSqlite("$this->directory/data/queue.db"),
            'postgresql' => SqlQueues::inPostgreSql($this->database = new PostgreSqlServer()),
            'amqp' => new AmqpQueues(),
        };
        $this->locks = new RedisServer();
        $this->runToItsEnd($this->console('messenger:setup-transports', 'setup', [], null));
    }

    public function __destruct()
    {
        $this->talker = null;
        exec('rm -rf ' . escapeshellarg($this->directory));
    }

    /** The one that all tests share, as new. */
    public static function shared(): self
    {
        self::$shared ??= new self(Way::chosen());
        self::$shared->empty();

        return self::$shared;
    }

    /** Without processes of the last test, messages and locks. */
    private function empty(): void
    {
        $this->killWorkers();
        if (!$this->locks->runs()) {
            $this->locks->start();
        }
        $this->queues->empty();
        $this->locks->command('FLUSHALL');
        array_map(unlink(...), glob("$this->directory/gate/*") ?: []);
        array_map(unlink(...), glob("$this->directory/log/*.errors") ?: []);
        $this->journal->clear();
    }

    /** The application's own database, for transactions: processes that are started from now on have it. */
    public function database(): PostgreSqlServer
    {
        if ($this->database === null) {
            $this->database = new PostgreSqlServer();
            $this->talker = null;
        }

        return $this->database;
    }

    /**
     * A worker: messenger:consume.
     *
     * @param string                $transports their names
     * @param string                $name       by which it is the same consumer to Redis as one of that name before
     * @param array<string, string> $options    of the transports: redeliver_timeout
     */
    public function worker(string $transports, string $name, array $options = [], ?bool $dropIn = null, string $more = ''): Process
    {
        $command = "messenger:consume $transports --sleep=0.02 -q $more";
        $worker = new Process($this->console($command, $name, $options, $dropIn), $name, $this->errors($name), $this->journal);

        return $this->processes[] = $worker;
    }

    /** A process that is no worker; the first one is used by all tests. */
    public function talker(): Talker
    {
        return $this->talker ??= $this->newTalker(self::TALKER);
    }

    /**
     * @param array<string, string> $environment beside what all processes have
     */
    public function newTalker(string $name, array $environment = [], ?bool $dropIn = null): Talker
    {
        $command = $this->console('app:talk', $name, [], $dropIn, $environment);

        return new Talker($command, $name, $this->errors($name), $this->journal);
    }

    /** Another command, beside the test, as if by hand. */
    public function command(string $command, string $name): Process
    {
        $command = $this->console($command, $name, [], null, ['SHELL_INTERACTIVE' => '1']);

        return $this->processes[] = new Process($command, $name, $this->errors($name), $this->journal);
    }

    /** Lets the handlers pass that are at this gate. */
    public function openGate(string $gate): void
    {
        touch("$this->directory/gate/$gate");
    }

    public function killWorkers(): void
    {
        foreach ($this->processes as $process) {
            if ($process->runs()) {
                $process->stop();
            }
        }
        $this->processes = [];
    }

    /**
     * The resources that are locked; what the extension keeps beside the locks begins with "latch:".
     *
     * @return list<string>
     */
    public function locked(): array
    {
        $keys = preg_grep('/^latch:/', $this->locks->command('KEYS', '*'), \PREG_GREP_INVERT);
        sort($keys);

        return $keys;
    }

    /** How many messages are in that transport, in hand, or delayed. */
    public function queued(string $transport): int
    {
        return $this->queues->count($transport);
    }

    /**
     * Changes messages in a transport, as somebody who can write into it could; the length must be the same.
     *
     * @return int how many there are that have the text
     */
    public function changeQueued(string $transport, string $text, string $by): int
    {
        return $this->queues->change($transport, $text, $by);
    }

    /** Delivers messages that have this text once more, as transports may. */
    public function duplicateQueued(string $transport, string $text): void
    {
        $this->queues->duplicate($transport, $text);
    }

    /** Loses what is in a transport. */
    public function loseQueued(string $transport): void
    {
        $this->queues->lose($transport);
    }

    /**
     * Options of a worker that may be killed, so that its message is delivered to another one soon.
     *
     * @return array<string, string>
     */
    public function redeliverSoon(): array
    {
        return $this->queues->redeliverSoon();
    }

    /**
     * Options of a worker that hardly ever looks for messages, where its transport tells it of them.
     *
     * @return array<string, string>
     */
    public function notified(): array
    {
        return $this->queues->notified();
    }

    /** Whether so many idle workers are told of messages from now on, where transports do that. */
    public function isHeardBy(int $workers): bool
    {
        return \in_array($this->queues->listeners(), [null, $workers], true);
    }

    /** What processes have complained about, for the messages of failures. */
    public function complaints(): string
    {
        $text = '';
        foreach (glob("$this->directory/log/*.errors") ?: [] as $file) {
            $text .= filesize($file) > 0 ? basename($file) . ': ' . file_get_contents($file, length: 4000) . "\n" : '';
        }

        return $text;
    }

    private function errors(string $name): string
    {
        return "$this->directory/log/$name.errors";
    }

    /**
     * @param list<string> $command
     */
    private function runToItsEnd(array $command): void
    {
        exec(implode(' ', array_map(escapeshellarg(...), $command)) . ' 2>&1', $output, $status);
        if ($status !== 0) {
            throw new \RuntimeException(implode("\n", $output));
        }
    }

    /**
     * @param array<string, string> $options     of the transports
     * @param array<string, string> $environment
     *
     * @return list<string>
     */
    private function console(string $command, string $name, array $options, ?bool $dropIn, array $environment = []): array
    {
        $dropIn ??= $this->way->dropIn;
        if ($command !== self::WARM_UP) {
            $this->buildContainer($dropIn);
        }
        $variables = [];
        foreach ($environment + $this->environment($name, $options, $dropIn) as $variable => $value) {
            $variables[] = "$variable=$value";
        }

        return ['env', '-i', ...$variables, \PHP_BINARY, '-n', ...$this->php($dropIn), __DIR__ . '/app/bin/console',
            ...array_filter(explode(' ', $command), static fn (string $word): bool => $word !== '')];
    }

    /**
     * @param array<string, string> $options of the transports
     *
     * @return array<string, string>
     */
    private function environment(string $name, array $options, bool $dropIn): array
    {
        return [
            'PATH' => (string) getenv('PATH'),
            'APP_VENDOR' => self::variable('LATCH_APP_VENDOR'),
            'APP_VAR' => $this->directory,
            'APP_CACHE' => "$this->cache/" . ($dropIn ? 'drop-in' : 'names'),
            'APP_SECRET' => 'never-told-1234',
            'APP_PROCESS' => $name,
            'APP_JOURNAL' => "$this->directory/journal",
            'APP_LOG' => "$this->directory/log/$name.log",
            'APP_SERIALIZER' => $this->way->serializer,
            'APP_TRANSPORT_A' => $this->queues->dsn('a', $name, $options),
            'APP_TRANSPORT_B' => $this->queues->dsn('b', $name, $options),
            'APP_TRANSPORT_FAILED' => $this->queues->dsn('failed', $name, $options),
            'APP_SHOP_DATABASE' => SqlQueues::url($this->database?->port ?? 1),
            'LATCH_DSN' => $this->locks->dsn(),
        ] + $this->queues->environment();
    }

    /**
     * @return list<string> options of PHP
     */
    private function php(bool $dropIn): array
    {
        $options = ['-d', 'display_errors=stderr', '-d', 'error_reporting=-1', '-d', 'memory_limit=256M'];
        // What the application needs and Debian has as shared objects; redis needs igbinary.
        $names = ['ctype', 'iconv', 'mbstring', 'tokenizer', 'dom', 'xml', 'simplexml', 'posix', 'sysvsem',
            'igbinary', 'redis', 'amqp', 'pdo', 'pdo_pgsql', 'pdo_sqlite'];
        foreach ($names as $name) {
            if (is_file(\PHP_EXTENSION_DIR . "/$name.so")) {
                array_push($options, '-d', "extension=$name");
            }
        }
        array_push($options, '-d', 'zend_extension=opcache', '-d', 'opcache.enable_cli=1');
        array_push($options, '-d', 'opcache.file_cache_only=1', '-d', "opcache.file_cache=$this->cache/opcache");
        array_push($options, '-d', 'extension=' . self::variable('LATCH_SO'), '-d', 'latch.symfony=' . (int) $dropIn);

        return $options;
    }

    /** Once for all that share the cache: it takes a while. */
    private function buildContainer(bool $dropIn): void
    {
        if (isset($this->containers[(int) $dropIn])) {
            return;
        }
        $this->containers[(int) $dropIn] = true;
        @mkdir("$this->cache/opcache");
        $lock = fopen("$this->cache/lock", 'c') ?: throw new \RuntimeException("Cannot write in $this->cache.");
        flock($lock, \LOCK_EX);
        $done = "$this->cache/" . ($dropIn ? 'drop-in' : 'names') . '.done';
        if (!is_file($done)) {
            $this->runToItsEnd($this->console(self::WARM_UP, 'warmer', [], $dropIn));
            touch($done);
        }
        fclose($lock);
    }

    private static function variable(string $name): string
    {
        return getenv($name) ?: throw new \RuntimeException("$name is not set.");
    }
}
