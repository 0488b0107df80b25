<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Exception\UnserializableKeyException;
use Latch\Key;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;

final class KeyTest extends TestCase
{
    /**
     * @return iterable<string, array{string}>
     */
    public static function resources(): iterable
    {
        yield 'ordinary' => ['invoice-42'];
        yield from array_map(static fn (string $resource) => [$resource], Subject::emptyResource());
        yield 'zero' => ['0'];
        yield 'binary' => ["\0\xff\n"];
        yield 'a megabyte' => [str_repeat('x', 1 << 20)];
    }

    #[DataProvider('resources')]
    public function testItIsItsResourceAsText(string $resource): void
    {
        $key = new Key($resource);

        self::assertInstanceOf(\Stringable::class, $key);
        self::assertSame($resource, (string) $key);
        self::assertSame($resource, (string) unserialize(serialize($key)));
    }

    public function testTheResourceMustBeText(): void
    {
        $e = $this->assertThrows(\TypeError::class, null, static fn () => new Key([]));

        self::assertStringContainsString('Key::__construct(): Argument #1 ($resource)', $e->getMessage());
    }

    public function testStatesAreKeptByName(): void
    {
        $object = new \stdClass();
        $key = new Key('r');
        self::assertFalse($key->hasState('a'));

        $key->setState('a', 'text');
        $key->setState('b', $object);
        $key->setState('123', ['list']);
        self::assertTrue($key->hasState('a'));
        self::assertSame('text', $key->getState('a'));
        self::assertSame($object, $key->getState('b'));
        self::assertSame(['list'], $key->getState('123'));

        $key->setState('a', 'other');
        self::assertSame('other', $key->getState('a'));

        $key->removeState('a');
        $key->removeState('never there');
        self::assertFalse($key->hasState('a'));
        self::assertTrue($key->hasState('b'));
    }

    public function testAStateOfNullIsNone(): void
    {
        $key = new Key('r');
        $key->setState('a', null);

        self::assertFalse($key->hasState('a'));
        self::assertNull($key->getState('a'));
    }

    public function testAMissingStateIsReportedAsAnUndefinedArrayKey(): void
    {
        $state = 'unset';
        $errors = $this->errorsOf(static function () use (&$state): void {
            $state = (new Key('r'))->getState('missing');
        });

        self::assertSame(['Undefined array key "missing"'], $errors);
        self::assertNull($state);
    }

    public function testStatesAreCopiedWithTheKey(): void
    {
        $key = new Key('r');
        $key->setState('a', 1);
        $copy = clone $key;
        $copy->setState('a', 2);
        $copy->reduceLifetime(1.0);

        self::assertSame(1, $key->getState('a'));
        self::assertNull($key->getRemainingLifetime());
    }

    public function testItLivesForEverAtFirst(): void
    {
        $key = new Key('r');

        self::assertNull($key->getRemainingLifetime());
        self::assertFalse($key->isExpired());
    }

    public function testALifetimeIsOnlyEverReduced(): void
    {
        $key = new Key('r');
        $key->reduceLifetime(10.0);
        self::assertEqualsWithDelta(10.0, $key->getRemainingLifetime(), 1.0);

        $key->reduceLifetime(100.0);
        self::assertEqualsWithDelta(10.0, $key->getRemainingLifetime(), 1.0);

        $key->reduceLifetime(5.0);
        self::assertEqualsWithDelta(5.0, $key->getRemainingLifetime(), 1.0);

        $key->resetLifetime();
        self::assertNull($key->getRemainingLifetime());

        $key->reduceLifetime(100.0);
        self::assertEqualsWithDelta(100.0, $key->getRemainingLifetime(), 1.0);
    }

    #[TestWith([0.0])]
    #[TestWith([-1.0])]
    public function testAKeyWithoutRemainingLifetimeIsExpired(float $ttl): void
    {
        $key = new Key('r');
        $key->reduceLifetime($ttl);

        self::assertTrue($key->isExpired());
        self::assertLessThanOrEqual(0.0, $key->getRemainingLifetime());
    }

    public function testTheLifetimeIsTheWallClocks(): void
    {
        $before = microtime(true);
        $key = new Key('r');
        $key->reduceLifetime(10.0);
        $after = microtime(true);

        $end = $key->__serialize()['expiringTime'];
        // microtime() cuts off what is less than a microsecond.
        self::assertGreaterThanOrEqual($before + 10.0 - 1e-6, $end);
        self::assertLessThanOrEqual($after + 10.0 + 1e-6, $end);
    }

    public function testItHasTheRealPropertiesThatProgramsReflectUpon(): void
    {
        $class = new \ReflectionClass(Key::class);

        foreach (['resource', 'expiringTime', 'state', 'serializable'] as $name) {
            self::assertTrue($class->getProperty($name)->isPrivate(), $name);
        }
        self::assertTrue($class->isFinal());
    }

