<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

use Latch\Tests\Fault\Broken\Breakage;
use Latch\Tests\Fault\Worker\TablePlace;

/**
 * What a run is to be like.
 */
final class Options
{
    public int $acquisitions = 10_000;
    public int $seed;
    public int $latch = 6;
    public int $symfony = 4;
    /** With locks as Laravel's, in the place of Symfony's, of which there are four by default: where locks are strings only. */
    public int $laravel = 0;
    /** On Latch, too, with a \PDO object: in a database only. */
    public int $pdo = 2;
    /** And with locks that are kept alive: where they expire only. */
    public int $keepers = 0;
    public ?Breakage $broken = null;
    /** What they contend for in place of locks. */
    public ?Primitive $primitive = null;
    /** So many workers use it. */
    public int $workers = 8;
    /** Minimum number of answers to calls of any kind; 0: grants are counted. */
    public int $operations = 0;
    /** On Latch, too, with a \RedisCluster object: in a cluster only whose slots move, and nothing else. */
    public int $objects = 0;
    /** @var 'redis'|'redis-string'|'sentinel'|'cluster'|'quorum'|'flock'|'postgresql'|'mysql'|'table-postgresql'|'table-mysql'|'table-sqlite' */
    public string $store = 'redis';
    public int $resources = 8;
    /** And so many that hand keys over between Latch and Symfony's PdoStore: in a table only. */
    public int $heirs = 0;
    /** Of a table: how its rows are named, "hash", "plain" or "both". */
    public string $names = 'hash';
    /** And its layout, "symfony" or "laravel". */
    public string $layout = TablePlace::SYMFONY;
    /** How many in a hundred grants have expired rows of a table deleted. */
    public int $prunings = 1;
    /** @var non-empty-list<Release> whose stores are peers in a table, with so many workers each */
    public array $releases = [Release::Seven];
    /** So long at least, in s. */
    public int $seconds = 0;
    /** Into so many groups workers and resources are divided: while all wait in one, the others go on. */
    public int $groups = 1;
    /** So often a master changes at least, under Sentinels and in a cluster. */
    public int $failovers = 0;
    /** Whether servers, Sentinels and workers speak TLS to each other: under Sentinels and in a cluster. */
    public bool $tls = false;
    /** So many slots move at least in a cluster. */
    public int $moves = 0;
    /** Whether nothing else happens to its servers. */
    public bool $reshardOnly = false;
    /** The longest time between two faults, in ms. */
    public int $pause = 200;
    /** Seconds after which the run is given up. */
    public int $limit = 300;
    public bool $faults = true;
    /** A folder for the records that is kept. */
    public ?string $keep = null;
    /** A file for the report. */
    public ?string $report = null;

    private const STORES = [
        'redis', 'redis-string', 'sentinel', 'cluster', 'quorum', 'flock', 'postgresql', 'mysql', ...self::TABLES,
    ];
    private const TABLES = ['table-postgresql', 'table-mysql', 'table-sqlite'];
    private const NAMES = ['hash', 'plain', 'both'];
    private const LAYOUTS = [TablePlace::SYMFONY, TablePlace::LARAVEL];

    private const REPORTS = __DIR__ . '/../../report';

    /** What these stand for. */
    private const LONG = [
        '--long' => [
            '--acquisitions=1000000',
            '--latch=16',
            '--symfony=2',
            '--resources=8',
            '--groups=4',
            '--pause=400',
            '--limit=3600',
            '--report=' . self::REPORTS . '/queue.md',
        ],
        '--long-failover' => [
            '--store=sentinel',
            '--failovers=60',
            '--latch=8',
            '--keepers=4',
            '--groups=2',
            '--pause=600',
            '--limit=3600',
            '--report=' . self::REPORTS . '/failover.md',
        ],
        '--long-cluster' => [
            '--store=cluster',
            '--failovers=60',
            '--moves=100',
            '--latch=8',
            '--keepers=4',
            '--groups=2',
            '--pause=1000',
            '--limit=3600',
            '--report=' . self::REPORTS . '/cluster.md',
        ],
        '--long-table' => [
            '--acquisitions=100000',
            '--latch=8',
            '--resources=32',
            '--groups=4',
            '--pause=400',
            '--limit=3600',
        ],
        '--deadlocks' => [
            '--acquisitions=1',
            '--seconds=60',
            '--latch=4',
            '--pdo=4',
            '--symfony=0',
            '--resources=3',
            '--prunings=5',
            '--no-faults',
        ],
        '--long-keep' => [
            '--acquisitions=20000',
            '--keepers=8',
            '--latch=4',
            '--symfony=2',
            '--resources=8',
            '--groups=2',
            '--pause=600',
            '--limit=3600',
            '--report=' . self::REPORTS . '/keep-alive.md',
        ],
    ];

