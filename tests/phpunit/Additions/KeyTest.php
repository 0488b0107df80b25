<?php

declare(strict_types=1);

namespace Latch\Tests\Additions;

use Latch\Exception\ExceptionInterface;
use Latch\Exception\InvalidArgumentException;
use Latch\Key;
use Latch\LockFactory;
use Latch\Store\InMemoryStore;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * Keys: corrupt payloads are refused in words, secrets are not shown.
 */
final class KeyTest extends TestCase
{
    public function testAnEmptyResourceIsRefusedUnderLatchsNames(): void
    {
        $factory = new LockFactory(new InMemoryStore());
        foreach (['Key::__construct()' => static fn () => new Key(''), 'LockFactory::createLock()' => static fn () => $factory->createLock('')] as $name => $call) {
            if (Subject::mode() === 'symfony') {
                self::assertIsObject($call());
            } else {
                $e = $this->assertThrows(InvalidArgumentException::class, null, $call);
                self::assertSame("Latch\\$name: Argument #1 (\$resource) must not be empty: give the lock a name", $e->getMessage());
            }
        }
    }

    /**
     * @return iterable<string, array{array<mixed>, string}> a payload and the entry to be named
     */
    public static function corrupt(): iterable
    {
        $object = new \stdClass();
        yield 'nothing' => [[], 'resource'];
        yield 'no resource' => [['expiringTime' => 1.0, 'state' => []], 'resource'];
        yield 'null for a resource' => [['resource' => null], 'resource'];
        yield 'a list for a resource' => [['resource' => ['r']], 'resource'];
        yield 'a mangled list for a resource' => [["\0Symfony\\Component\\Lock\\Key\0resource" => []], 'resource'];
        yield 'words for an expiry' => [['resource' => 'r', 'expiringTime' => 'soon'], 'expiringTime'];
        yield 'a list for an expiry' => [['resource' => 'r', 'expiringTime' => []], 'expiringTime'];
        yield 'an object for an expiry' => [['resource' => 'r', 'expiringTime' => $object], 'expiringTime'];
        yield 'no number for an expiry' => [['resource' => 'r', 'expiringTime' => \NAN], 'expiringTime'];
        yield 'words for the state' => [['resource' => 'r', 'state' => 'words'], 'state'];
        yield 'a number for the state' => [['resource' => 'r', 'state' => 1], 'state'];
        yield 'an object for the state' => [['resource' => 'r', 'state' => $object], 'state'];
    }

    /**
     * @param array<mixed> $payload
     */
    #[DataProvider('corrupt')]
    public function testACorruptPayloadIsRefused(array $payload, string $entry): void
    {
        $blank = (new \ReflectionClass(Key::class))->newInstanceWithoutConstructor();
        $e = $this->assertThrows(
            InvalidArgumentException::class,
            null,
            static fn () => $blank->__unserialize($payload),
        );
        self::assertStringContainsString($entry, $e->getMessage());

        $class = Subject::name('Key');
        $text = 'O:' . \strlen($class) . ':"' . $class . '"' . substr(serialize($payload), 1);
        $this->assertThrows(InvalidArgumentException::class, $e->getMessage(), static fn () => unserialize($text));
    }

    public function testAnyObjectForAResourceIsRefusedLikeAStringable(): void
    {
        $this->assertThrows(
            \BadMethodCallException::class,
            'Cannot unserialize ' . Subject::name('Key'),
            static fn () => (new Key('r'))->__unserialize(['resource' => new \stdClass()]),
        );
    }

    public function testARefusedPayloadLeavesTheKeyAsItWas(): void
    {
        $key = new Key('before');
        $key->setState('a', 'b');
        foreach (self::corrupt() as [$payload]) {
            $this->assertThrows(
                InvalidArgumentException::class,
                null,
                static fn () => $key->__unserialize($payload + ['state' => []]),
            );
        }

        self::assertSame(
            ['resource' => 'before', 'expiringTime' => null, 'state' => ['a' => 'b']],
            $key->__serialize(),
        );
    }

    /**
     * Whatever the bytes are, the outcome is a key, false with a notice, or an exception in words.
     */
    public function testRandomDamageDoesNoHarm(): void
    {
        mt_srand(20240607);
        $key = new Key("resource \0 1");
        $key->setState('a', ['token' => str_repeat('x', 44), 'n' => [1, 2.5, null, true]]);
        $key->reduceLifetime(100.0);
        $mangled = "\0Symfony\\Component\\Lock\\Key\0";
        $old = ["{$mangled}resource" => 'r', "{$mangled}expiringTime" => 1.5, "{$mangled}state" => ['a' => 'b']];
        $class = Subject::name('Key');
        $texts = [
            serialize($key),
            serialize([$key, $key]),
            'O:' . \strlen($class) . ':"' . $class . '"' . substr(serialize($old), 1),
        ];

        $snippets = ['i:1;', 'N;', 'a:0:{}', 's:1:"x";', 'd:NAN;', 'r:1;'];
        $outcomes = ['read' => 0, 'refused' => 0];
        for ($i = 0; $i < 20000; ++$i) {
            $text = $texts[$i % \count($texts)];
            for ($n = mt_rand(1, 4); $n > 0; --$n) {
                $at = mt_rand(0, \strlen($text) - 1);
                $text = match (mt_rand(0, 4)) {
                    0 => substr_replace($text, \chr(mt_rand(0, 255)), $at, 1),
                    1 => substr_replace($text, '', $at, mt_rand(1, 5)),
                    2 => substr_replace($text, substr($text, mt_rand(0, \strlen($text) - 1), 9), $at, 0),
                    3 => substr_replace($text, $snippets[mt_rand(0, \count($snippets) - 1)], $at, 4),
                    4 => substr_replace($text, (string) mt_rand(-9, 99), $at, 1),
                } ?: 'x';
            }
            try {
                $read = @unserialize($text);
                ++$outcomes[$read === false ? 'refused' : 'read'];
                if ($read instanceof Key) {
                    $read->hasState('a');
                    serialize($read);
                }
            } catch (ExceptionInterface | \BadMethodCallException | \Exception $e) {
                ++$outcomes['refused'];
                self::assertNotSame('', $e->getMessage());
            }
        }

        self::assertSame(20000, array_sum($outcomes));
        self::assertGreaterThan(0, $outcomes['read']);
        self::assertGreaterThan(0, $outcomes['refused']);
    }

    public function testTokensAreNotShown(): void
    {
        $store = new InMemoryStore();
        $key = new Key('the resource');
        $store->save($key);
        $token = $key->getState('Symfony\Component\Lock\Store\InMemoryStore');
        self::assertIsString($token);
        ob_start();
        var_dump($key);
        $shown = (string) ob_get_clean() . print_r($key, true);

        self::assertStringContainsString('the resource', $shown);
        self::assertStringNotContainsString($token, $shown);
    }

    public function testItTakesNoFurtherProperties(): void
    {
        $key = new Key('r');

        $e = $this->assertThrows(\Error::class, null, static fn () => $key->further = 1);
        self::assertStringContainsString('Cannot create dynamic property', $e->getMessage());
    }
}