    public function testItIsSerialisedWithPlainNames(): void
    {
        $key = new Key('the "resource"');
        $key->setState('a', ['b' => 1]);
        self::assertSame(
            ['resource' => 'the "resource"', 'expiringTime' => null, 'state' => ['a' => ['b' => 1]]],
            $key->__serialize(),
        );

        $class = Subject::name('Key');
        self::assertSame(
            'O:' . \strlen($class) . ':"' . $class . '":3:{s:8:"resource";s:14:"the "resource"";'
                . 's:12:"expiringTime";N;s:5:"state";a:1:{s:1:"a";a:1:{s:1:"b";i:1;}}}',
            serialize($key),
        );
    }

    public function testItSurvivesSerialisation(): void
    {
        $key = new Key('r');
        $key->setState('a', ['list']);
        $key->reduceLifetime(12.5);
        $copy = unserialize(serialize($key));

        self::assertInstanceOf(Key::class, $copy);
        self::assertSame($key->__serialize(), $copy->__serialize());
    }

    /**
     * @return iterable<string, array{array<mixed>, array<mixed>}> what is read, and what it means
     */
    public static function payloads(): iterable
    {
        $mangled = "\0Symfony\\Component\\Lock\\Key\0";
        $empty = ['resource' => 'r', 'expiringTime' => null, 'state' => []];

        yield 'plain names' => [
            ['resource' => 'r', 'expiringTime' => 1.5, 'state' => ['a' => 'b']],
            ['resource' => 'r', 'expiringTime' => 1.5, 'state' => ['a' => 'b']],
        ];
        yield 'the older mangled names' => [
            ["{$mangled}resource" => 'r', "{$mangled}expiringTime" => 1.5, "{$mangled}state" => ['a' => 'b']],
            ['resource' => 'r', 'expiringTime' => 1.5, 'state' => ['a' => 'b']],
        ];
        yield 'a mangled resource alone' => [["{$mangled}resource" => 'r'], $empty];
        yield 'plain before mangled' => [
            ["{$mangled}resource" => 'old', 'resource' => 'r', "{$mangled}expiringTime" => 1.5],
            ['resource' => 'r', 'expiringTime' => 1.5, 'state' => []],
        ];
        yield 'a resource alone' => [['resource' => 'r'], $empty];
        yield 'an empty resource' => [['resource' => ''], ['resource' => ''] + $empty];
        yield 'nulls' => [['resource' => 'r', 'expiringTime' => null, 'state' => null], $empty];
        yield 'whole seconds' => [['resource' => 'r', 'expiringTime' => 7], ['expiringTime' => 7.0] + $empty];
        // What the XML and YAML encoders of Symfony's serialiser make of a number.
        yield 'a resource of digits' => [['resource' => 42], ['resource' => '42'] + $empty];
        yield 'a number as text' => [['resource' => 'r', 'expiringTime' => '1.5'], ['expiringTime' => 1.5] + $empty];
        yield 'unknown entries' => [['resource' => 'r', 'foo' => 'bar', 5 => 6], $empty];
    }

    /**
     * @param array<mixed> $payload
     * @param array<mixed> $meaning
     */
    #[DataProvider('payloads')]
    public function testItIsReadFrom(array $payload, array $meaning): void
    {
        $read = (new \ReflectionClass(Key::class))->newInstanceWithoutConstructor();
        $read->__unserialize($payload);
        self::assertEquals($meaning, $read->__serialize());
        self::assertSame(gettype($meaning['expiringTime']), gettype($read->__serialize()['expiringTime']));

        $class = Subject::name('Key');
        $text = 'O:' . \strlen($class) . ':"' . $class . '"' . substr(serialize($payload), 1);
        self::assertEquals($meaning, unserialize($text)->__serialize());
    }

    #[TestWith(['resource'], 'plain name')]
    #[TestWith(["\0Symfony\\Component\\Lock\\Key\0resource"], 'mangled name')]
    public function testAnObjectForAResourceIsRefusedAndNotCalled(string $entry): void
    {
        $object = new class () implements \Stringable {
            public bool $called = false;

            public function __toString(): string
            {
                $this->called = true;

                return 'surprise';
            }
        };
        $key = new Key('r');

        $this->assertThrows(
            \BadMethodCallException::class,
            'Cannot unserialize ' . Subject::name('Key'),
            static fn () => $key->__unserialize([$entry => $object]),
        );
        self::assertFalse($object->called);
    }

    public function testAKeyMarkedSoIsNotSerialised(): void
    {
        $key = new Key('r');
        $key->markUnserializable();

        $this->assertThrows(
            UnserializableKeyException::class,
            'The key cannot be serialized.',
            static fn () => serialize($key),
        );
        $this->assertThrows(
            UnserializableKeyException::class,
            'The key cannot be serialized.',
            static fn () => $key->__serialize(),
        );
    }

    public function testAKeyThatWasNeverConstructedIsAnError(): void
    {
        $key = (new \ReflectionClass(Key::class))->newInstanceWithoutConstructor();

        $e = $this->assertThrows(\Error::class, null, static fn () => (string) $key);
        self::assertStringContainsString('must not be accessed before initialization', $e->getMessage());
        self::assertFalse($key->hasState('a'));
        self::assertNull($key->getRemainingLifetime());
    }
}
