<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour\Queues;

/**
 * The transports of the application on a server of their own, and what a test does there behind the application's back.
 */
interface Queues
{
    /**
     * For the configuration of a transport.
     *
     * @param string                $consumer name of the process
     * @param array<string, string> $options  of the transport
     */
    public function dsn(string $transport, string $consumer, array $options): string;

    /**
     * Options of a worker that may be killed, so that its message is delivered to another one soon.
     *
     * @return array<string, string>
     */
    public function redeliverSoon(): array;

    /**
     * Options of a worker that hardly ever looks for messages, where its transport tells it of them.
     *
     * @return array<string, string>
     */
    public function notified(): array;

    /** How many idle workers are told of messages from now on; null where workers look for them. */
    public function listeners(): ?int;

    /**
     * What processes need in their environment beside the DSNs.
     *
     * @return array<string, string>
     */
    public function environment(): array;

    /** Removes all messages, after the processes of the last test have ended, but for the talker. */
    public function empty(): void;

    /** How many messages are in that transport, in hand, or delayed. */
    public function count(string $transport): int;

    /**
     * Changes messages in a transport, as somebody who can write into it could; the length must be the same.
     *
     * @return int how many there are that have the text
     */
    public function change(string $transport, string $text, string $by): int;

    /** Delivers messages that have this text once more, as transports may. */
    public function duplicate(string $transport, string $text): void;

    /** Loses what is in a transport. */
    public function lose(string $transport): void;
}
