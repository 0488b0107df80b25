<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Closure;
use Latch\Store\PdoStore;
use PDO;

/**
 * What a lock in a table costs when nobody else wants it.
 *
 * Each subject has its own connection; only the database is shared.
 */
final class SqlTableCosts
{
    /** Some ten of the slowest, each of which waits for the disk. */
    private const BATCH_NS = 20_000_000;
    private const COUNTED = 100;
    private const TTL = 30.0;

    public function __construct(private readonly SqlAddress $database)
    {
    }

    /** Makes the table, and says which software it is in, and what that does for what is committed. */
    public function create(string $journal): array
    {
        $connection = $this->database->connect();
        if ($this->database->store() === 'sqlite') {
            $connection->exec("PRAGMA journal_mode=$journal");
        }
        (new PdoStore($connection))->createTable();
        $value = static fn (string $sql): string => (string) $connection->query($sql)->fetchColumn();

        return match ($this->database->store()) {
            'postgresql' => ['PostgreSQL, tables' => implode(', ', array_map(
                static fn (string $name): string => "$name {$value("SHOW $name")}",
                ['fsync', 'synchronous_commit', 'full_page_writes', 'wal_sync_method'],
            ))],
            'mysql' => ['MariaDB, tables' => implode(', ', array_map(
                static fn (string $name): string => "$name {$value("SELECT @@$name")}",
                ['innodb_flush_log_at_trx_commit', 'innodb_flush_method'],
            ))],
            'sqlite' => [
                'SQLite' => (string) $connection->getAttribute(PDO::ATTR_SERVER_VERSION),
                'SQLite, tables' => "synchronous {$value('PRAGMA synchronous')} (2: full)",
            ],
        };
    }

    /** @return array<string, list<float>> ns, by subject and round */
    public function measure(int $rounds): array
    {
        $subjects = array_map(static fn (Closure $begin): Closure => $begin(), self::subjects($this->database));
        // Elsewhere the store's statements are the least.
        if ($this->database->store() === 'postgresql') {
            $least = new RawProgram("table_{$this->database->store()}", ...$this->database->parts());
            $subjects['c-least'] = $least->row('least');
        }

        return Rounds::interleave($subjects, $rounds, self::BATCH_NS);
    }

    /** @return array<string, array<string, float>> what is sent for one iteration, by subject */
    public function requests(string $folder): array
    {
        $relay = new Relay($this->database, $folder);

        // Without the removal of expired rows, which is a matter of chance.
        return array_map(
            static fn (Closure $begin): array => $relay->countEach($begin, self::COUNTED),
            self::subjects($relay->address, 0.0),
        );
    }

    /**
     * How to begin with each subject: the results run so many iterations.
     *
     * @param float|null $pruning its probability; null: the stores' own
     *
     * @return array<string, Closure(): (Closure(int): float)>
     */
    private static function subjects(SqlAddress $database, ?float $pruning = null): array
    {
        $pairs = static fn (Subject $subject, string $store, string|object $where): Closure
            => (new Loops($subject->table($store, $where, $pruning), self::TTL, "$subject->value $store"))->sameLock();

        return [
            'latch' => static fn (): Closure => $pairs(Subject::Latch, 'PdoStore', $database->dsn),
            'latch-pdo' => static fn (): Closure => $pairs(Subject::Latch, 'PdoStore', $database->connect()),
            'symfony' => static fn (): Closure => $pairs(Subject::Symfony, 'PdoStore', $database->connect()),
            'symfony-dbal' => static fn (): Closure
                => $pairs(Subject::Symfony, 'DoctrineDbalStore', $database->connectDoctrine()),
            'c' => static fn (): Closure
                => (new RawProgram("table_{$database->store()}", ...$database->parts()))->row('store'),
        ];
    }
}
