<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyApp;

use Latch\Tests\Program;
use Latch\Tests\SqlServer;

/**
 * The application on PHP's own web server: one process, from request to request.
 */
final class WebServer extends Program
{
    private readonly int $port;

    /** @var resource bound to the port */
    private $place;

    /**
     * @param list<string> $php
     */
    public function __construct(array $php, string $root, private readonly string $log)
    {
        [$this->place, $this->port] = SqlServer::choosePort();
        $streams = [['file', '/dev/null', 'r'], ['file', "$log.errors", 'w'], ['file', "$log.errors", 'a']];
        $this->run([...$php, '-S', "127.0.0.1:$this->port", '-t', $root], $streams);
        $this->await(function () use ($log): bool {
            $this->expectLife((string) file_get_contents("$log.errors"));
            $connection = @stream_socket_client("tcp://127.0.0.1:$this->port", $number, $message, 1.0);

            return $connection !== false && fclose($connection);
        });
    }

    /** The status and the text of its answer. */
    public function post(string $path): string
    {
        $context = stream_context_create(
            ['http' => ['method' => 'POST', 'ignore_errors' => true, 'timeout' => self::patience()]],
        );
        $text = file_get_contents("http://127.0.0.1:$this->port$path", false, $context);
        preg_match('/^\S+ (\d+)/', $http_response_header[0] ?? '', $match);

        return ($match[1] ?? 'no status') . ": $text";
    }

    /**
     * What it has logged; see Log.
     *
     * @return list<string>
     */
    public function log(): array
    {
        return Log::lines($this->log);
    }
}
