<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

use Latch\Tests\Certificates;
use Latch\Tests\Fault\Broken\Table;
use Latch\Tests\Fault\Record\Faults;
use Latch\Tests\Fault\Record\Leftovers;
use Latch\Tests\Fault\Record\Writer;
use Latch\Tests\Fault\Worker\Worker;
use Latch\Tests\RedisClusterServers;
use Latch\Tests\RedisServer;
use Latch\Tests\RedisTrio;
use Random\Engine\Mt19937;
use Random\Randomizer;

require_once \dirname(__DIR__, 3) . '/utils/certificates.inc';
require_once \dirname(__DIR__, 3) . '/utils/redis_cluster.inc';
require_once \dirname(__DIR__, 3) . '/utils/redis_sentinel.inc';

/**
 * Lets workers contend, disturbs them, and leaves their records in a folder.
 */
final class Run
{
    /** How the names of those begin that look at the end whether all is free. */
    public const PROBE = 'probe-';
    /** Seconds after which a worker that was told to end has hung. */
    private const PATIENCE = 30;
    /** So much of what a worker said is repeated. */
    private const SAID = 1000;
    /** After so many crashes there is no point in going on. */
    private const ENOUGH = 5;
    /** Of a quorum. */
    private const MEMBERS = 3;

    private readonly Writer $records;
    /** @var list<RedisServer> one, or the members of a quorum */
    private readonly array $servers;
    /** Of which one is the master. */
    private readonly ?RedisTrio $trio;
    /** With which its servers speak TLS. */
    private readonly ?Certificates $certificates;
    /** Of which three are masters, and their slots move. */
    private readonly ?RedisClusterServers $cluster;
    private ?Failovers $failovers = null;
    private ?Shards $shards = null;
    private readonly ?Database $database;
    /** Of a table. */
    private readonly ?Rows $rows;
    /** @var array<string, Process> those that run, by their names */
    private array $workers = [];
    private int $started = 0;
    /** When workers began to contend. */
    private int $start = 0;
    public int $granted = 0;
    /** Answers that workers recorded which have ended. */
    private int $answered = 0;
    /** How long workers contended, in seconds. */
    public float $seconds = 0.0;
    private int $crashes = 0;
    /** Unexpected output of workers. */
    public string $errors = '';

    /** @param string $directory an empty one */
    public function __construct(private readonly Options $options, private readonly string $directory)
    {
        $this->records = new Writer("$directory/" . Faults::FILE);
        $asksServers = $options->latch + $options->symfony + $options->laravel + $options->keepers > 0 || $options->primitive !== null;
        $this->servers = $asksServers ? $this->serve("$directory/users") : [];
        $this->certificates = $options->tls ? new Certificates() : null;
        $this->trio = $options->store === 'sentinel'
            ? new RedisTrio($this->know("$directory/users") + ($this->certificates?->options() ?? []))
            : null;
        $this->cluster = $options->store === 'cluster' ? $this->cluster() : null;
        $this->database = $options->isDatabase() || ($options->isTable() && $options->store !== 'table-sqlite')
            ? new Database(str_ends_with($options->store, 'postgresql'), $this->users(), $options->isTable())
            : null;
        mkdir("$directory/locks");
        $this->rows = $options->isTable()
            ? new Rows($options->layout, $this->database?->dsn(Rows::USER) ?? "sqlite:$directory/locks/table")
            : null;
    }

    /** @return bool whether there were as many acquisitions as were asked for */
    public function play(): bool
    {
        $this->start = $start = (int) hrtime(true);
        $end = $start + $this->options->limit * 1_000_000_000;
        $this->failovers = $this->trio !== null ? new Failovers($this->trio, $this->records) : null;
        $this->shards = $this->cluster !== null ? $this->shards($this->cluster) : null;
        $chaos = $this->options->faults
            ? new Chaos(
                $this->options->seed,
                $this->options->pause,
                $this->records,
                str_starts_with($this->options->store, 'redis') ? $this->servers[0] ?? null : null,
                $this->database,
                $this->options->store === 'quorum'
                    ? new Members($this->servers, $this->records, $this->options->keepers > 0)
                    : null,
                // It is stopped with the table locked.
                $this->options->broken?->handsOver() !== true,
                $this->options->broken?->keeps() === true,
                $this->options->keepers > 0 && $this->servers !== [] ? new Silence($this->servers, $this->records) : null,
                $this->failovers,
                $this->shards,
                $this->rows !== null,
            )
            : null;
        $watchmen = new Watchmen("$this->directory/" . Faults::FILE);
        do {
            $this->fill();
            $chaos?->strike($this->workers);
            $this->count();
            $this->reap();
            usleep(1000);
        } while (!$this->isEnough() && $this->crashes < self::ENOUGH && hrtime(true) < $end);

        $this->seconds = (hrtime(true) - $start) / 1e9;
        $chaos?->continueStopped($this->workers);
        $leftovers = new Writer("$this->directory/" . Leftovers::FILE);
        $this->terminate();
        if ($this->database?->isTable === false) {
            $this->lookAtSessions($this->database, $leftovers);
            $this->terminate();
        }
        $this->join();
        $watchmen->dismiss();
        $this->lookAtQueues($leftovers);
        $this->probe();
        $this->lookAtKeys($leftovers);

        return $this->isEnough() && !($this->options->reshardOnly && \in_array(0, $this->redirections(), true));
    }

