<?php

declare(strict_types=1);

namespace App\Messenger;

use Latch\Symfony\Messenger\ParkedStamp;
use Latch\Symfony\Messenger\SkippedStamp;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Stamp\HandledStamp;
use Symfony\Component\Messenger\Stamp\SentStamp;

/**
 * What became of a dispatch, as its caller sees it.
 */
final class Outcome
{
    public function __construct(public readonly Envelope $envelope)
    {
    }

    /**
     * @return array{sent: string, handled: int, skipped: string|null, parked: bool}
     */
    public function told(): array
    {
        $sent = array_map(static fn (SentStamp $stamp): string => (string) $stamp->getSenderAlias(), $this->envelope->all(SentStamp::class));

        return [
            'sent' => implode(' ', $sent),
            'handled' => \count($this->envelope->all(HandledStamp::class)),
            'skipped' => $this->envelope->last(SkippedStamp::class)?->reason,
            'parked' => $this->envelope->last(ParkedStamp::class) !== null,
        ];
    }
}
