<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Tests\Support\Api;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/**
 * Classes, interfaces and signatures of semaphores are those of Symfony's component, compared by reflection. Latch only
 * adds: optional parameters on final classes and constructors, methods on final classes.
 */
#[Group('against-oracle')]
final class SemaphoreApiTest extends TestCase
{
    /** @var array<string, array<string, array<string, mixed>>> by the variable that names the autoload.php */
    private static array $symfony = [];

    /**
     * @return iterable<string, array{string, string}>
     */
    public static function classes(): iterable
    {
        foreach (['5.4' => 'LATCH_SEMAPHORE_5', '7.4' => 'LATCH_SEMAPHORE_7'] as $release => $variable) {
            foreach (Subject::SEMAPHORE_CLASSES as $class) {
                yield "$class of $release" => [$class, $variable];
            }
        }
        foreach (Subject::SEMAPHORE_CLASSES_OF_8 as $class) {
            yield "$class of 8.1" => [$class, 'LATCH_SEMAPHORE_8'];
        }
    }

    #[DataProvider('classes')]
    public function testAClassIsWhatItIsInSymfony(string $class, string $variable): void
    {
        $expected = $this->inSymfony($variable)[$class];
        $actual = json_decode((string) json_encode(Api::describeSemaphores()[$class]), true);
        foreach (['interface', 'final', 'abstract', 'parent'] as $aspect) {
            self::assertSame($expected[$aspect], $actual[$aspect], $aspect);
        }
        $ours = [...$actual['interfaces'], ...Subject::mode() === 'latch' ? ['Psr\Log\LoggerAwareInterface'] : []];
        self::assertSame([], array_diff($expected['interfaces'], $ours));

        // Ours keep from being serialised by other means; 5.4 and 7.4 differ in theirs.
        unset($expected['methods']['__sleep'], $expected['methods']['__wakeup']);
        foreach ($expected['methods'] as $name => $method) {
            self::assertArrayHasKey($name, $actual['methods']);
            $parameters = $actual['methods'][$name]['parameters'];
            $count = \count($method['parameters']);
            self::assertSame(
                array_map(self::nameAndDefault(...), $method['parameters']),
                array_map(self::nameAndDefault(...), \array_slice($parameters, 0, $count)),
                "$class::$name()",
            );
            self::assertSame($method['required'], $actual['methods'][$name]['required'], "$class::$name()");
            self::assertTrue(\count($parameters) === $count || $actual['final'] || $name === '__construct');
        }
        // Stores tell of who holds what, as those of locks do (ApiTest).
        $allowed = str_starts_with($class, 'Store\\') ? ['inspect', 'listHeld'] : [];
        $added = array_diff(array_keys($actual['methods']), array_keys($expected['methods']), $allowed);
        self::assertTrue($added === [] || $actual['final'], 'Further methods are added to final classes only.');
        foreach ($actual['interface'] ? $actual['methods'] : [] as $name => $method) {
            self::assertTrue($method['tentative'], "$class::$name() has a return type that is not tentative.");
        }
    }

    /** What a caller uses: 5.4 declares fewer types. */
    private static function nameAndDefault(string $parameter): string
    {
        return (string) strstr($parameter, '$');
    }

    /**
     * @return array<string, array<string, mixed>>
     */
    private function inSymfony(string $variable): array
    {
        $program = 'require getenv("' . $variable . '"); require $argv[1] . "/Subject.php"; require $argv[1] . "/Api.php";'
            . 'echo json_encode(Latch\Tests\Support\Api::describeSemaphores());';

        return self::$symfony[$variable] ??= json_decode((string) shell_exec(implode(' ', array_map(
            escapeshellarg(...),
            [...Peer::php(), '-r', $program, \dirname(__DIR__) . '/Support'],
        ))), true, 16, \JSON_THROW_ON_ERROR);
    }
}
