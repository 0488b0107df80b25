<?php

declare(strict_types=1);

namespace Latch\Tests\Support;

use Latch\Key;
use Latch\Semaphore\Key as SemaphoreKey;

/**
 * Another process with locks, driven through pipes; see peer/locks.php.
 */
final class Peer
{
    /** Debian has them as shared objects; one that needs another comes after it. */
    private const SHARED = [
        'posix', 'sysvsem', 'igbinary', 'redis', 'msgpack', 'memcached',
        'mysqlnd', 'pdo', 'pdo_mysql', 'pdo_pgsql', 'pdo_sqlite',
    ];

    /** @var resource */
    private $process;

    /** @var array<int, resource> */
    private array $pipes = [];

    private string $buffer = '';

    /**
     * @param list<string> $options for PHP
     */
    private function __construct(
        array $options,
        string $autoload,
        string $directory,
        private readonly bool $isOwn = false,
    ) {
        $command = [...self::php($options), __DIR__ . '/../peer/locks.php', $autoload, $directory];
        $process = proc_open($command, [['pipe', 'r'], ['pipe', 'w']], $this->pipes);
        if ($process === false) {
            throw new \RuntimeException('Cannot start ' . implode(' ', $command));
        }
        $this->process = $process;
    }

    /** A process in the mode of this one. */
    public static function own(string $directory): self
    {
        return new self(self::extension(), __DIR__ . '/../autoload.php', $directory, true);
    }

    /** A process on the newest pure PHP Symfony. */
    public static function symfony(string $directory): self
    {
        return new self([], __DIR__ . '/../autoload.php', $directory);
    }

    /** A process on Debian's Symfony 5.4; LATCH_DEBIAN_LOCK names its autoload.php. */
    public static function debian(string $directory): self
    {
        $autoload = getenv('LATCH_DEBIAN_LOCK');
        if ($autoload === false) {
            throw new \RuntimeException('LATCH_DEBIAN_LOCK must name the autoload.php of php-symfony-lock.');
        }

        return new self([], $autoload, $directory);
    }

    /** A process on pure PHP Symfony 6.4; LATCH_SYMFONY_6 names its vendor folder. */
    public static function symfony6(string $directory): self
    {
        $vendor = getenv('LATCH_SYMFONY_6');
        if ($vendor === false) {
            throw new \RuntimeException('LATCH_SYMFONY_6 must name the vendor folder with symfony/lock 6.4.');
        }

        return new self([], "$vendor/autoload.php", $directory);
    }

    /** A process on pure PHP Symfony 8; LATCH_SYMFONY_8 names its vendor folder. */
    public static function symfony8(string $directory): self
    {
        $vendor = getenv('LATCH_SYMFONY_8');
        if ($vendor === false) {
            throw new \RuntimeException('LATCH_SYMFONY_8 must name the vendor folder with symfony/lock 8.');
        }

        return new self([], "$vendor/autoload.php", $directory);
    }

    /** A process on Symfony's Semaphore 5.4; LATCH_SEMAPHORE_5 names its autoload.php. */
    public static function semaphore5(string $directory): self
    {
        return self::semaphore('LATCH_SEMAPHORE_5', $directory);
    }

    /** A process on Symfony's Semaphore 7.4; LATCH_SEMAPHORE_7 names its autoload.php. */
    public static function semaphore7(string $directory): self
    {
        return self::semaphore('LATCH_SEMAPHORE_7', $directory);
    }

    /** A process on Symfony's Semaphore and Lock 8.1; LATCH_SEMAPHORE_8 names the autoload.php of the former. */
    public static function semaphore8(string $directory): self
    {
        return self::semaphore('LATCH_SEMAPHORE_8', $directory);
    }

    private static function semaphore(string $variable, string $directory): self
    {
        $autoload = getenv($variable);
        if ($autoload === false) {
            throw new \RuntimeException("$variable must name the autoload.php of php-symfony-semaphore.");
        }

        return new self([], $autoload, $directory);
    }

    /**
     * The command that runs a PHP like this one, but without any extension that is not asked for.
     *
     * @param list<string> $options
     *
     * @return list<string>
     */
    public static function php(array $options = []): array
    {
        $shared = [];
        foreach (self::SHARED as $name) {
            if (is_file(\PHP_EXTENSION_DIR . "/$name.so")) {
                array_push($shared, '-d', "extension=$name");
            }
        }
        $errors = ['-d', 'display_errors=stderr', '-d', 'error_reporting=-1'];

        return [\PHP_BINARY, '-n', ...$errors, ...$shared, ...$options];
    }

