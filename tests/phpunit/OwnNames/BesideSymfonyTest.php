<?php

declare(strict_types=1);

namespace Latch\Tests\OwnNames;

use Latch\Key;
use Latch\Lock;
use Latch\LockFactory;
use Latch\Store\FlockStore;
use Latch\Store\InMemoryStore;
use Latch\Tests\Support\RecordingLogger;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use Symfony\Component\Lock as Symfony;

/**
 * Without drop-in mode the extension keeps to its own names, and Composer's symfony/lock beside it is
 * what it was.
 */
final class BesideSymfonyTest extends TestCase
{
    public function testTheNamesAreLatchs(): void
    {
        foreach (Subject::CLASSES as $name) {
            $class = new \ReflectionClass(Subject::LATCH . $name);
            self::assertSame(Subject::LATCH . $name, $class->getName());
            self::assertSame('latch', $class->getExtensionName());
        }
        self::assertSame('Latch\Lock', (new Lock(new Key('r'), new InMemoryStore()))::class);
        self::assertStringStartsWith('O:9:"Latch\Key":', serialize(new Key('r')));
    }

    public function testSymfonysClassesComeFromTheirFiles(): void
    {
        foreach (Subject::CLASSES as $name) {
            $class = new \ReflectionClass(Subject::SYMFONY . $name);
            self::assertStringContainsString('/symfony/lock/', (string) $class->getFileName(), $name);
        }
        self::assertFalse(is_a(Lock::class, Symfony\LockInterface::class, true));
        self::assertFalse(is_a(Symfony\Lock::class, \Latch\LockInterface::class, true));
    }

    public function testBothLockTheSameFilesInOneProcess(): void
    {
        $ours = new Lock(new Key('r'), new FlockStore($this->directory()));
        $theirs = new Symfony\Lock(
            new Symfony\Key('r'),
            new Symfony\Store\FlockStore($this->directory()),
        );

        self::assertTrue($ours->acquire());
        self::assertFalse($theirs->acquire());
        $ours->release();
        self::assertTrue($theirs->acquire());
        self::assertFalse($ours->acquire());
        self::assertFalse($ours->acquire(true, 0.01));
        $theirs->release();

        self::assertTrue($ours->acquireRead());
        self::assertTrue($theirs->acquireRead());
    }

    public function testStoresAndKeysOfTheOtherSideAreRefused(): void
    {
        $this->assertThrows(
            \TypeError::class,
            null,
            static fn () => new Lock(new Key('r'), new Symfony\Store\InMemoryStore()),
        );
        $this->assertThrows(\TypeError::class, null, static fn () => new Symfony\LockFactory(new InMemoryStore()));
        $this->assertThrows(
            \TypeError::class,
            null,
            static fn () => (new InMemoryStore())->save(new Symfony\Key('r')),
        );
    }

    public function testAKeyCanBeHandedOverByItsPayload(): void
    {
        $key = new Key('r');
        $key->setState('a', 'b');
        $key->reduceLifetime(100.0);
        $theirs = new Symfony\Key('other');
        $theirs->__unserialize($key->__serialize());

        self::assertSame($key->__serialize(), $theirs->__serialize());
        $ours = new Key('other');
        $ours->__unserialize($theirs->__serialize());
        self::assertSame($key->__serialize(), $ours->__serialize());
    }

    public function testPsrLoggersAreTakenButTheirInterfaceIsNotImplemented(): void
    {
        $logger = new RecordingLogger();
        foreach ([new Lock(new Key('r'), new InMemoryStore()), new LockFactory(new InMemoryStore())] as $object) {
            self::assertNotInstanceOf(\Psr\Log\LoggerAwareInterface::class, $object);
            $object->setLogger($logger);
        }
        $file = (new \ReflectionClass(\Psr\Log\LoggerAwareInterface::class))->getFileName();
        self::assertStringContainsString('/psr/log/', (string) $file);
    }

    public function testTheModeCannotBeChangedLater(): void
    {
        self::assertSame('0', \ini_get('latch.symfony'));
        self::assertFalse(@ini_set('latch.symfony', '1'));
    }
}
