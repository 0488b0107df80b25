<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Support;

use Psr\Clock\ClockInterface;
use Symfony\Component\Messenger\Transport\InMemory\InMemoryTransport;
use Symfony\Component\Messenger\Transport\Serialization\SerializerInterface;
use Symfony\Component\Messenger\Transport\TransportFactoryInterface;
use Symfony\Component\Messenger\Transport\TransportInterface;

/**
 * Symfony's transports in memory, with the tests' clock in Symfony 6.4, too: "memory://" and "memory://serialized".
 *
 * @implements TransportFactoryInterface<InMemoryTransport>
 */
final class InMemoryFactory implements TransportFactoryInterface
{
    public function __construct(private readonly ClockInterface $clock)
    {
    }

    /**
     * @param array<string, mixed> $options
     */
    public function createTransport(string $dsn, array $options, SerializerInterface $serializer): TransportInterface
    {
        return new InMemoryTransport($dsn === 'memory://serialized' ? $serializer : null, $this->clock);
    }

    /**
     * @param array<string, mixed> $options
     */
    public function supports(string $dsn, array $options): bool
    {
        return str_starts_with($dsn, 'memory://');
    }
}
