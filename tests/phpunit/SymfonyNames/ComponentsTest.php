<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyNames;

use Latch\Tests\Support\RecordingLogger;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\RequiresPhpExtension;
use PHPUnit\Framework\Attributes\TestWith;
use Symfony\Component\Lock\BlockingStoreInterface;
use Symfony\Component\Lock\Exception\LockExpiredException;
use Symfony\Component\Lock\Exception\UnserializableKeyException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\Lock;
use Symfony\Component\Lock\PersistingStoreInterface;
use Symfony\Component\Lock\Serializer\LockKeyNormalizer;
use Symfony\Component\Lock\Store\CombinedStore;
use Symfony\Component\Lock\Store\ExpiringStoreTrait;
use Symfony\Component\Lock\Store\FlockStore;
use Symfony\Component\Lock\Store\InMemoryStore;
use Symfony\Component\Lock\Store\MemcachedStore;
use Symfony\Component\Lock\Store\SemaphoreStore;
use Symfony\Component\Lock\Strategy\ConsensusStrategy;
use Symfony\Component\Lock\Strategy\UnanimousStrategy;
use Symfony\Component\Serializer\Encoder\JsonEncoder;
use Symfony\Component\Serializer\Encoder\XmlEncoder;
use Symfony\Component\Serializer\Serializer;

/**
 * What Latch does not provide, Composer's autoloader goes on loading from symfony/lock, and it works on
 * Latch's classes and interfaces.
 */
final class ComponentsTest extends TestCase
{
    public function testTheyComeFromVendor(): void
    {
        foreach ([LockKeyNormalizer::class, MemcachedStore::class] as $name) {
            $class = new \ReflectionClass($name);
            self::assertStringContainsString('/symfony/lock/', (string) $class->getFileName());
        }
        self::assertFalse((new \ReflectionClass(CombinedStore::class))->getFileName());
    }

    public function testACombinedStoreOfOurs(): void
    {
        $memory = new InMemoryStore();
        $flock = new FlockStore($this->directory());
        $store = new CombinedStore([$memory, $flock], new UnanimousStrategy());
        $lock = new Lock($key = new Key('r'), $store, 100.0);

        self::assertTrue($lock->acquire());
        self::assertTrue($memory->exists($key));
        self::assertTrue($flock->exists($key));
        self::assertTrue($lock->isHeld());
        self::assertFalse((new Lock(new Key('r'), $memory))->acquire());
        self::assertFalse((new Lock(new Key('r'), $flock))->acquire());
        $lock->release();

        self::assertTrue($lock->acquireRead());
        self::assertTrue((new Lock(new Key('r'), $flock))->acquireRead());
    }

    public function testACombinedStoreWithAMinorityHeldBySomebodyElse(): void
    {
        $members = [new InMemoryStore(), new InMemoryStore(), new InMemoryStore()];
        $store = new CombinedStore($members, new ConsensusStrategy());
        $logger = new RecordingLogger();
        $store->setLogger($logger);
        $members[0]->save(new Key('r'));
        $lock = new Lock($key = new Key('r'), $store);

        self::assertTrue($lock->acquire());
        self::assertContains('debug', array_column($logger->records, 0));
        $members[1]->delete($key);
        self::assertFalse($lock->isAcquired());
    }

    #[RequiresPhpExtension('sysvsem')]
    public function testASemaphoreStoreOfVendors(): void
    {
        $resource = 'latch test ' . bin2hex(random_bytes(8));
        $store = new SemaphoreStore();
        self::assertInstanceOf(BlockingStoreInterface::class, $store);
        $lock = new Lock(new Key($resource), $store);

        self::assertTrue($lock->acquire());
        self::assertFalse((new Lock(new Key($resource), $store))->acquire());
        $lock->release();
        self::assertTrue($lock->acquire(true));
    }

    public function testAStoreWithVendorsExpiringTrait(): void
    {
        $store = new class () implements PersistingStoreInterface {
            use ExpiringStoreTrait;
            use NothingHeld;

            public function save(Key $key): void
            {
                $key->reduceLifetime(-1.0);
                $this->checkNotExpired($key);
            }
        };

        $this->assertThrows(
            LockExpiredException::class,
            'Failed to store the "r" lock.',
            static fn () => $store->save(new Key('r')),
        );
    }

    #[TestWith(['json'])]
    #[TestWith(['xml'])]
    public function testKeysGoThroughTheSerializer(string $format): void
    {
        $serializer = new Serializer([new LockKeyNormalizer()], [new JsonEncoder(), new XmlEncoder()]);
        $store = new InMemoryStore();
        foreach (['a resource', '42'] as $resource) {
            $store->save($key = new Key($resource));
            $copy = $serializer->deserialize($serializer->serialize($key, $format), Key::class, $format);

            self::assertInstanceOf(Key::class, $copy);
            self::assertSame($resource, (string) $copy);
            self::assertNull($copy->getRemainingLifetime());
            self::assertTrue($store->exists($copy));
        }

        $key = new Key('expiring');
        $key->reduceLifetime(100.0);
        $copy = $serializer->deserialize($serializer->serialize($key, $format), Key::class, $format);
        self::assertEqualsWithDelta($key->getRemainingLifetime(), $copy->getRemainingLifetime(), 1.0);
    }

    /**
     * What Messenger's stamps do with keys, by that release's normalizer.
     */
    public function testKeysGoThroughTheNormalizerOfSymfony8(): void
    {
        $file = getenv('LATCH_SYMFONY_8') . '/symfony/lock/Serializer/LockKeyNormalizer.php';
        self::assertFileExists($file);

        self::assertSame('r 1', $this->withTheExtension(
            'require ' . var_export($file, true) . ';' . <<<'END'
                use Symfony\Component\Lock\{Key, Serializer\LockKeyNormalizer, Store\InMemoryStore};
                use Symfony\Component\Serializer\{Encoder\JsonEncoder, Serializer};
                $serializer = new Serializer([new LockKeyNormalizer()], [new JsonEncoder()]);
                $store = new InMemoryStore();
                $store->save($key = new Key('r'));
                $copy = $serializer->deserialize($serializer->serialize($key, 'json'), Key::class, 'json');
                echo $copy, ' ', (int) $store->exists($copy);
                END,
            (string) getenv('LATCH_VENDOR'),
        ));
    }

    public function testAKeyOfThisProcessDoesNotGoThroughTheSerializer(): void
    {
        $serializer = new Serializer([new LockKeyNormalizer()], [new JsonEncoder()]);
        (new FlockStore($this->directory()))->save($key = new Key('r'));

        $this->assertThrows(
            UnserializableKeyException::class,
            'The key cannot be serialized.',
            static fn () => $serializer->serialize($key, 'json'),
        );
    }
}
