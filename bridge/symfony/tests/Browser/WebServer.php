<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Browser;

use Latch\Tests\Program;

/**
 * The application with the profiler, served by PHP on a port of 127.0.0.1.
 */
final class WebServer extends Program
{
    public readonly string $url;

    /**
     * @param string $directory of the application
     * @param string $store     DSN
     */
    public function __construct(private readonly string $directory, string $store)
    {
        // Another process may take the port before the server does: then it ends, and says so.
        $place = stream_socket_server('tcp://127.0.0.1:0') ?: throw new \LogicException('There is no port.');
        $address = (string) stream_socket_get_name($place, false);
        fclose($place);
        $this->url = "http://$address";
        $log = ['file', "$directory/server.log", 'w'];
        $so = (string) getenv('LATCH_SO');
        $this->run(
            [
                'env', "LATCH_BROWSER_DIRECTORY=$directory", "LATCH_BROWSER_STORE=$store",
                \PHP_BINARY, '-d', "extension=$so", '-S', $address, __DIR__ . '/router.php',
            ],
            [['file', '/dev/null', 'r'], $log, $log],
        );
        $this->await(function (): bool {
            $this->expectLife($this->log());

            return str_contains($this->log(), 'started');
        });
    }

    /**
     * Begins a request.
     *
     * @return resource its answer
     */
    public function ask(string $path)
    {
        $address = substr($this->url, \strlen('http://'));
        $connection = stream_socket_client("tcp://$address") ?: throw new \LogicException('The server does not answer.');
        fwrite($connection, "GET $path HTTP/1.0\r\nHost: $address\r\n\r\n");

        return $connection;
    }

    /**
     * @return list<string> status and path of each request by now
     */
    public function requests(): array
    {
        return file("$this->directory/requests.log", \FILE_IGNORE_NEW_LINES) ?: [];
    }

    public function log(): string
    {
        return (string) file_get_contents("$this->directory/server.log");
    }
}