    public function __construct()
    {
        $this->seed = random_int(1, 999_999_999);
    }

    /**
     * @param list<string> $arguments
     */
    public static function of(array $arguments): self
    {
        $options = new self();
        $given = [];
        foreach (array_intersect_key(self::LONG, array_flip($arguments)) as $name => $long) {
            $arguments = [...$long, ...array_diff($arguments, [$name])];
            if (!is_dir(self::REPORTS)) {
                mkdir(self::REPORTS);
            }
        }
        foreach ($arguments as $argument) {
            if (preg_match('/^--(?:(no-faults|tls|reshard-only)|(\w+)=(.+))$/', $argument, $match) !== 1) {
                throw new \InvalidArgumentException("unknown argument '$argument'");
            }
            [$name, $value] = [$match[2] ?? $match[1], $match[3] ?? ''];
            $given[$name] = true;
            match ($name) {
                'acquisitions', 'seed', 'resources', 'groups', 'pause', 'limit', 'failovers', 'moves' =>
                    $options->$name = self::number($argument, $value, 1),
                'latch', 'symfony', 'laravel', 'pdo', 'keepers', 'objects', 'workers', 'operations', 'heirs',
                'prunings', 'seconds' => $options->$name = self::number($argument, $value, 0),
                'store' => $options->store = self::oneOf(self::STORES, $name, $value),
                'names' => $options->names = self::oneOf(self::NAMES, $name, $value),
                'layout' => $options->layout = self::oneOf(self::LAYOUTS, $name, $value),
                'releases' => $options->releases = array_map(
                    static fn (string $release): Release => Release::tryFrom($release)
                        ?? throw new \InvalidArgumentException("--releases knows no '$release'"),
                    explode(',', $value),
                ),
                'primitive' => $options->primitive = Primitive::tryFrom($value)
                    ?? throw new \InvalidArgumentException("--primitive knows no '$value'"),
                'broken' => $options->broken = Breakage::tryFrom($value)
                    ?? throw new \InvalidArgumentException("--broken knows no '$value'"),
                'keep' => $options->keep = is_dir($value) && \count((array) scandir($value)) === 2
                    ? $value
                    : throw new \InvalidArgumentException("no empty folder '$value'"),
                'report' => $options->report = is_dir(\dirname($value))
                    ? $value
                    : throw new \InvalidArgumentException("no folder for '$value'"),
                'no-faults' => $options->faults = false,
                'tls' => $options->tls = $value === ''
                    ?: throw new \InvalidArgumentException("'--tls' takes no value"),
                'reshard-only' => $options->reshardOnly = $value === ''
                    ?: throw new \InvalidArgumentException("'--reshard-only' takes no value"),
                default => throw new \InvalidArgumentException("unknown argument '$argument'"),
            };
        }
        if (!$options->isDatabase() && !$options->isTable()) {
            $options->pdo = 0;
        }
        $options->arrangeTable($given);
        if ($options->store === 'sentinel' || $options->store === 'cluster') {
            // Symfony's clients stay with a master that is none any more.
            $options->symfony = 0;
        }
        if ($options->store === 'redis-string') {
            [$options->symfony, $options->laravel] = [0, isset($given['laravel']) ? $options->laravel : 4];
        }
        if ($options->broken !== null) {
            // What is broken is by itself, unless others are asked for.
            $options->latch = isset($given['latch']) ? $options->latch : 0;
            $options->symfony = isset($given['symfony']) ? $options->symfony : 0;
            $options->pdo = isset($given['pdo']) ? $options->pdo : 0;
            $options->store = $options->broken->store() ?? $options->store;
        }
        if ($options->primitive !== null) {
            $options->symfony = $options->pdo = 0;
            // Locks are there beside multi-locks only.
            $options->latch = match (true) {
                $options->primitive !== Primitive::MultiLock => 0,
                isset($given['latch']) => $options->latch,
                default => 4,
            };
            $options->acquisitions = isset($given['acquisitions']) ? $options->acquisitions : 0;
            $options->operations = $options->operations ?: 10_000;
            if (!\in_array($options->store, ['redis', 'sentinel'], true)
                && ($options->primitive !== Primitive::Semaphore || $options->store !== 'flock')
            ) {
                throw new \InvalidArgumentException("--primitive={$options->primitive->value} is not for that store");
            }
        }
        if ($options->keepers > 0 && !\in_array($options->store, ['redis', 'redis-string', 'sentinel', 'cluster', 'quorum'], true)) {
            throw new \InvalidArgumentException('--keepers is about locks in Redis');
        }
        if ($options->tls && !\in_array($options->store, ['sentinel', 'cluster'], true)) {
            throw new \InvalidArgumentException('--tls is for --store=sentinel and --store=cluster');
        }
        if (($options->moves > 0 || $options->reshardOnly) && $options->store !== 'cluster') {
            throw new \InvalidArgumentException('--moves and --reshard-only are for --store=cluster');
        }
        if ($options->objects > 0 && (!$options->reshardOnly || $options->tls)) {
            // phpredis crashes, up to 6.2, when a master is replaced: phpredis/phpredis#2723.
            throw new \InvalidArgumentException('--objects goes with --reshard-only, without --tls');
        }
        if ($options->failovers > 0 && $options->reshardOnly) {
            throw new \InvalidArgumentException('with --reshard-only there are no --failovers');
        }
        if ($options->kinds() === []) {
            throw new \InvalidArgumentException('no workers');
        }
        if ($options->groups > $options->resources) {
            throw new \InvalidArgumentException('more groups than resources');
        }

        return $options;
    }