    /** @return array<string, int> how often the servers of a cluster have answered that a lock is elsewhere */
    public function redirections(): array
    {
        $counts = [];
        foreach ($this->cluster === null ? [] : ['MOVED', 'ASK', 'TRYAGAIN'] as $error) {
            $counts[$error] = $this->cluster->countErrors($error);
        }

        return $counts;
    }

    /** How many calls of any kind were answered, but those of locks beside a multi-lock. */
    public function operations(): int
    {
        return $this->answered + array_sum(array_map(
            self::operationsOf(...),
            $this->workers,
        ));
    }

    private static function operationsOf(Process $worker): int
    {
        return $worker->kind === 'latch' ? 0 : $worker->answers;
    }

    private function isEnough(): bool
    {
        return $this->granted >= $this->options->acquisitions && $this->operations() >= $this->options->operations
            && hrtime(true) >= $this->start + $this->options->seconds * 1_000_000_000
            && ($this->failovers?->count ?? $this->shards?->failovers ?? 0) >= $this->options->failovers
            && ($this->shards?->moves ?? 0) >= $this->options->moves;
    }

    /**
     * Servers that know each worker by a name, to cut off one of them.
     *
     * @return list<RedisServer>
     */
    private function serve(string $users): array
    {
        [$count, $options] = match ($this->options->store) {
            'redis', 'redis-string' => [1, []],
            // What a member has promised it must remember. It is only killed: what it has written the kernel has,
            // and to wait for the disk may take longer than its clients are patient.
            'quorum' => [self::MEMBERS, ['appendonly' => 'yes', 'appendfsync' => 'no']],
            default => [0, []],
        };
        if ($count === 0) {
            return [];
        }
        $servers = [];
        while (\count($servers) < $count) {
            $servers[] = new RedisServer($this->know($users) + $options);
        }

        return $servers;
    }

    private function cluster(): RedisClusterServers
    {
        // Where nothing may be lost, nothing is replaced because the machine has too much to do.
        $calm = ['cluster-node-timeout' => '5000', 'cluster-replica-no-failover' => 'yes'];
        $options = $this->options->reshardOnly ? $calm : [];

        return new RedisClusterServers(3, true, $options + ($this->certificates?->options() ?? []));
    }

    private function shards(RedisClusterServers $cluster): Shards
    {
        $chance = new Randomizer(new Mt19937($this->options->seed + 1)); // what workers suffer is decided by others

        return new Shards($cluster, $this->resources(), $this->records, $chance, $this->options->reshardOnly);
    }

    /** @return array<string, string> of redis.conf, by which a server knows each worker by a name */
    private function know(string $file): array
    {
        // Before Redis 6.2 there are no rules for channels.
        $rules = (new RedisServer())->isBefore('6.2') ? '~* +@all' : '~* &* +@all';
        file_put_contents($file, implode('', array_map(
            static fn (string $name): string => "user $name on nopass $rules\n",
            ['default', ...$this->users()],
        )));

        return ['aclfile' => $file];
    }

    /** @return list<RedisServer> those in which locks are */
    private function masters(): array
    {
        return match (true) {
            $this->trio !== null => [$this->trio->awaitMaster()],
            $this->cluster !== null => array_values(array_filter(
                $this->cluster->servers(),
                $this->cluster->isMaster(...),
            )),
            default => $this->servers,
        };
    }

