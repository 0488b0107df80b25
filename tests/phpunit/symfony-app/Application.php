<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyApp;

use Latch\Tests\PostgreSqlServer;
use Latch\Tests\RedisServer;
use Latch\Tests\SqlServer;

/**
 * The application of app/, installed in a folder of its own as an operator would, with servers of its own.
 * Its processes differ in nothing but whether their PHP has the extension.
 *
 * Takes from the environment LATCH_APP_VENDOR, what Composer has installed for it, and LATCH_SO.
 */
final class Application
{
    public readonly string $directory;

    public readonly RedisServer $redis;

    /** @var list<RedisServer> */
    public readonly array $quorum;

    public readonly PostgreSqlServer $database;

    private static ?self $shared = null;

    private int $processes = 0;

    private function __construct()
    {
        $this->directory = sys_get_temp_dir() . '/latch-app-' . bin2hex(random_bytes(6));
        $this->run('cp', '-R', __DIR__ . '/app', $this->directory);
        foreach (['data', 'lock', 'log', 'opcache'] as $name) {
            mkdir("$this->directory/var/$name", 0755, true);
        }
        $this->installPackages(self::variable('LATCH_APP_VENDOR'));
        $this->redis = new RedisServer();
        $this->quorum = [new RedisServer(), new RedisServer(), new RedisServer()];
        $this->database = new PostgreSqlServer();
    }

    /** The one that all tests share, running and empty. */
    public static function shared(): self
    {
        self::$shared ??= new self();
        foreach ([self::$shared->redis, ...self::$shared->quorum] as $server) {
            $server->command('FLUSHALL');
        }

        return self::$shared;
    }

    public function __destruct()
    {
        SqlServer::remove($this->directory);
    }

    /**
     * One of its commands: bin/console.
     *
     * @param array<string, string> $environment beside what it always has
     */
    public function console(bool $latch, string $command, array $environment = []): Process
    {
        return new Process(
            [...$this->php($latch, $environment), "$this->directory/bin/console", ...explode(' ', $command)],
            $this->log(),
        );
    }

    /** A worker that handles so many messages, and then ends. */
    public function worker(bool $latch, int $messages = 1, string $transport = 'async'): Process
    {
        return $this->console($latch, "messenger:consume $transport --limit=$messages --sleep=0.01 -q");
    }

    /**
     * Its web server.
     *
     * @param array<string, string> $environment
     */
    public function web(bool $latch, array $environment = []): WebServer
    {
        return new WebServer($this->php($latch, $environment), "$this->directory/public", $this->log());
    }

    /**
     * A PHP program of a few words, where the packages of the application are; returns what it prints.
     */
    public function evaluate(bool $latch, string $code): string
    {
        $process = new Process(
            [...$this->php($latch), '-r', "require '$this->directory/vendor/autoload.php'; $code"],
            $this->log(),
        );

        return implode("\n", $process->finish());
    }

    /** A file from which nothing can be read before something was written; see SlowFile. */
    public function slowFile(): SlowFile
    {
        return new SlowFile("$this->directory/var/data/" . bin2hex(random_bytes(6)));
    }

    /**
     * The keys that are no message and not of a cache, on all of its Redis servers: those of locks. What Latch
     * keeps beside the locks stays for a while.
     *
     * @return list<string>
     */
    public function keysInRedis(): array
    {
        $keys = [];
        foreach ([$this->redis, ...$this->quorum] as $server) {
            array_push($keys, ...$server->command('KEYS', '*'));
        }

        return array_values(preg_grep('/^latch:|^symfony_check_|^messages|^.{10}:/', $keys, \PREG_GREP_INVERT));
    }

    /**
     * The lock files that somebody holds.
     *
     * @return list<string>
     */
    public function lockedFiles(): array
    {
        return array_values(array_filter(glob("$this->directory/var/lock/*"), static function (string $name): bool {
            $file = fopen($name, 'r');

            return !flock($file, \LOCK_EX | \LOCK_NB);
        }));
    }

