<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Closure;
use RuntimeException;

/**
 * A socket before that of a database server, which passes on what comes and counts it: what a client writes
 * at once, before it awaits an answer, is a request.
 */
final class Relay
{
    private const PATIENCE = 20;

    public readonly SqlAddress $address;
    /** @var resource */
    private $socket;

    /** @param string $folder that is empty and stays until the end */
    public function __construct(private readonly SqlAddress $server, string $folder)
    {
        $this->address = $server->through($folder);
        $path = $this->address->socket();
        $this->socket = stream_socket_server("unix://$path") ?: throw new RuntimeException("No socket $path.");
    }

    /**
     * What is sent for one iteration.
     *
     * @param Closure(): (Closure(int): mixed) $begin makes a connection; the result runs so many iterations
     *
     * @return array{requests: float, bytes: float}
     */
    public function countEach(Closure $begin, int $iterations): array
    {
        // What is sent at the beginning and at the end is in both.
        $few = $this->count(static fn (): mixed => $begin()($iterations));
        $many = $this->count(static fn (): mixed => $begin()(2 * $iterations));

        return [
            'requests' => ($many['requests'] - $few['requests']) / $iterations,
            'bytes' => ($many['bytes'] - $few['bytes']) / $iterations,
        ];
    }

    /**
     * What a process sends that runs this, on the one connection that it makes.
     *
     * @param Closure(): mixed $run
     *
     * @return array{requests: int, bytes: int}
     */
    public function count(Closure $run): array
    {
        $child = Child::start(static fn (): mixed => $run());
        $client = stream_socket_accept($this->socket, self::PATIENCE)
            ?: throw new RuntimeException('Nobody has come.');
        $server = stream_socket_client('unix://' . $this->server->socket());
        $sent = ['requests' => 0, 'bytes' => 0];
        do {
            [$read, $none] = [[$client, $server], null];
            if (stream_select($read, $none, $none, self::PATIENCE) === 0) {
                throw new RuntimeException('Nobody says anything.');
            }
            foreach ($read as $from) {
                $data = (string) fread($from, 1 << 16);
                fwrite($from === $client ? $server : $client, $data);
                if ($from === $client && $data !== '') {
                    ++$sent['requests'];
                    $sent['bytes'] += strlen($data);
                }
            }
        } while (!feof($client) && !feof($server));
        fclose($client);
        fclose($server);
        $child->join();

        return $sent;
    }
}