    /** @return list<string> the workers' names for the server */
    private function users(): array
    {
        $names = [];
        foreach ($this->options->kinds() as $kind => $wanted) {
            for ($slot = 0; $slot < $wanted; ++$slot) {
                $names[] = Process::userIn($kind, $slot);
            }
        }
        if ($this->options->isTable()) {
            $names[] = Rows::USER;
        }

        return $names;
    }

    /** Starts workers until there are as many of each kind as there shall be. */
    private function fill(): void
    {
        foreach ($this->options->kinds() as $kind => $wanted) {
            $there = [];
            foreach ($this->workers as $worker) {
                $there[$worker->kind][$worker->slot] = true;
            }
            for ($slot = 0; $slot < $wanted; ++$slot) {
                if (!isset($there[$kind][$slot])) {
                    $resources = $this->resources($this->options->groupOf($kind, $slot));
                    $this->start($kind, $slot, sprintf('%s-%03d', $kind, ++$this->started), $resources, 'run');
                }
            }
        }
    }

    /** @return list<string> those of one group, or of all */
    private function resources(?int $group = null): array
    {
        $names = [];
        for ($number = 0; $number < $this->options->resources; ++$number) {
            if ($group === null || $number % $this->options->groups === $group) {
                $names[] = 'resource-' . ($number + 1);
            }
        }

        return $names;
    }

    /** @param list<string> $resources */
    private function start(string $kind, int $slot, string $name, array $resources, string $what): void
    {
        $arguments = [
            $this->where($kind, $slot), implode(',', $resources), (string) ($this->options->seed + $this->started),
        ];
        $php = $this->php($kind);
        $this->workers[$name] = new Process($name, $kind, $slot, $php, $arguments, $this->directory, $what);
    }

    private function where(string $kind, int $slot): string
    {
        if ($this->rows !== null) {
            return $this->rows->place($this->options, $this->database?->dsn(Process::userIn($kind, $slot)));
        }
        if ($this->database !== null) {
            return $this->database->dsn(Process::userIn($kind, $slot));
        }
        if ($this->trio !== null) {
            return $this->trio->dsn('', Process::userIn($kind, $slot) . ':any@');
        }
        if ($this->cluster !== null) {
            return $this->cluster->dsn();
        }
        $isPrimitive = Primitive::tryFrom($kind) !== null;
        if ($this->servers === [] || !$isPrimitive && !\in_array($kind, ['latch', 'keeper', 'symfony', 'laravel'], true)) {
            return "$this->directory/locks";
        }
        $login = Process::userIn($kind, $slot) . ':any@';
        $dsns = array_map(static fn (RedisServer $server): string => $server->dsn('', $login), $this->servers);

        return match (true) {
            $this->options->store === 'quorum' => 'quorum:' . implode(',', $dsns),
            $this->options->store === 'redis-string' && $kind !== 'laravel' => str_replace('redis:', 'redis+string:', $dsns[0]),
            default => implode(',', $dsns),
        };
    }

    /** @return list<string> */
    private function php(string $kind): array
    {
        $extensions = match (true) {
            str_ends_with($this->options->store, 'postgresql') => ['pdo', 'pdo_pgsql'],
            str_ends_with($this->options->store, 'mysql') => ['mysqlnd', 'pdo', 'pdo_mysql'],
            $this->rows !== null => ['pdo', 'pdo_sqlite'],
            $kind === 'symfony' && $this->servers !== [], $kind === 'object', $kind === 'laravel' => ['igbinary', 'redis'],
            default => [],
        };
        if ($this->rows !== null && $kind === 'laravel') {
            $extensions[] = 'mbstring';
        }
        if (\in_array($kind, ['latch', 'pdo', 'keeper', 'object', 'heir'], true) || Primitive::tryFrom($kind) !== null) {
            $extensions[] = getenv('LATCH_SO') ?: \dirname(__DIR__, 4) . '/modules/latch.so';
        }
        $vendor = $this->vendor($kind);
        $command = [...$vendor === null ? [] : ['env', "LATCH_VENDOR=$vendor"], \PHP_BINARY, '-n', '-d', 'display_errors=stderr', '-d', 'error_reporting=-1'];
        foreach ($extensions as $extension) {
            array_push($command, '-d', "extension=$extension");
        }

        return $command;
    }

    /** The folder of the packages that a worker beside a table runs on; null: that of this process. */
    private function vendor(string $kind): ?string
    {
        return match (true) {
            $this->rows === null => null,
            $kind === 'laravel' => (string) getenv('LATCH_LARAVEL'),
            $kind === 'heir' => $this->options->releases[0]->vendor(),
            str_starts_with($kind, Release::KIND) => Release::from(substr($kind, \strlen(Release::KIND)))->vendor(),
            default => null,
        };
    }

