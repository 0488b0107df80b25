<?php

declare(strict_types=1);

namespace App\Messenger;

use Latch\Symfony\Messenger\AfterAll;
use Latch\Symfony\Messenger\Chain;
use Symfony\Component\DependencyInjection\Attribute\Autowire;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\MessageBusInterface;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\DispatchAfterCurrentBusStamp;
use Symfony\Component\Messenger\Stamp\StampInterface;
use Symfony\Component\Messenger\Stamp\TransportNamesStamp;

/**
 * Dispatches what the tests describe.
 *
 * @phpstan-type Order array{type: string, name: string, steps?: list<mixed>, key?: string, bus?: string,
 *     to?: list<string>, after?: bool, delay?: int, rules?: list<array{string, array<string, mixed>}>, chain?: list<array<string, mixed>>,
 *     parts?: list<array<string, mixed>>, allowFailures?: bool}
 */
final class Sending
{
    public function __construct(
        #[Autowire(service: 'messenger.bus.default')] private readonly MessageBusInterface $bus,
        #[Autowire(service: 'transactional.bus')] private readonly MessageBusInterface $transactional,
    ) {
    }

    /**
     * @param Order          $order
     * @param StampInterface ...$stamps beside those of the order
     */
    public function send(array $order, StampInterface ...$stamps): Outcome
    {
        $envelope = $this->envelope($order)->with(...array_values($stamps));

        return new Outcome($this->bus($order['bus'] ?? 'default')->dispatch($envelope));
    }

    /**
     * @param Order $order
     */
    public function envelope(array $order): Envelope
    {
        $stamps = [];
        if (isset($order['to'])) {
            $stamps[] = new TransportNamesStamp($order['to']);
        }
        if ($order['after'] ?? false) {
            $stamps[] = new DispatchAfterCurrentBusStamp();
        }
        if (isset($order['delay'])) {
            $stamps[] = new DelayStamp($order['delay']);
        }
        foreach ($order['rules'] ?? [] as [$rule, $arguments]) {
            $stamps[] = new ('Latch\\Symfony\\Messenger\\' . $rule)(...$arguments);
        }
        if (isset($order['chain'])) {
            $stamps[] = new Chain(...array_map($this->envelope(...), $order['chain']));
        }
        if (isset($order['parts'])) {
            $stamps[] = new AfterAll(array_map($this->envelope(...), $order['parts']), $order['allowFailures'] ?? false);
        }
        $message = new ('App\\Message\\' . $order['type'])($order['name'], $order['steps'] ?? [], $order['key'] ?? '');

        return new Envelope($message, $stamps);
    }

    public function bus(string $name): MessageBusInterface
    {
        return match ($name) {
            'default' => $this->bus,
            'transactional' => $this->transactional,
        };
    }
}
