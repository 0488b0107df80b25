<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\MessageBusInterface;
use Symfony\Component\Messenger\Stamp\DelayStamp;

/**
 * A plan for one message or several, said in one sentence, which send() ends: a service to inject.
 *
 * Messages are handled one after the other, each when the one before was: a Chain. With ordered() they are also in order with
 * those of other plans of the key; with parallel() in any order. They may be envelopes with stamps. What the plan says takes
 * the place of the attribute of the same kind.
 */
final class Plan
{
    private ?string $key = null;

    private float $delay = 0.0;

    /** @var array{float, float|null}|null times of Once */
    private ?array $lock = null;

    private int|string|null $version = null;

    private bool $orSame = false;

    /** @var array{float, string|null, float}|null arguments of Ordered */
    private ?array $ordered = null;

    private bool $isParallel = false;

    private ?object $after = null;

    private bool $allowsFailures = false;

    /** @var list<object> */
    private array $messages = [];

    public function __construct(private readonly MessageBusInterface $bus)
    {
    }

    /**
     * What lock(), ifNewer() and ordered() are about.
     *
     * @param string $key may have placeholders, which the messages fill: see Rule
     */
    public function key(string $key): self
    {
        $this->key = $key;

        return $this;
    }

    /**
     * @param float $seconds until the first message, or all with parallel(), may be handled
     */
    public function delay(float $seconds): self
    {
        $this->delay = $seconds;

        return $this;
    }

    /**
     * Until the plan has ended, others of the key that have a lock() are not sent: see Once.
     *
     * @param float      $queueTtl seconds that a message of it may be in the queue
     * @param float|null $ttl      seconds after which the key of a killed worker is free; null: latch.messenger.ttl
     */
    public function lock(float $queueTtl = 3600.0, ?float $ttl = null): self
    {
        $this->lock = [$queueTtl, $ttl];

        return $this;
    }

    /**
     * Is not sent, or not handled any more, when a newer version of the key was sent: see IfNewer.
     *
     * @param bool $orSame the same version may be sent once more
     */
    public function ifNewer(int|string|\DateTimeInterface $version, bool $orSame = false): self
    {
        $this->version = $version instanceof \DateTimeInterface
            ? 1_000_000 * $version->getTimestamp() + (int) $version->format('u')
            : $version;
        $this->orSame = $orSame;

        return $this;
    }

    /**
     * All messages of the key are handled one after the other, those of other plans, too: see Ordered. One that fails for good
     * does not keep the others back.
     */
    public function ordered(float $patience = 3600.0, ?string $fallback = null, float $lease = 30.0): self
    {
        $this->ordered = [$patience, $fallback, $lease];

        return $this;
    }

    /** Messages are handled in any order, by several workers at a time. */
    public function parallel(): self
    {
        $this->isParallel = true;

        return $this;
    }

    /**
     * @param object ...$messages or envelopes with stamps
     */
    public function addMessage(object ...$messages): self
    {
        array_push($this->messages, ...array_values($messages));

        return $this;
    }

    /**
     * With parallel(): it is sent when all others were handled: see AfterAll.
     *
     * @param object $message or an envelope with stamps
     */
    public function after(object $message): self
    {
        $this->after = $message;

        return $this;
    }

    /** Also when some have failed for good, which a PartsFailedStamp tells the message of after(). */
    public function allowFailures(): self
    {
        $this->allowsFailures = true;

        return $this;
    }

    /**
     * Sends what was added, and forgets the plan, also when it throws.
     *
     * @return bool false: nothing was sent, as one of the key is on its way, or a newer one was sent
     *
     * @throws \LogicException                                          when something is missing, or does not go together
     * @throws \Symfony\Component\Messenger\Exception\ExceptionInterface
     */
    public function send(): bool
    {
        $plan = clone $this;
        // Before anything is sent: a handler that is called at once may make a plan of its own.
        $this->reset();
        $plan->check();

        return match (true) {
            $plan->after !== null => $plan->sendWithAfter($plan->after),
            $plan->isParallel, $plan->ordered !== null => $plan->sendEach(),
            default => $plan->sendChain(),
        };
    }

    /** Forgets the plan. */
    public function reset(): void
    {
        [$this->key, $this->delay, $this->lock, $this->version, $this->orSame] = [null, 0.0, null, null, false];
        [$this->ordered, $this->isParallel, $this->after, $this->allowsFailures, $this->messages] = [null, false, null, false, []];
    }

    /**
     * @throws \LogicException
     */
    private function check(): void
    {
        $needsKey = array_keys(array_filter([
            'lock()' => $this->lock !== null, 'ifNewer()' => $this->version !== null, 'ordered()' => $this->ordered !== null,
        ]));
        $mistake = match (true) {
            $this->messages === [] => 'There is no message: call addMessage() before send().',
            $needsKey !== [] && $this->key === null => "There is no key, which $needsKey[0] needs: call key() before send().",
            $this->after !== null && !$this->isParallel => 'after() needs parallel(). Without it, add the message as the last one.',
            $this->allowsFailures && $this->after === null => 'allowFailures() needs after().',
            $this->ordered !== null && $this->isParallel => 'ordered() and parallel() do not go together.',
            $this->lock !== null && $this->isParallel && $this->after === null => 'lock() with parallel() needs after(), whose end frees the key.',
            $this->lock !== null && $this->ordered !== null && \count($this->messages) > 1 => 'lock() with ordered() is for one message.',
            default => null,
        };
        if ($mistake !== null) {
            throw new \LogicException(self::class . ": $mistake");
        }
    }

    private function sendChain(): bool
    {
        $first = $this->first($this->messages[0], \count($this->messages) > 1 ? 'chain' : 'done');
        $rest = array_map(fn (object $message): Envelope => $this->further($message), \array_slice($this->messages, 1));

        return $this->dispatch($this->delayed($rest === [] ? $first : $first->with(new Chain(...$rest))));
    }

    private function sendWithAfter(object $after): bool
    {
        $parts = array_map(fn (object $message): Envelope => $this->delayed($this->further($message)), $this->messages);

        return $this->dispatch($this->first($after, 'done')->with(new AfterAll($parts, $this->allowsFailures)));
    }

    /** Where the first one is too old all are. */
    private function sendEach(): bool
    {
        $isSent = false;
        foreach ($this->messages as $i => $message) {
            $isSent = $this->dispatch($this->delayed($i === 0 ? $this->first($message, 'done') : $this->further($message))) || $isSent;
            if (!$isSent && $this->version !== null) {
                return false;
            }
        }

        return $isSent;
    }

    /**
     * @param 'chain'|'done' $until
     */
    private function first(object $message, string $until): Envelope
    {
        $envelope = $this->further($message, $this->orSame);

        return $this->lock === null ? $envelope : $envelope->with(new Once((string) $this->key, $until, ...$this->lock));
    }

    private function further(object $message, bool $orSame = true): Envelope
    {
        return Envelope::wrap($message)->with(...array_filter([
            $this->ordered === null ? null : new Ordered((string) $this->key, ...$this->ordered),
            $this->version === null ? null : new IfNewer((string) $this->key, "$this->version", $orSame),
        ]));
    }

    private function delayed(Envelope $envelope): Envelope
    {
        return $this->delay > 0 ? $envelope->with(new DelayStamp((int) ceil(1000 * $this->delay))) : $envelope;
    }

    private function dispatch(Envelope $envelope): bool
    {
        return $this->bus->dispatch($envelope)->last(SkippedStamp::class) === null;
    }
}
