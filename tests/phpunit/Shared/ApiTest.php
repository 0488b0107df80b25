<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Tests\Support\Api;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/**
 * Classes, interfaces and signatures are Symfony's, compared by reflection with the pure PHP ones. Latch
 * only adds: optional parameters and methods, and on final classes alone, as programs may extend or
 * implement the others; but for the two methods by which a store tells who holds its locks, and
 * LockFactory::createMultiLock().
 */
#[Group('against-oracle')]
final class ApiTest extends TestCase
{
    /** @var array<string, array<string, array<string, mixed>>> by the vendor folder, or '' for that of this process */
    private static array $symfony = [];

    /**
     * @return iterable<string, array{string}>
     */
    public static function classes(): iterable
    {
        foreach (Subject::CLASSES as $class) {
            yield $class => [$class];
        }
    }

    #[DataProvider('classes')]
    public function testAClassIsWhatItIsInSymfony(string $class): void
    {
        [$expected, $actual] = $this->both($class);
        // Without drop-in mode the interface of psr/log is not there.
        $without = Subject::mode() === 'latch' ? ['Psr\Log\LoggerAwareInterface'] : [];
        $expected['interfaces'] = array_values(array_diff($expected['interfaces'], $without));

        if (str_starts_with($class, 'Store\\')) {
            // A deliberate difference: a copy of a store would share, or split, what it locks.
            unset($expected['cloneable'], $actual['cloneable']);
        }

        unset($expected['methods'], $actual['methods']);
        self::assertSame($expected, $actual);
    }

    #[DataProvider('classes')]
    public function testAMethodIsWhatItIsInSymfony(string $class): void
    {
        [$expected, $actual] = $this->both($class);
        self::assertSame([], array_diff_key($expected['methods'], $actual['methods']), 'Methods are missing.');

        foreach ($expected['methods'] as $name => $method) {
            $ours = $actual['methods'][$name];
            $extra = array_slice($ours['parameters'], \count($method['parameters']));
            $ours['parameters'] = \array_slice($ours['parameters'], 0, \count($method['parameters']));
            self::assertSame([], array_diff($method['sensitive'], $ours['sensitive']), "$class::$name() shows more.");
            unset($method['tentative'], $ours['tentative'], $method['sensitive'], $ours['sensitive']);
            self::assertSame($method, $ours, "$class::$name()");

            if ($extra !== []) {
                // Nobody inherits a constructor's signature.
                self::assertTrue($actual['final'] || $name === '__construct', "$class::$name() has more parameters.");
            }
        }
    }

    /**
     * @return iterable<string, array{string, string}>
     */
    public static function classesOfOtherReleases(): iterable
    {
        foreach (['6.4' => 'LATCH_SYMFONY_6', '8' => 'LATCH_SYMFONY_8'] as $release => $variable) {
            foreach (Subject::CLASSES as $class) {
                yield "$class of $release" => [$class, $variable];
            }
        }
    }

    /**
     * Who calls a method with arguments by their names, in the code of whatever release, finds them.
     */
    #[DataProvider('classesOfOtherReleases')]
    public function testParametersAreThoseOfOtherReleases(string $class, string $variable): void
    {
        $vendor = getenv($variable);
        self::assertNotFalse($vendor, "$variable must name a vendor folder with symfony/lock.");
        [$expected, $actual] = $this->both($class, $vendor);
        if ($expected === null) {
            self::assertSame('Store\NullStore', $class, "There is no $class in $variable.");

            return;
        }

        foreach ($expected['methods'] as $name => $method) {
            $ours = $actual['methods'][$name]['parameters'];
            self::assertSame($method['parameters'], \array_slice($ours, 0, \count($method['parameters'])), $name);
            if ($name !== 'configureSchema') { // of which 6.4 declares the second parameter in a comment
                self::assertSame($method['required'], $actual['methods'][$name]['required'], $name);
            }
        }
        self::assertSame($expected['interfaces'], array_values(array_intersect(
            $expected['interfaces'],
            [...$actual['interfaces'], ...Subject::mode() === 'latch' ? ['Psr\Log\LoggerAwareInterface'] : []],
        )));
    }

    #[DataProvider('classes')]
    public function testMethodsAreAddedToFinalClassesOnly(string $class): void
    {
        [$expected, $actual] = $this->both($class);
        $added = array_keys(array_diff_key($actual['methods'], $expected['methods']));
        $allowed = ['__debugInfo', ...match (true) {
            str_starts_with($class, 'Store\\') => ['inspect', 'listHeld', 'forceRelease', 'describe'],
            $class === 'LockFactory' => ['createMultiLock'],
            default => [],
        }];

        if (!$actual['final']) {
            self::assertSame([], array_values(array_diff($added, $allowed)));
        } else {
            self::assertTrue($actual['final']);
        }
    }

    #[DataProvider('classes')]
    public function testReturnTypesOfInterfacesDoNotBindOlderStores(string $class): void
    {
        [, $actual] = $this->both($class);
        foreach ($actual['interface'] ? $actual['methods'] : [] as $name => $method) {
            self::assertTrue($method['tentative'], "$class::$name() has a return type that is not tentative.");
        }
        self::assertSame(interface_exists(Subject::name($class)), $actual['interface']);
    }

    /**
     * @return array{array<string, mixed>|null, array<string, mixed>} the class in Symfony, if it is there, and here
     */
    private function both(string $class, ?string $vendor = null): array
    {
        self::$symfony[(string) $vendor] ??= json_decode(
            $this->inPurePhp('echo json_encode(\Latch\Tests\Support\Api::describe());', $vendor),
            true,
            16,
            \JSON_THROW_ON_ERROR,
        );
        $here = json_decode((string) json_encode(Api::describe()[$class]), true, 16, \JSON_THROW_ON_ERROR);

        return [self::$symfony[(string) $vendor][$class] ?? null, $here];
    }
}
