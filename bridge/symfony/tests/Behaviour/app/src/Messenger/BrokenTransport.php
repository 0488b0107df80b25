<?php

declare(strict_types=1);

namespace App\Messenger;

use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\TransportException;
use Symfony\Component\Messenger\Transport\Serialization\SerializerInterface;
use Symfony\Component\Messenger\Transport\TransportFactoryInterface;
use Symfony\Component\Messenger\Transport\TransportInterface;

/**
 * broken://: takes nothing.
 *
 * @implements TransportFactoryInterface<self>
 */
final class BrokenTransport implements TransportInterface, TransportFactoryInterface
{
    public function createTransport(string $dsn, array $options, SerializerInterface $serializer): TransportInterface
    {
        return $this;
    }

    public function supports(string $dsn, array $options): bool
    {
        return $dsn === 'broken://';
    }

    public function send(Envelope $envelope): Envelope
    {
        throw new TransportException('The transport is broken.');
    }

    public function get(): iterable
    {
        return [];
    }

    public function ack(Envelope $envelope): void
    {
    }

    public function reject(Envelope $envelope): void
    {
    }
}
