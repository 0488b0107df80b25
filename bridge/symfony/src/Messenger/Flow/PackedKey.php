<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Flow;

use Latch\Key;

/**
 * Keys as text, without the name of their class, which is another one under Symfony's names.
 *
 * @internal
 */
final class PackedKey
{
    /**
     * @throws \Latch\Exception\UnserializableKeyException when the lock is bound to this process
     */
    public static function pack(Key $key): string
    {
        return self::packData($key->__serialize());
    }

    public static function unpack(string $packed): Key
    {
        return self::made(Key::class, $packed);
    }

    /**
     * @throws \Latch\Semaphore\Exception\UnserializableKeyException when the permits are bound to this process
     */
    public static function packPermits(\Latch\Semaphore\Key $key): string
    {
        return self::packData($key->__serialize());
    }

    public static function unpackPermits(string $packed): \Latch\Semaphore\Key
    {
        return self::made(\Latch\Semaphore\Key::class, $packed);
    }

    /**
     * @param array<string, mixed> $data
     */
    private static function packData(array $data): string
    {
        return base64_encode(serialize($data));
    }

    /**
     * @template K of Key|\Latch\Semaphore\Key
     *
     * @param class-string<K> $class
     *
     * @return K
     */
    private static function made(string $class, string $packed): object
    {
        $data = unserialize((string) base64_decode($packed, true), ['allowed_classes' => false]);
        if (!\is_array($data)) {
            throw new \UnexpectedValueException('A message has a key that cannot be read.');
        }
        $key = (new \ReflectionClass($class))->newInstanceWithoutConstructor();
        $key->__unserialize($data);

        return $key;
    }
}
