<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Closure;
use PDO;

/**
 * What an advisory lock in a database server costs when nobody else wants it.
 *
 * Each subject has its own connection; only the server is shared.
 */
final class SqlCosts
{
    /** As in RedisCosts. */
    private const BATCH_NS = 3_000_000;
    private const COUNTED = 100;

    public function __construct(private readonly SqlAddress $server)
    {
    }

    /** @return array<string, list<float>> ns, by subject and round */
    public function measure(int $rounds): array
    {
        $subjects = array_map(static fn (Closure $begin): Closure => $begin(), self::subjects($this->server));

        return Rounds::interleave($subjects, $rounds, self::BATCH_NS);
    }

    /** @return array<string, array<string, float>> what is sent for one iteration, by subject */
    public function requests(string $folder): array
    {
        $relay = new Relay($this->server, $folder);

        return array_map(
            static fn (Closure $begin): array => $relay->countEach($begin, self::COUNTED),
            self::subjects($relay->address),
        );
    }

    /** @return array<string, string> */
    public function software(): array
    {
        $version = (string) $this->server->connect()->getAttribute(PDO::ATTR_SERVER_VERSION);
        $library = static fn (string $name): string => trim((string) shell_exec("pkg-config --modversion $name"));

        return $this->server->store() === 'postgresql'
            ? ['PostgreSQL' => $version, 'libpq' => $library('libpq')]
            : [
                'MariaDB' => $version,
                'libmariadb' => $library('libmariadb'),
                'Symfony on MariaDB' => 'the statements of 8.2, which is not published yet, in a store for 7.4',
            ];
    }

    /**
     * How to begin with each subject: the results run so many iterations.
     *
     * @return array<string, Closure(): (Closure(int): float)>
     */
    private static function subjects(SqlAddress $server): array
    {
        $store = $server->store();
        $pairs = static fn (Subject $subject, string|PDO $where): Closure
            => (new Loops($subject->locks($store, $where)))->sameLock();

        return [
            'latch' => static fn (): Closure => $pairs(Subject::Latch, $server->dsn),
            'latch-pdo' => static fn (): Closure => $pairs(Subject::Latch, $server->connect()),
            'symfony' => static fn (): Closure => $pairs(Subject::Symfony, $server->connect()),
            'c' => static fn (): Closure => (new RawProgram($store, ...$server->parts()))->row('pair'),
        ];
    }
}
