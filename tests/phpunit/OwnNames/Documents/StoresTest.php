<?php

declare(strict_types=1);

namespace Latch\Tests\OwnNames\Documents;

use Latch\Store\StoreFactory;
use Latch\Tests\Support\Examples;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/**
 * The lists of stores that people write say of each store what StoreFactory::describe() tells, and leave none out.
 *
 * @phpstan-type Store array{name: string, title: string, class: class-string, native: bool, dsns: list<string>, examples: array<string, string>,
 *     clients: list<string>, scope: string, shared: bool, expiring: bool, fencing: bool, listing: bool, ttl: float|null, library: string|null, build: string}
 */
final class StoresTest extends TestCase
{
    /**
     * @return iterable<string, array{Store}> by the short names of the classes
     */
    public static function stores(): iterable
    {
        foreach (StoreFactory::describe() as $store) {
            if ($store['native']) {
                yield self::shortName($store) => [$store];
            }
        }
    }

    /**
     * @return iterable<string, array{Store}> those that exclude other processes
     */
    public static function storesOfTheCommand(): iterable
    {
        foreach (self::stores() as $name => [$store]) {
            if (\in_array($store['scope'], ['machine', 'server'], true)) {
                yield $name => [$store];
            }
        }
    }

    /**
     * @param Store $store
     */
    private static function shortName(array $store): string
    {
        return substr((string) strrchr($store['class'], '\\'), 1);
    }

    /**
     * @return list<list<string>> the cells of the rows below a heading
     */
    private static function table(string $page, string $heading): array
    {
        preg_match("/^#+ $heading\$(.*?)(?=^#|\\z)/ms", Examples::text($page), $section);
        preg_match_all('/^\| (.+) \|$/m', $section[1] ?? '', $rows);

        return array_map(static fn (string $row): array => explode(' | ', $row), $rows[1]);
    }

    /**
     * @param Store $store
     */
    #[DataProvider('stores')]
    public function testTheTableOfStores(array $store): void
    {
        $name = self::shortName($store);
        $rows = array_values(array_filter(
            self::table('docs/stores.md', 'Stores'),
            static fn (array $row): bool => str_contains($row[0], "`$name`"),
        ));
        self::assertCount(1, $rows, "$name has a row in the first table of docs/stores.md");
        if ($store['scope'] === 'members') {
            self::assertStringStartsWith('as its members', $rows[0][4]);

            return;
        }
        self::assertStringStartsWith($store['shared'] ? 'yes' : 'no', $rows[0][4], "$name: shared locks");
        if ($store['ttl'] === null) {
            self::assertMatchesRegularExpression('/^(none|–)/', $rows[0][5], "$name: TTL");
        } else {
            self::assertStringContainsString("$store[ttl] s", $rows[0][5], "$name: TTL");
        }
    }

    /**
     * @param Store $store
     */
    #[DataProvider('stores')]
    public function testTheTableOfDsns(array $store): void
    {
        $name = self::shortName($store);
        $forms = [];
        foreach (self::table('docs/stores.md', 'DSNs') as $row) {
            preg_match_all('/`([^`]+)`/', $row[0], $dsns);
            foreach ($row[1] === "`$name`" ? $dsns[1] : [] as $dsn) {
                self::assertSame([$store], StoreFactory::describe($dsn), "$dsn is for $name");
                $matching = array_filter($store['dsns'], static fn (string $form): bool => str_starts_with($dsn, $form));
                usort($matching, static fn (string $one, string $other): int => \strlen($other) <=> \strlen($one));
                $forms[] = $matching[0];
            }
        }

        self::assertEqualsCanonicalizing($store['dsns'], array_values(array_unique($forms)), "the DSNs of $name in docs/stores.md");
    }

    /**
     * @param Store $store
     */
    #[DataProvider('storesOfTheCommand')]
    public function testTheReadmesFirstSentence(array $store): void
    {
        preg_match('/^Latch is a PHP extension.*?\./ms', Examples::text('README.md'), $sentence);

        self::assertStringContainsString($store['title'], $sentence[0] ?? '');
    }

    /**
     * One of its DSNs, in whatever form, stands in "latch run --help".
     *
     * @param Store $store
     */
    #[DataProvider('storesOfTheCommand')]
    public function testTheHelpOfTheCommand(array $store): void
    {
        $begun = array_merge(...array_map(
            static fn (array $described): array => $described['name'] === $store['name'] ? array_keys($described['examples']) : [],
            StoreFactory::describe(),
        ));
        $patterns = array_map(
            static fn (string $example): string => preg_quote((string) preg_replace('/([A-Z]+|…)$/D', '', $example), '/'),
            $begun,
        );

        self::assertSame(
            1,
            preg_match('/^ +(' . implode('|', $patterns) . ')/m', Examples::text('bin/latch')),
            "$store[title]: a line of the help on --store begins with one of " . implode(', ', $begun),
        );
    }

    /**
     * Whether it is native or Composer's.
     */
    public function testTheTableOfSymfonysClasses(): void
    {
        $vendor = (string) getenv('LATCH_VENDOR');
        foreach (StoreFactory::describe() as $store) {
            $name = self::shortName($store);
            if (!is_file("$vendor/symfony/lock/Store/$name.php")) {
                continue; // of a package of its own, or Latch's alone
            }
            $kind = $store['native'] ? 'native' : 'Composer\'s';
            self::assertStringContainsString("\n| `Store\\$name` | $kind |", Examples::text('docs/symfony.md'));
        }
    }

    public function testStaticAnalysisKnowsAllStubs(): void
    {
        $stubs = array_map(basename(...), glob(__DIR__ . '/../../../../stubs/*.stub.php') ?: []);
        preg_match_all('/^ +- (\S+)$/m', Examples::text('stubs/phpstan.neon'), $listed);

        self::assertSame(array_values(array_diff($stubs, ['psr_log.stub.php'])), $listed[1]);
    }
}
