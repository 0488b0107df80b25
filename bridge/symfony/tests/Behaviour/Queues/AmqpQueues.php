<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour\Queues;

use Latch\Symfony\Tests\Behaviour\Application;
use Latch\Tests\RabbitMqServer;

/**
 * RabbitMQ: an exchange and a queue for each transport, and a queue for each delay that its messages have.
 */
final class AmqpQueues implements Queues
{
    private readonly RabbitMqServer $server;

    public function __construct()
    {
        $this->server = new RabbitMqServer();
    }

    /** Senders wait until the server has what they send, so that it is there when a dispatch has returned. */
    public function dsn(string $transport, string $consumer, array $options): string
    {
        $options += ['confirm_timeout' => '10', 'connection_name' => $consumer];

        return \sprintf(
            'amqp://%s:%s@127.0.0.1:%d/%%2f/%s?%s',
            RabbitMqServer::USER,
            RabbitMqServer::PASSWORD,
            $this->server->port,
            $transport,
            http_build_query($options),
        );
    }

    /** The server delivers a message again when the connection of its worker has ended. */
    public function redeliverSoon(): array
    {
        return [];
    }

    public function notified(): array
    {
        return [];
    }

    public function listeners(): ?int
    {
        return null;
    }

    public function environment(): array
    {
        return [];
    }

    public function empty(): void
    {
        $this->server->purge(Application::TALKER);
    }

    public function count(string $transport): int
    {
        return $this->server->messages("^$transport$", "^delay_{$transport}_");
    }

    public function change(string $transport, string $text, string $by): int
    {
        $changed = 0;
        $this->replace($transport, $text, static function (string $body, array $headers) use ($text, $by, &$changed): array {
            $changed++;

            return [[str_replace($text, $by, $body), str_replace($text, $by, $headers)]];
        });

        return $changed;
    }

    public function duplicate(string $transport, string $text): void
    {
        $this->replace($transport, $text, static fn (string $body, array $headers): array => [[$body, $headers], [$body, $headers]]);
    }

    public function lose(string $transport): void
    {
        $this->replace($transport, '', static fn (): array => []);
    }

    /**
     * Takes messages out that have this text, and puts others in their place.
     *
     * @param callable(string, array<string, string>): list<array{string, array<string, string>}> $others bodies and headers
     */
    private function replace(string $transport, string $text, callable $others): void
    {
        $connection = new \AMQPConnection(['host' => '127.0.0.1', 'port' => $this->server->port,
            'login' => RabbitMqServer::USER, 'password' => RabbitMqServer::PASSWORD]);
        $connection->connect();
        $channel = new \AMQPChannel($connection);
        // All of them or, as far as others see, none: it may be that workers wait.
        $channel->startTransaction();
        $queue = new \AMQPQueue($channel);
        $queue->setName($transport);
        $exchange = new \AMQPExchange($channel); // leads to the queue with the name of the routing key
        while (($message = $queue->get()) instanceof \AMQPEnvelope) {
            $parts = [(string) $message->getBody(), $message->getHeaders()];
            foreach (str_contains(json_encode($parts, \JSON_THROW_ON_ERROR), $text) ? $others(...$parts) : [$parts] as [$body, $headers]) {
                $attributes = ['headers' => $headers, 'content_type' => $message->getContentType(), 'delivery_mode' => 2];
                $exchange->publish($body, $transport, \AMQP_NOPARAM, $attributes);
            }
            $queue->ack($message->getDeliveryTag());
        }
        $channel->commitTransaction();
        $connection->disconnect();
    }
}
