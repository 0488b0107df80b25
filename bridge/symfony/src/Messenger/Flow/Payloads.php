<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Flow;

use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Transport\Serialization\SerializerInterface;

/**
 * Messages within messages, or in a store, as signed text: who may write there may not choose what is unserialised here.
 *
 * @internal
 */
final class Payloads
{
    public function __construct(
        private readonly SerializerInterface $serializer,
        #[\SensitiveParameter] private readonly string $secret,
    ) {
    }

    public function encode(Envelope $envelope): string
    {
        $json = json_encode($this->serializer->encode($envelope), \JSON_THROW_ON_ERROR);

        return $this->signature($json) . $json;
    }

    /**
     * @throws \UnexpectedValueException when it was not made by encode()
     * @throws \InvalidArgumentException when the serialiser cannot read it
     */
    public function decode(string $payload): Envelope
    {
        $json = substr($payload, 64);
        if (!hash_equals($this->signature($json), substr($payload, 0, 64))) {
            throw new \UnexpectedValueException('A message that another one carries has a wrong signature: it was changed on its way, or latch.messenger.secret was.');
        }

        return $this->serializer->decode(json_decode($json, true, 512, \JSON_THROW_ON_ERROR));
    }

    private function signature(string $json): string
    {
        if ($this->secret === '') {
            throw new \LogicException('Messages that other messages carry are signed: set framework.secret, or latch.messenger.secret.');
        }

        return hash_hmac('sha256', "latch-payload\0$json", $this->secret);
    }
}
