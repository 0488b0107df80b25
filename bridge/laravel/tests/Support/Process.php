<?php

declare(strict_types=1);

namespace Latch\Laravel\Tests\Support;

use Latch\Tests\Program;
use Latch\Tests\RedisServer;

/**
 * A process of the application: app/process.php. It ends with PHPUnit, however that ends.
 */
final class Process extends Program
{
    /** @var array<string, true> of the locks that it has made */
    private array $owners = [];

    /**
     * @param list<string> $command
     * @param string       $errors      file
     * @param Application  $application whose folder is to stay as long as its processes
     */
    public function __construct(array $command, private readonly string $errors, private readonly Application $application)
    {
        $this->run($command, [['pipe', 'r'], ['pipe', 'w'], ['file', $errors, 'w']]);
    }

    /** What the code returns. */
    public function php(string $code, mixed ...$arguments): mixed
    {
        $this->begin($code, ...$arguments);

        return $this->finish()->result;
    }

    /** Makes a lock, of that name also for call(). */
    public function lock(string $name, float|int $seconds = 0, ?string $owner = null): void
    {
        $owner = $this->php('return ($locks[$arguments[0]] = Cache::lock(...$arguments))->owner();', $name, $seconds, $owner);
        $this->owners[$owner] = true;
    }

    /** Makes a lock and gets it, which must work. */
    public function take(string $name, float|int $seconds = 0, ?string $owner = null): void
    {
        $this->lock($name, $seconds, $owner);
        if ($this->call($name, 'get') !== true) {
            throw new \RuntimeException("The lock $name is not free");
        }
    }

    public function call(string $name, string $method, mixed ...$arguments): mixed
    {
        $this->beginCall($name, $method, ...$arguments);

        return $this->finish()->result;
    }

    public function beginCall(string $name, string $method, mixed ...$arguments): void
    {
        $this->begin('[$name, $method] = array_splice($arguments, 0, 2); return $locks[$name]->$method(...$arguments);',
            $name, $method, ...$arguments);
    }

    /** Tells it, without awaiting the answer. */
    public function begin(string $code, mixed ...$arguments): void
    {
        fwrite($this->pipes[0], json_encode([$code, $arguments], \JSON_THROW_ON_ERROR) . "\n");
    }

    /**
     * Its answer; what the code throws is thrown here, with its trace.
     *
     * @param float|null $patience seconds after which it is taken not to answer
     */
    public function finish(?float $patience = null): Answer
    {
        $answer = $this->outcome($patience);
        if ($answer->error !== null) {
            throw new \RuntimeException("$answer->error: $answer->message\n$answer->trace");
        }

        return $answer;
    }

    public function hasAnswered(): bool
    {
        $read = [$this->pipes[1]];
        $none = null;

        return stream_select($read, $none, $none, 0) === 1;
    }

    /** The same as finish(), but what the code throws is an answer, too. */
    public function outcome(?float $patience = null): Answer
    {
        $read = [$this->pipes[1]];
        $none = null;
        $answers = stream_select($read, $none, $none, (int) ($patience ?? self::patience()));
        $line = $answers ? fgets($this->pipes[1]) : false;
        $answer = $line === false ? null : json_decode($line, true);
        if ($answer === null) {
            throw new \RuntimeException(($answers ? "It said \"$line\": " : 'It does not answer: ')
                . file_get_contents($this->errors));
        }

        return new Answer($answer['result'] ?? null, $answer['error'] ?? null, $answer['message'] ?? '', $answer['trace'] ?? '',
            $answer['begun'], $answer['ended']);
    }

    /** Waits until it stands in a queue, of this machine or in Redis. */
    public function awaitQueued(): void
    {
        $server = $this->application->driver->server();
        if ($server instanceof RedisServer) {
            $this->await(fn (): bool => $this->isQueuedIn($server));

            return;
        }
        // Without a place the file is open, too.
        $this->await(fn (): bool => $this->openFiles('~/queues/~', 'lock:') !== []);
    }

    /** Waits until it has that file open. */
    public function awaitOpen(string $path): void
    {
        $this->await(fn (): bool => $this->openFiles('~^' . preg_quote($path, '~') . '$~', '') !== []);
    }

    /** By the owners of its locks, which the waiters in Redis are known by. */
    private function isQueuedIn(RedisServer $server): bool
    {
        foreach ($server->command('KEYS', '*latch:string-queue:*') as $key) {
            foreach ($server->command('ZRANGE', $key, 0, -1) as $waiter) {
                foreach ($this->owners as $owner => $_) {
                    if (str_contains($waiter, (string) $owner)) {
                        return true;
                    }
                }
            }
        }

        return false;
    }

    /**
     * @param string $pattern regular expression for the path
     * @param string $text    that the kernel says about it
     *
     * @return list<string>
     */
    private function openFiles(string $pattern, string $text): array
    {
        $links = glob("/proc/{$this->pid()}/fd/*") ?: [];

        return array_values(array_filter($links, static fn (string $link): bool => preg_match($pattern, (string) @readlink($link)) === 1
            && str_contains((string) @file_get_contents(str_replace('/fd/', '/fdinfo/', $link)), $text)));
    }
}
