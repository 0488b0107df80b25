<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

/**
 * A process of the application that is no worker, and does what the test says: App\Command\TalkCommand.
 */
final class Talker extends Process
{
    /**
     * @param list<string> $command
     */
    public function __construct(array $command, string $name, string $errors, Journal $journal)
    {
        parent::__construct($command, $name, $errors, $journal, [['pipe', 'r'], ['pipe', 'w']]);
    }

    /** Returns what it answers. */
    public function ask(string $what, mixed ...$arguments): mixed
    {
        $this->begin($what, ...$arguments);

        return $this->finish();
    }

    /** Tells it, without awaiting the answer. */
    public function begin(string $what, mixed ...$arguments): void
    {
        fwrite($this->pipes[0], json_encode([$what, $arguments], \JSON_THROW_ON_ERROR) . "\n");
    }

    public function finish(): mixed
    {
        $read = [$this->pipes[1]];
        $none = null;
        $answers = stream_select($read, $none, $none, (int) self::patience());
        $line = $answers ? fgets($this->pipes[1]) : false;
        if ($line === false) {
            throw new \RuntimeException(($answers ? 'It has ended: ' : 'It does not answer: ') . $this->errors());
        }

        return json_decode($line, true, 512, \JSON_THROW_ON_ERROR);
    }
}
