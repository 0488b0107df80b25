--TEST--
RedisStore: what is no Redis server is found out, in time, and is not talked to any further
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\{Key, Lock};
use Latch\Store\RedisStore;

/** A server that says this to whoever connects and talks; it counts its guests. */
function strange_server(string $text, bool $hangs_up): array
{
    $listener = stream_socket_server('tcp://127.0.0.1:0');
    $port = (int) substr(strrchr(stream_socket_get_name($listener, false), ':'), 1);
    $child = fork(function (ParentLine $parent) use ($listener, $text, $hangs_up) {
        for ($guests = 1; ; $guests++) {
            $guest = stream_socket_accept($listener, -1);
            if ($guest === false || !is_string(fread($guest, 1))) {
                continue;
            }
            $parent->say("guest $guests");
            fwrite($guest, $text);
            if ($hangs_up) {
                fclose($guest);
            }
            $kept[] = $guest;
        }
    });
    return [$port, $child];
}

foreach ([
    'HTTP' => "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n\r\nno\r\n",
    'SSH' => "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n",
    'zeros' => str_repeat("\0", 1000),
    'a long line' => '+' . str_repeat('x', 1 << 20),
    'a long answer' => '$1000000000' . "\r\n" . str_repeat('x', 1 << 20),
    'a long array' => '*1000000000' . "\r\n",
    'a deep array' => str_repeat("*1\r\n", 100000),
    'another type' => "+OK\r\n",
    'an array' => "*2\r\n:1\r\n:2\r\n",
    'an error' => "-ERR I am something else\r\n",
    'a number that is none' => ":abc\r\n",
    'a negative length' => "\$-7\r\n",
    'two answers' => "-ERR one\r\n-ERR two\r\n",
    'half an answer' => "\$16\r\n17",
    'silence' => '',
] as $name => $text) {
    foreach ([false, true] as $hangs_up) {
        $case = $name . ($hangs_up ? ', and it hangs up' : '');
        [$port, $child] = strange_server($text, $hangs_up);
        $store = new RedisStore("redis://127.0.0.1:$port?read_timeout=0.2");
        for ($try = 1; $try <= 2; $try++) {
            foreach (['acquire' => [], 'acquireRead' => [], 'acquire in vain' => [true, 0.1]] as $method => $arguments) {
                $lock = new Lock(new Key('r'), $store);
                $outcome = attempt(fn () => $lock->{strtok($method, ' ')}(...$arguments), $case);
                check($outcome === 'throws' || ($outcome === false && $arguments !== []), "$case: $method() is in vain");
                check(!$lock->isHeld(), "$case: nothing is held");
            }
        }
        $child->hear_exactly('guest 1');
        unset($lock, $store);
        $child->kill();
        $child->ending();
    }
}
echo "done\n";
--EXPECT--
done