    /**
     * The options that load the extension as it is loaded here; none in oracle mode.
     *
     * @return list<string>
     */
    public static function extension(): array
    {
        if (Subject::mode() === 'oracle') {
            return [];
        }
        $file = getenv('LATCH_SO') ?: \dirname(__DIR__, 3) . '/modules/latch.so';

        return [
            '-d', "extension=$file",
            '-d', 'latch.symfony=' . \ini_get('latch.symfony'),
            '-d', 'latch.symfony_semaphore=' . \ini_get('latch.symfony_semaphore'),
        ];
    }

    /**
     * Has the peer do something and returns its answer.
     *
     * @throws \RuntimeException with "Class: message" of what the peer caught
     */
    public function do(string $command, mixed ...$arguments): mixed
    {
        $this->ask($command, ...$arguments);

        return $this->answer();
    }

    /**
     * Has the peer do something whose answer is fetched later.
     */
    public function ask(string $command, mixed ...$arguments): void
    {
        fwrite($this->pipes[0], json_encode([$command, ...$arguments], \JSON_THROW_ON_ERROR) . "\n");
    }

    public function answer(float $limit = Wait::LIMIT): mixed
    {
        $end = microtime(true) + $limit;
        while (!str_contains($this->buffer, "\n")) {
            $read = [$this->pipes[1]];
            $none = null;
            $left = max(0.0, $end - microtime(true));
            if (!stream_select($read, $none, $none, (int) $left, (int) (fmod($left, 1) * 1e6))) {
                throw new \RuntimeException("The peer has not answered for $limit s.");
            }
            $data = fread($this->pipes[1], 65536);
            if ($data === '' || $data === false) {
                throw new \RuntimeException('The peer has gone.');
            }
            $this->buffer .= $data;
        }
        [$line, $this->buffer] = explode("\n", $this->buffer, 2);
        $answer = json_decode($line, true, 16, \JSON_THROW_ON_ERROR);

        return \array_key_exists('thrown', $answer)
            ? throw new \RuntimeException($answer['thrown'])
            : $answer['returned'];
    }

    /** A key, for the peer to take over: under Latch's names its class is the only difference to Symfony's. */
    public function pack(Key|SemaphoreKey $key): string
    {
        [$symfony, $latch] = self::namespaces($key instanceof SemaphoreKey);

        return base64_encode($this->renamed(serialize($key), $latch, $symfony));
    }

    /** The key that the peer hands over. */
    public function unpack(string $packed): Key
    {
        return $this->unserialized($packed, false);
    }

    /** The semaphore's key that the peer hands over. */
    public function unpackPermits(string $packed): SemaphoreKey
    {
        return $this->unserialized($packed, true);
    }

    private function unserialized(string $packed, bool $isSemaphore): mixed
    {
        [$symfony, $latch] = self::namespaces($isSemaphore);

        return unserialize($this->renamed((string) base64_decode($packed, true), $symfony, $latch));
    }

    /**
     * @return array{string, string} Symfony's, Latch's
     */
    private static function namespaces(bool $isSemaphore): array
    {
        return $isSemaphore
            ? [Subject::SYMFONY_SEMAPHORE, Subject::LATCH . 'Semaphore\\']
            : [Subject::SYMFONY, Subject::LATCH];
    }

    private function renamed(string $text, string $from, string $to): string
    {
        if ($this->isOwn || Subject::mode() !== 'latch') {
            return $text;
        }
        // Older releases have it in the names of its properties, too.
        return (string) preg_replace_callback(
            '/([Os]):\d+:"(\0?)' . preg_quote($from . 'Key', '/') . '(\0\w+|)"/',
            static fn (array $match): string => sprintf(
                '%s:%d:"%s"',
                $match[1],
                \strlen($class = $match[2] . $to . 'Key' . $match[3]),
                $class,
            ),
            $text,
        );
    }

    public function pid(): int
    {
        return proc_get_status($this->process)['pid'];
    }

    public function kill(): void
    {
        proc_terminate($this->process, \SIGKILL);
        $this->__destruct();
    }

    public function __destruct()
    {
        if (\is_resource($this->process)) {
            proc_terminate($this->process, \SIGKILL);
            array_map(fclose(...), $this->pipes);
            proc_close($this->process);
        }
    }
}
