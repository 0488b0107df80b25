--TEST--
A child that is forked in the middle of an acquire leaves its parent's members alone, and has those that it took itself; a process that ends there leaves none
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_multi_lock.inc';

use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

const COUNT = 100; // in two round trips

/* By a store that is written in PHP: the child ends in the middle of it. */
foreach ([true, false] as $auto_release) {
    foreach (['exits' => fn () => exit(0), 'throws' => fn () => throw new DomainException('in the child')] as $what => $end) {
        $php = new RecordingStore(temporary_directory());
        $main = getmypid();
        $php->before = function (string $call, Latch\Key $key) use ($php, $main, $end) {
            if ($call !== 'save' || (string) $key !== 'b' || getmypid() !== $main) {
                return;
            }
            $php->before = null;
            $pid = pcntl_fork();
            if ($pid === 0) {
                $end();
            }
            pcntl_waitpid($pid, $status);
        };
        $multi = multi_lock($php, ['a', 'b', 'c'], 300.0, $auto_release);
        $said = outcome($multi->acquire(...));
        if (getmypid() !== $main) {
            exit(0);
        }
        $case = "a child that $what, " . ($auto_release ? 'released automatically' : 'by hand');
        check_same('true', $said, "$case: the parent has acquired");
        check($php->is_locked('a') && $multi->isHeld() && $multi->isAcquired(), "$case: the parent holds all");
        $multi->release();
    }
}

/* By a signal handler, when the first members are held and the replies about the others are on their way. */
$server = new RedisServer();
$names = array_map(fn (int $number) => sprintf('r%03d', $number), range(1, COUNT));
$gate = temporary_directory() . '/closed'; // while it exists the replies about the last member are kept back
$listener = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($listener, false);
$relay = fork(function (ParentLine $parent) use ($listener, $server, $gate, $names) {
    $far_of = [];
    while (!feof($parent->leash)) {
        $read = [$listener, $parent->leash, ...array_merge(...array_values($far_of) ?: [[]])];
        $none = null;
        stream_select($read, $none, $none, null);
        foreach ($read as $ready) {
            if ($ready === $listener) {
                $far_of[] = [stream_socket_accept($listener), stream_socket_client("tcp://127.0.0.1:$server->port")];
                continue;
            }
            if ($ready === $parent->leash) {
                fread($ready, 1);
            }
            foreach ($far_of as $number => [$client, $far]) {
                if ($ready !== $client && $ready !== $far) {
                    continue;
                }
                $text = fread($ready, 1 << 20);
                if ($text === '' || $text === false) {
                    unset($far_of[$number]);
                } elseif ($ready === $client) {
                    fwrite($far, $text);
                } else {
                    while (file_exists($gate) && !$server->lacks(end($names))) {
                        usleep(1000);
                        clearstatcache();
                    }
                    fwrite($client, $text);
                }
            }
        }
    }
    return 0;
});
$direct = new RedisStore($server->dsn());
pcntl_async_signals(true);

/** Its acquire is interrupted by $handler as soon as the server has granted the last member. */
$interrupted = function (Latch\MultiLock $multi, callable $handler) use ($server, $names, $gate): string {
    $main = getmypid();
    touch($gate);
    $signaller = fork(function () use ($server, $names, $main) {
        wait_until(fn () => !$server->lacks(end($names)), 'the last member is granted');
        posix_kill($main, SIGUSR1);
        return 0;
    });
    pcntl_signal(SIGUSR1, function () use ($handler, $gate) {
        unlink($gate);
        $handler();
    });
    $said = outcome($multi->acquire(...));
    if (getmypid() === $main) {
        $signaller->ending();
    }
    return $said;
};

foreach ([true, false] as $auto_release) {
    $case = $auto_release ? 'released automatically' : 'by hand';
    $multi = multi_lock(new RedisStore("redis://$address"), $names, 300.0, $auto_release);
    $said = $interrupted($multi, function () {
        $pid = pcntl_fork();
        if ($pid === 0) {
            exit(0);
        }
        pcntl_waitpid($pid, $status);
    });
    check_same('true', $said, "$case, the child exits: the parent has acquired");
    check($multi->isHeld() === $auto_release && $multi->isAcquired(), "$case, the child exits: the parent holds all");
    check_same('', free_ones($direct, ...$names), "$case, the child exits: nobody else can have one");
    $multi->release();
}

/* A process that ends there leaves nothing. */
foreach (['exits' => fn () => exit(0), 'fails' => fn () => @trigger_error('the end', E_USER_ERROR)] as $what => $end) {
    foreach ([true, false] as $auto_release) {
        $child = fork(function () use ($address, $names, $auto_release, $interrupted, $end) {
            $interrupted(multi_lock(new RedisStore("redis://$address"), $names, 300.0, $auto_release), $end);
            return 1;
        });
        check_same($what === 'exits' ? 'exit 0' : 'exit 255', $child->ending(), "it $what");
        check_same(implode(' ', $names), free_ones($direct, ...$names), "it $what: " . ($auto_release ? 'automatic' : 'by hand'));
    }
}

/* The child goes on, while the parent gives up. */
$pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$main = getmypid();
$multi = multi_lock(new RedisStore("redis://$address"), $names);
$said = $interrupted($multi, function () use ($main, $pair) {
    if (pcntl_fork() === 0) {
        fclose($pair[0]);
        fgets($pair[1]);
    } else {
        throw new DomainException('the parent gives up');
    }
});
if (getmypid() !== $main) {
    fwrite($pair[1], "$said " . ($multi->isHeld() ? 'holds' : 'does not hold') . "\n");
    fgets($pair[1]);
    exit(0);
}
fclose($pair[1]);
check_same('DomainException: the parent gives up', $said, 'the parent');
/* The server seemed to be silent: some of the releases come with the next request. */
wait_until(function () use ($address, $direct, $names): bool {
    multi_lock(new RedisStore("redis://$address"), ['next'])->acquire();
    return free_ones($direct, ...$names) === implode(' ', $names);
}, 'the parent holds nothing');
fwrite($pair[0], "go on\n");
check_same('true holds', trim((string) fgets($pair[0])), 'the child has acquired members of its own');
check_same('', free_ones($direct, ...$names), 'all of them');
fwrite($pair[0], "end\n");
pcntl_wait($status);
wait_until(fn () => free_ones($direct, ...$names) === implode(' ', $names), 'and releases them at its end');
$relay->kill();
echo "done\n";
--EXPECT--
done