    /** @return array<string, int> how many workers of each kind */
    public function kinds(): array
    {
        if ($this->primitive !== null) {
            return array_filter($this->primitive->kinds($this));
        }

        return array_filter([
            'latch' => $this->latch,
            'pdo' => $this->pdo,
            'object' => $this->objects,
            'keeper' => $this->keepers,
            'heir' => $this->heirs,
            ...$this->isTable() ? array_fill_keys(
                array_map(static fn (Release $release): string => $release->kind(), $this->releases),
                $this->symfony,
            ) : ['symfony' => $this->symfony],
            'laravel' => $this->laravel,
            (string) $this->broken?->value => (int) $this->broken?->workers(),
        ]);
    }

    /** Whether the locks are the sessions' of a database. */
    public function isDatabase(): bool
    {
        return $this->store === 'postgresql' || $this->store === 'mysql';
    }

    /** Whether the locks are rows of a table. */
    public function isTable(): bool
    {
        return \in_array($this->store, self::TABLES, true);
    }

    /**
     * Which group a worker of that kind belongs to. Where releases name rows differently, they exclude each other not
     * at all, and are in groups of their own.
     */
    public function groupOf(string $kind, int $slot): int
    {
        $release = array_search($kind, array_map(static fn (Release $one): string => $one->kind(), $this->releases), true);

        return ($release === false ? $slot : $slot * \count($this->releases) + $release) % $this->groups;
    }

    /** @param array<string, bool> $given the names of the arguments */
    private function arrangeTable(array $given): void
    {
        $own = array_intersect_key($given, array_flip(['names', 'layout', 'releases', 'heirs', 'prunings']));
        if (!$this->isTable()) {
            if ($own !== []) {
                throw new \InvalidArgumentException('--' . array_key_first($own) . ' is for tables');
            }

            return;
        }
        if ($this->layout === TablePlace::LARAVEL) {
            [$this->symfony, $this->laravel] = [0, isset($given['laravel']) ? $this->laravel : 4];
        }
        if (!isset($given['releases'])) {
            $this->releases = match ($this->names) {
                'plain' => [Release::Eight],
                'both' => [Release::Seven, Release::Eight],
                default => [Release::Seven],
            };
            $this->groups = $this->names === 'both' && !isset($given['groups']) ? 2 : $this->groups;
        }
        $names = array_unique(array_map(static fn (Release $release): string => $release->names(), $this->releases));
        if ($this->names !== 'both' ? array_values($names) !== [$this->names] : $this->heirs > 0) {
            throw new \InvalidArgumentException("--names=$this->names does not go with these releases or with heirs");
        }
        if ($this->store === 'table-postgresql' && \in_array(Release::Five, $this->releases, true)
            && \count($this->releases) > 1
        ) {
            // Its clock rounds there, so that it takes locks of others, which round as well, a second before their TTL.
            throw new \InvalidArgumentException('in PostgreSQL release 5.4 is by itself');
        }
        if (\count($names) > 1 && $this->groups % \count($this->releases) !== 0) {
            throw new \InvalidArgumentException('such releases need groups of their own: a multiple of their number');
        }
    }

    /**
     * @param non-empty-list<string> $values
     */
    private static function oneOf(array $values, string $name, string $value): string
    {
        return \in_array($value, $values, true)
            ? $value
            : throw new \InvalidArgumentException("--$name is one of " . implode(', ', $values) . ", not '$value'");
    }

    private static function number(string $argument, string $value, int $least): int
    {
        if (!ctype_digit($value) || \strlen($value) > 9 || (int) $value < $least) {
            throw new \InvalidArgumentException("'$argument' is no whole number from $least on");
        }

        return (int) $value;
    }
}
