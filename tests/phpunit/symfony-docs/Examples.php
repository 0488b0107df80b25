<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyDocs;

/**
 * Where the examples are. The documentation itself is under another licence than Latch: what is in examples/
 * says the same in words of our own, for every change to be tested with. With LATCH_SYMFONY_DOCS, a checkout
 * of symfony/symfony-docs, its own text is run, unchanged.
 */
final class Examples
{
    private const PAGE = 'lock.rst';
    private const PAGE_OF_7_4 = 'components/lock.rst';

    /** page, section, which of the section's examples */
    private const PLACES = [
        'typical-usage' => [self::PAGE, 'Dealing with Concurrency with Locks', 1],
        'configuration' => [self::PAGE, 'Configuration', 2],
        'locking' => [self::PAGE, 'Locking a Resource', 2],
        'blocking' => [self::PAGE, 'Blocking Locks', 1],
        'expiring' => [self::PAGE, 'Expiring Locks', 1],
        'refreshing' => [self::PAGE, 'Expiring Locks', 2],
        'refreshing-once-for-longer' => [self::PAGE, 'Expiring Locks', 3],
        'forking' => [self::PAGE, 'Automatically Releasing The Lock', 1],
        'not-releasing' => [self::PAGE, 'Automatically Releasing The Lock', 2],
        'reading' => [self::PAGE, 'Shared Locks', 1],
        'reading-blocking' => [self::PAGE, 'Shared Locks', 2],
        'promoting' => [self::PAGE, 'Shared Locks', 3],
        'owning-asked' => [self::PAGE, 'The Owner of The Lock', 1],
        'owning' => [self::PAGE, 'The Owner of The Lock', 2],
        'serializing-message' => [self::PAGE, 'Serializing Locks', 1],
        'serializing' => [self::PAGE, 'Serializing Locks', 2],
        'serializing-by-lock' => [self::PAGE_OF_7_4, 'Serializing Locks', 2],
        'watching-the-lifetime' => [self::PAGE, 'Expiring Stores', 1],
        'store-flock' => [self::PAGE, 'FlockStore', 1],
        'store-memcached' => [self::PAGE, 'MemcachedStore', 1],
        'store-pdo' => [self::PAGE, 'PdoStore', 1],
        'store-dbal' => [self::PAGE, 'DoctrineDbalStore', 1],
        'store-postgresql' => [self::PAGE, 'PostgreSqlStore', 1],
        'store-dbal-postgresql' => [self::PAGE, 'DoctrineDbalPostgreSqlStore', 1],
        'store-redis' => [self::PAGE, 'RedisStore', 1],
        'store-predis' => [self::PAGE_OF_7_4, 'Blocking Locks', 1],
        'store-semaphore' => [self::PAGE, 'SemaphoreStore', 1],
        'store-combined' => [self::PAGE, 'CombinedStore', 1],
        'store-combined-unanimous' => [self::PAGE, 'CombinedStore', 2],
    ];

    /** What is not run here: section, which of its examples, and why. */
    private const LEFT_OUT = [
        ['Configuration', 1, 'of FrameworkBundle'],
        ['Advisory Locks on an Existing Connection', 1, 'of FrameworkBundle'],
        ['Advisory Locks on an Existing Connection', 2, 'of FrameworkBundle'],
        ['Locking a Resource', 1, 'a controller of FrameworkBundle'],
        ['Locking a Dynamic Resource', 1, 'a controller of FrameworkBundle'],
        ['Naming Locks', 1, 'of FrameworkBundle'],
        ['Naming Locks', 2, 'of FrameworkBundle'],
        ['MongoDbStore', 1, 'there is no server to be had'],
        ['ZookeeperStore', 1, 'Debian 12 has no extension for it'],
        ['DynamoDbStore', 1, 'there is no server to be had'],
    ];

    /** The file with that example. */
    public static function file(string $name): string
    {
        [$page, $section, $number] = self::PLACES[$name];
        if (self::checkout() === null) {
            return __DIR__ . "/examples/$name.php";
        }
        $text = self::ofPage($page)["$section, $number"]
            ?? throw new \RuntimeException("$page has no example $number in \"$section\".");
        $directory = sys_get_temp_dir() . '/symfony-docs';
        @mkdir($directory);
        file_put_contents("$directory/$name.php", "<?php\n\n$text");

        return "$directory/$name.php";
    }

    /** The resource that the example locks. */
    public static function resource(string $name): string
    {
        $text = (string) file_get_contents(self::file($name));

        return preg_match('/(?:createLock|Key)\(\s*\'([^\']*)\'(.?)/', $text, $match) === 1
            ? $match[1] . ($match[2] === ' ' || $match[2] === '.' ? '42' : '')
            : 'something';
    }

    /** Whether the text is the documentation's own. */
    public static function checkout(): ?string
    {
        return getenv('LATCH_SYMFONY_DOCS') ?: null;
    }

    /**
     * The examples, of the newest page or in the folder, that have no place above.
     *
     * @return list<string>
     */
    public static function forgotten(): array
    {
        if (self::checkout() === null) {
            $files = array_map(
                static fn (string $file): string => basename($file, '.php'),
                glob(__DIR__ . '/examples/*.php') ?: [],
            );

            return array_values(array_diff($files, array_keys(self::PLACES)));
        }
        $known = [];
        foreach (self::PLACES as [$page, $section, $number]) {
            if ($page === self::PAGE) {
                $known[] = "$section, $number";
            }
        }
        foreach (self::LEFT_OUT as [$section, $number]) {
            $known[] = "$section, $number";
        }

        return array_values(array_diff(array_keys(self::ofPage(self::PAGE)), $known));
    }

    /**
     * The PHP examples of a page: what is indented after a line that ends in "::", or after a directive
     * "code-block" for PHP.
     *
     * @return array<string, string> by section and number
     */
    private static function ofPage(string $page): array
    {
        $lines = file(self::checkout() . "/$page", \FILE_IGNORE_NEW_LINES) ?: [];
        $examples = [];
        $counts = [];
        $section = '';
        for ($i = 0; $i < \count($lines); ++$i) {
            if (preg_match('/^([=~-])\1+$/', $lines[$i + 1] ?? '') && \strlen($lines[$i]) === \strlen($lines[$i + 1])) {
                $section = $lines[$i];
            }
            if (preg_match('/^( *)(?:\.\. code-block:: php(?:-\w+)?|(?!\.\. ).*::)$/', $lines[$i], $match) === 1) {
                $block = [];
                while (preg_match("/^(?:$match[1] +\S.*|)$/", $lines[$i + 1] ?? '?') === 1) {
                    $block[] = $lines[++$i];
                }
                $indent = min(array_map(static fn (string $line): int => strspn($line, ' '), array_filter($block)));
                $text = implode("\n", array_map(static fn (string $line): string => substr($line, $indent), $block));
                $counts[$section] = ($counts[$section] ?? 0) + 1;
                $examples["$section, $counts[$section]"] = trim($text) . "\n";
            }
        }

        return $examples;
    }
}