    /** Of what the release of Symfony Lock that is installed makes the keys of semaphores. */
    public function semaphoreDigest(): string
    {
        $packages = (require "$this->directory/vendor/composer/installed.php")['versions'];

        return version_compare($packages['symfony/lock']['version'], '8.1', '>=') ? 'xxh64' : 'xxh128';
    }

    /**
     * The start of a command line: PHP with all that the application needs.
     *
     * @param array<string, string> $environment
     *
     * @return list<string>
     */
    private function php(bool $latch, array $environment = []): array
    {
        $this->processes++;
        $environment += $this->environment();
        $variables = [];
        foreach ($environment as $name => $value) {
            $variables[] = "$name=$value";
        }
        $options = ['-d', 'display_errors=stderr', '-d', 'error_reporting=-1', '-d', 'memory_limit=256M'];
        array_push($options, ...self::extensions(), ...$this->opcache());
        if ($latch) {
            array_push($options, '-d', 'extension=' . self::variable('LATCH_SO'), '-d', 'latch.symfony=1');
            array_push($options, '-d', 'latch.semaphore_digest=' . $this->semaphoreDigest());
        }

        return ['setpriv', '--pdeathsig', 'KILL', '--', 'env', '-i', ...$variables, \PHP_BINARY, '-n', ...$options];
    }

    /**
     * @return array<string, string>
     */
    private function environment(): array
    {
        return [
            'PATH' => (string) getenv('PATH'),
            'APP_SECRET' => 'never-told-1234',
            'APP_LOG' => $this->log(),
            'REDIS_URL' => $this->redis->dsn(),
            'MESSENGER_TRANSPORT_DSN' => $this->redis->dsn(),
            'MESSENGER_CONSUMER_NAME' => "consumer-$this->processes",
            'LOCK_DSN' => $this->redis->dsn(),
            'LOCK_FLOCK_DSN' => "flock://$this->directory/var/lock",
            'LOCK_SEMAPHORE_DSN' => 'semaphore',
            'LOCK_REDIS_DSN' => $this->redis->dsn(),
            'LOCK_DATABASE_DSN' => $this->database->dsn(),
            'LOCK_QUORUM_1_DSN' => $this->quorum[0]->dsn(),
            'LOCK_QUORUM_2_DSN' => $this->quorum[1]->dsn(),
            'LOCK_QUORUM_3_DSN' => $this->quorum[2]->dsn(),
        ];
    }

    /**
     * What the application needs and Debian has as shared objects; its redis needs igbinary.
     *
     * @return list<string>
     */
    private static function extensions(): array
    {
        $options = [];
        $names = ['ctype', 'iconv', 'mbstring', 'tokenizer', 'dom', 'xml', 'simplexml', 'posix', 'sysvsem',
            'igbinary', 'redis', 'pdo', 'pdo_pgsql'];
        foreach ($names as $name) {
            if (is_file(\PHP_EXTENSION_DIR . "/$name.so")) {
                array_push($options, '-d', "extension=$name");
            }
        }

        return $options;
    }

    /**
     * As servers have it; and the processes start in half the time. Nobody empties a server's caches when
     * switching Latch on: neither is this one, nor that of the container, apart.
     *
     * @return list<string>
     */
    private function opcache(): array
    {
        return ['-d', 'zend_extension=opcache', '-d', 'opcache.enable_cli=1',
            '-d', 'opcache.file_cache_only=1', '-d', "opcache.file_cache=$this->directory/var/opcache"];
    }

    /** The log of the process that was made last. */
    private function log(): string
    {
        return "$this->directory/var/log/$this->processes";
    }

    /** Copies, not links: the compiled container names files of the application's folder only. */
    private function installPackages(string $vendor): void
    {
        $this->run('cp', '-R', $vendor, "$this->directory/vendor");
        $this->run('cp', "$vendor/../composer.json", $this->directory);
    }

    private function run(string ...$command): void
    {
        exec(implode(' ', array_map(escapeshellarg(...), $command)) . ' 2>&1', $output, $status);
        if ($status !== 0) {
            throw new \RuntimeException(implode("\n", $output));
        }
    }

    private static function variable(string $name): string
    {
        return getenv($name) ?: throw new \RuntimeException("$name is not set.");
    }
}
