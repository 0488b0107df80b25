<?php

/*
 * slow_relay.php SERVER MS: passes on what comes, and what the server says so much later. Prints where it is.
 * Ends with who has started it.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

[, $server, $delay] = $argv;

// What is passed on is small, and not to wait for more.
$context = stream_context_create(['socket' => ['tcp_nodelay' => true]]);
$listener = stream_socket_server(
    'tcp://127.0.0.1:0',
    $number,
    $message,
    STREAM_SERVER_BIND | STREAM_SERVER_LISTEN,
    $context,
);
echo stream_socket_get_name($listener, false), "\n";

/** @var array<int, resource> $others the other end, by the number of each */
$others = [];
/** @var array<int, resource> $streams by their numbers */
$streams = [];
/** @var array<int, true> $servers the numbers of those to the server */
$servers = [];
/** @var list<array{int, resource, string}> $late when to pass on what, in this order */
$late = [];

while (true) {
    $pause = $late === [] ? null : max(0, intdiv($late[0][0] - hrtime(true), 1_000));
    [$read, $none] = [[$listener, ...$streams], null];
    stream_select($read, $none, $none, $pause === null ? null : 0, $pause);
    while ($late !== [] && $late[0][0] <= hrtime(true)) {
        [, $to, $data] = array_shift($late);
        if (is_resource($to)) {
            @fwrite($to, $data);
        }
    }
    foreach ($read as $from) {
        if ($from === $listener) {
            $client = stream_socket_accept($listener, 0);
            $peer = stream_socket_client($server, $number, $message, 5.0, STREAM_CLIENT_CONNECT, $context);
            foreach ([[$client, $peer], [$peer, $client]] as [$one, $other]) {
                $streams[get_resource_id($one)] = $one;
                $others[get_resource_id($one)] = $other;
            }
            $servers[get_resource_id($peer)] = true;
            continue;
        }
        $id = get_resource_id($from);
        if (!isset($others[$id])) {
            continue; // its other end has just gone
        }
        $to = $others[$id];
        $data = (string) fread($from, 1 << 16);
        if ($data === '') {
            foreach ([$from, $to] as $end) {
                $number = get_resource_id($end);
                unset($streams[$number], $others[$number], $servers[$number]);
                fclose($end);
            }
        } elseif (isset($servers[$id])) {
            $late[] = [hrtime(true) + $delay * 1_000_000, $to, $data];
        } else {
            fwrite($to, $data);
        }
    }
}
