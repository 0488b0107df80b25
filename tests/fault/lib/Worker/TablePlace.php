<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

/**
 * A table of locks: where it is, how its rows are named, and what workers use it. It is written as "table:" with the
 * properties behind it, in the form of a URL's query.
 */
final class TablePlace
{
    /** Layouts of tables. */
    public const SYMFONY = 'symfony';
    public const LARAVEL = 'laravel';

    private const SCHEME = 'table:';

    /**
     * @param string $dsn   PDO's, with user and password
     * @param string $names "hash", as Symfony up to 8.0 names rows, "plain", as from 8.1 on, or "both"
     * @param float  $gc    probability that a grant has expired rows deleted
     */
    public function __construct(
        public readonly string $dsn,
        public readonly string $layout,
        public readonly string $names,
        public readonly float $gc,
    ) {
    }

    /** @return self|null null: it is another place */
    public static function of(string $where): ?self
    {
        if (!str_starts_with($where, self::SCHEME)) {
            return null;
        }
        parse_str(substr($where, \strlen(self::SCHEME)), $parts);
        ['dsn' => $dsn, 'layout' => $layout, 'names' => $names, 'gc' => $gc] = array_map(strval(...), $parts);

        return new self($dsn, $layout, $names, (float) $gc);
    }

    public function __toString(): string
    {
        return self::SCHEME . http_build_query(get_object_vars($this));
    }

    /** "pgsql", "mysql" or "sqlite" */
    public function driver(): string
    {
        return (string) strstr($this->dsn, ':', true);
    }
}
