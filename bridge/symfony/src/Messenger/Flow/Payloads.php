<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Flow;

use Latch\Symfony\Messenger\Rule;
use Latch\Symfony\Messenger\Rule\RuleCodec;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Transport\Serialization\SerializerInterface;

/**
 * Messages within messages, or in a store, as signed text: who may write there may not choose what is unserialised here.
 * With them go the stamps that are rules, which no serialiser takes.
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

    /**
     * @throws \LogicException when it has a stamp that cannot travel
     */
    public function encode(Envelope $envelope): string
    {
        $rules = [];
        foreach ($envelope->all() as $class => $stamps) {
            if (is_subclass_of($class, Rule::class)) {
                /** @var list<Rule> $stamps */
                array_push($rules, ...array_map(RuleCodec::pack(...), $stamps));
            }
        }
        $json = json_encode(['envelope' => $this->serializer->encode($envelope), 'rules' => $rules], \JSON_THROW_ON_ERROR);

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

        /** @var array{envelope: array{body: string, headers?: array<string, string>}, rules: list<array{string, array<string, mixed>}>} $data */
        $data = json_decode($json, true, 512, \JSON_THROW_ON_ERROR);
        $rules = array_map(static fn (array $rule): Rule => RuleCodec::unpack(...$rule), $data['rules']);

        return $this->serializer->decode($data['envelope'])->with(...$rules);
    }

    private function signature(string $json): string
    {
        if ($this->secret === '') {
            throw new \LogicException('Messages that other messages carry are signed: set framework.secret, or latch.messenger.secret.');
        }

        return hash_hmac('sha256', "latch-payload\0$json", $this->secret);
    }
}