    private function count(): void
    {
        foreach ($this->workers as $worker) {
            $this->granted += $worker->newGrants();
        }
    }

    /** Records the workers that have ended. */
    private function reap(): void
    {
        foreach ($this->workers as $name => $worker) {
            $ending = $worker->ending();
            if ($ending !== null) {
                $this->granted += $worker->newGrants();
                $this->bury($name, $ending);
            }
        }
    }

    private function bury(string $name, string $ending): void
    {
        $this->records->write('ended', hrtime(true), $name, $ending);
        $this->crashes += (int) !\in_array($ending, ['exit-0', 'signal-' . SIGKILL], true);
        $this->answered += self::operationsOf($this->workers[$name]);
        $errors = $this->workers[$name]->errors();
        if ($errors !== '') {
            $this->errors .= $name . ': ' . substr($errors, 0, self::SAID) . "\n";
        }
        unset($this->workers[$name]);
    }

    private function terminate(): void
    {
        foreach ($this->workers as $worker) {
            $worker->signal(SIGTERM);
        }
    }

    /** What sessions hold that are there still, though their workers have given back all that they had. */
    private function lookAtSessions(Database $database, Writer $leftovers): void
    {
        $end = hrtime(true) + self::PATIENCE * 1_000_000_000;
        do {
            usleep(1000);
            $this->count();
            $this->reap();
            $busy = array_filter($this->workers, static fn (Process $worker): bool => !$worker->done);
        } while ($busy !== [] && hrtime(true) < $end);
        foreach ($busy === [] ? $database->remaining() : [] as $lock) {
            $leftovers->write('key', hrtime(true), $lock, -1);
        }
    }

    /** Sees all of them end. */
    private function join(): void
    {
        $end = hrtime(true) + self::PATIENCE * 1_000_000_000;
        while ($this->workers !== [] && hrtime(true) < $end) {
            $this->reap();
            usleep(1000);
        }
        foreach ($this->workers as $name => $worker) {
            $worker->signal(SIGKILL);
            $this->bury($name, 'hung');
        }
    }

    /** After the longest TTL all is free; a worker of each kind looks. */
    private function probe(): void
    {
        if ($this->masters() !== [] || $this->options->broken !== null || $this->rows !== null) {
            // Permits end with a whole second; in a table it is two seconds of the TTL, and that.
            $rest = $this->rows !== null ? 2000 : ($this->options->primitive !== null ? 1000 : 0);
            usleep((Worker::LONG_TTL + $rest + 300) * 1000);
        }
        foreach (array_keys($this->options->kinds()) as $kind) {
            $this->start($kind, 0, self::PROBE . $kind, $this->resources(), 'probe');
            $this->join();
        }
    }

    /** Waiters that are left although all workers have ended. */
    private function lookAtQueues(Writer $leftovers): void
    {
        foreach ($this->resources() as $resource) {
            $queue = match (true) {
                $this->options->broken !== null => (new Table("$this->directory/locks"))->queued($resource),
                default => array_merge(...array_map(
                    static fn (RedisServer $server): array => self::queue($server, $resource),
                    $this->masters(),
                )),
            };
            foreach ($queue as $waiter) {
                $leftovers->write('queued', hrtime(true), $resource, str_contains('rs', $waiter[0]) ? 's' : 'x');
            }
        }
    }

    /** @return list<string> */
    private static function queue(RedisServer $server, string $resource): array
    {
        $queues = [
            ...(array) $server->command('KEYS', "latch:*queue:$resource"), // with the slot's tag in a cluster
            ...(array) $server->command('KEYS', 'latch:*queue:{' . "$resource}"), // a semaphore's
        ];

        return array_merge(...array_map(
            static fn (string $key): array => (array) $server->command('ZRANGE', $key, 0, -1),
            $queues,
        ));
    }

    private function lookAtKeys(Writer $leftovers): void
    {
        foreach ($this->rows?->living() ?? [] as $name => $ttl) {
            $leftovers->write('key', hrtime(true), $name, $ttl);
        }
        foreach ($this->masters() as $server) {
            foreach ((array) $server->command('KEYS', '*') as $key) {
                $ttl = $server->command('PTTL', $key);
                if ($ttl !== -2) {
                    $leftovers->write('key', hrtime(true), $key, $ttl);
                }
            }
        }
    }
}
