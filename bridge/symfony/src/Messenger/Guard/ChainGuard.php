<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Latch\Symfony\Messenger\Chain;
use Latch\Symfony\Messenger\Flow\Attempt;
use Latch\Symfony\Messenger\Flow\Dispatch;
use Latch\Symfony\Messenger\Flow\Payloads;
use Latch\Symfony\Messenger\SkippedStamp;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\MessageBusInterface;
use Symfony\Component\Messenger\Stamp\BusNameStamp;

/**
 * Messages that follow one another. Those that are to come travel in the one that is on its way.
 *
 * @internal
 */
final class ChainGuard extends Guard
{
    /**
     * @param \Closure(): MessageBusInterface $bus the bus that BusNameStamp names
     */
    public function __construct(
        private readonly Payloads $payloads,
        private readonly \Closure $bus,
        private readonly OnceGuard $locks,
    ) {
    }

    public function rules(): array
    {
        return [Chain::class, ChainRest::class];
    }

    public function dispatching(Dispatch $dispatch): void
    {
        $payloads = [];
        foreach ($dispatch->rules->one(Chain::class)->messages ?? [] as $message) {
            $payloads[] = $this->payloads->encode($this->onSameBus(Envelope::wrap($message), $dispatch->envelope));
        }
        $rest = $dispatch->envelope->last(ChainRest::class)->payloads ?? [];
        $dispatch->envelope = $dispatch->envelope->withoutAll(ChainRest::class);
        if ([...$payloads, ...$rest] !== []) {
            $dispatch->travel->set('chain', [...$payloads, ...$rest]);
        }
    }

    public function handled(Attempt $attempt): void
    {
        /** @var list<string> $payloads */
        $payloads = $attempt->travel->get('chain') ?? [];
        $next = array_shift($payloads);
        if ($next !== null) {
            $envelope = $this->payloads->decode($next);
            $lock = OnceGuard::lockForNextStep($attempt->travel);
            if ($lock !== null) {
                $envelope = $envelope->with(new Chained($lock));
            }
            $sent = ($this->bus)()->dispatch($payloads === [] ? $envelope : $envelope->with(new ChainRest($payloads)));
            if ($lock !== null && $sent->last(SkippedStamp::class) !== null) {
                $this->locks->endChain($lock);
            }
        }
    }

    private function onSameBus(Envelope $next, Envelope $first): Envelope
    {
        $bus = $first->last(BusNameStamp::class);

        return $bus === null || $next->last(BusNameStamp::class) !== null ? $next : $next->with($bus);
    }
}
