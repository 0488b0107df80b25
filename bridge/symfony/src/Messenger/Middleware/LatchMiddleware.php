<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Middleware;

use Latch\Symfony\Messenger\AfterAll;
use Latch\Symfony\Messenger\Event\LockLostEvent;
use Latch\Symfony\Messenger\Event\MessageParkedEvent;
use Latch\Symfony\Messenger\Event\MessageSkippedEvent;
use Latch\Symfony\Messenger\Exception\LockLostException;
use Latch\Symfony\Messenger\Flow\Attempt;
use Latch\Symfony\Messenger\Flow\Dispatch;
use Latch\Symfony\Messenger\Flow\Holds;
use Latch\Symfony\Messenger\Flow\Recorder;
use Latch\Symfony\Messenger\Flow\Travel;
use Latch\Symfony\Messenger\Guard\Ending;
use Latch\Symfony\Messenger\Guard\Guard;
use Latch\Symfony\Messenger\HandlerLocks;
use Latch\Symfony\Messenger\Ordered;
use Latch\Symfony\Messenger\ParkedStamp;
use Latch\Symfony\Messenger\Rule;
use Latch\Symfony\Messenger\Rule\RuleReader;
use Latch\Symfony\Messenger\Rule\RuleSet;
use Latch\Symfony\Messenger\SkippedStamp;
use Psr\Container\ContainerInterface;
use Psr\Log\LoggerInterface;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Middleware\MiddlewareInterface;
use Symfony\Component\Messenger\Middleware\StackInterface;
use Symfony\Component\Messenger\Stamp\AckStamp;
use Symfony\Component\Messenger\Stamp\ConsumedByWorkerStamp;
use Symfony\Component\Messenger\Stamp\FlushBatchHandlersStamp;
use Symfony\Component\Messenger\Stamp\NoAutoAckStamp;
use Symfony\Component\Messenger\Stamp\ReceivedStamp;
use Symfony\Component\Messenger\Stamp\TransportNamesStamp;
use Symfony\Component\Messenger\Transport\Sender\SendersLocator;
use Symfony\Component\Messenger\Transport\Sender\SendersLocatorInterface;

/**
 * Applies the rules of messages. Outside of the application's own middlewares, so that locks end after transactions.
 */
final class LatchMiddleware implements MiddlewareInterface
{
    /** @var list<Attempt> acknowledged by batch handlers, which may be inside of a transaction still */
    private array $acknowledged = [];

    /** @var \WeakMap<RuleSet, list<Guard>> those that have something to do before a message is sent */
    private \WeakMap $dispatchingOfRules;

    /** @var \WeakMap<RuleSet, list<Guard>> and before it is handled, if nothing travels with it */
    private \WeakMap $guardsOfRules;

    /** @var array<class-string, list<string>> names of the transports of messages */
    private array $routes = [];

    /**
     * @param list<Guard>        $guards      in the order in which they are asked before a message is handled
     * @param list<Guard>        $dispatching those that are asked before it is sent, in their order
     * @param ContainerInterface $transports  senders, by the names of the transports
     */
    public function __construct(
        private readonly array $guards,
        private readonly array $dispatching,
        private readonly RuleReader $rules,
        private readonly Holds $holds,
        private readonly HandlerLocks $handlerLocks,
        private readonly SendersLocatorInterface $senders,
        private readonly ContainerInterface $transports,
        private readonly Ending $ending,
        private readonly Recorder $recorder,
        private readonly ?LoggerInterface $logger = null,
    ) {
        $this->dispatchingOfRules = new \WeakMap();
        $this->guardsOfRules = new \WeakMap();
    }

    public function handle(Envelope $envelope, StackInterface $stack): Envelope
    {
        if ($envelope->last(FlushBatchHandlersStamp::class) !== null) {
            return $this->flush($envelope, $stack);
        }
        if ($envelope->last(ReceivedStamp::class) !== null) {
            $travel = Travel::of($envelope);

            return $this->attempt($envelope, $this->attemptOf($envelope, $travel), $stack);
        }

        // That of another dispatch, as in a handler that dispatches its own envelope: what it names is not this one's.
        $envelope = Travel::none()->onto($envelope);
        $rules = $this->rules->beforeDispatch($envelope);
        if ($rules->isEmpty()) {
            return $this->pass($envelope, $stack);
        }

        return $this->dispatch(new Dispatch($envelope, $rules, $this->senders($envelope)), $stack);
    }

    private function pass(Envelope $envelope, StackInterface $stack): Envelope
    {
        try {
            return $stack->next()->handle($envelope, $stack);
        } finally {
            $this->releaseHandlersLocks($envelope->getMessage());
        }
    }

    private function dispatch(Dispatch $dispatch, StackInterface $stack): Envelope
    {
        try {
            foreach ($this->dispatchingOfRules[$dispatch->rules] ??= self::guardsFor($dispatch->rules, $this->dispatching) as $guard) {
                $guard->dispatching($dispatch);
                $reason = $dispatch->skipped;
                if ($reason !== null) {
                    $this->undo($dispatch);

                    return $this->skipped($dispatch->envelope, $reason, $dispatch->skippedBy);
                }
                if ($dispatch->parked) {
                    return $this->parked($dispatch->envelope, $dispatch->rules->one(AfterAll::class));
                }
            }
            if ($dispatch->senders === []) {
                $envelope = $dispatch->envelope->withoutStampsOfType(Rule::class);

                return $this->attempt($envelope, new Attempt($envelope, $dispatch->rules, $dispatch->travel, false, false, $this->recorder), $stack);
            }
            $envelope = $this->rules->pack($dispatch->envelope, $dispatch->travel);
            $toSend = $dispatch->toSend($dispatch->travel->onto($envelope));
            $result = $toSend === null ? $this->parked($envelope, $dispatch->rules->one(Ordered::class)) : $stack->next()->handle($toSend, $stack);
        } catch (\Throwable $e) {
            // Of several transports one may have it already.
            if (\count($dispatch->senders) < 2) {
                $this->undo($dispatch);
            }
            throw $e;
        }
        foreach ($dispatch->afterwards() as $call) {
            $this->quietly($call);
        }

        return $result;
    }

    private function attemptOf(Envelope $envelope, Travel $travel): Attempt
    {
        return new Attempt(
            $envelope,
            $this->rules->beforeHandling($envelope, $travel),
            $travel,
            $envelope->last(ConsumedByWorkerStamp::class) !== null,
            $this->transports->has($envelope->last(ReceivedStamp::class)?->getTransportName() ?? ''),
            $this->recorder,
        );
    }

    private function attempt(Envelope $envelope, Attempt $attempt, StackInterface $stack): Envelope
    {
        try {
            $result = $this->handleGuarded($envelope, $attempt, $stack);
        } catch (\Throwable $e) {
            $this->end($attempt, $e);
            if ($e instanceof LockLostException) {
                $this->recorder->tell(LockLostEvent::class, static fn () => new LockLostEvent($envelope, $e->rule, $e->resource));
            }
            throw $e;
        } finally {
            $this->endAcknowledged();
        }
        if ($result->last(NoAutoAckStamp::class) === null || $envelope->last(AckStamp::class) === null) {
            $this->end($attempt, null);
        }

        return $result;
    }

    private function handleGuarded(Envelope $envelope, Attempt $attempt, StackInterface $stack): Envelope
    {
        $this->holds->renew();
        $guards = $attempt->travel->isEmpty()
            ? $this->guardsOfRules[$attempt->rules] ??= self::guardsFor($attempt->rules, $this->guards)
            : $this->guards;
        foreach ($guards as $guard) {
            $guard->handling($attempt);
            if ($attempt->skipped !== null) {
                return $this->skipped($envelope, $attempt->skipped, $attempt->skippedBy);
            }
        }
        $this->holds->enter($attempt);
        try {
            return $stack->next()->handle($this->withAcknowledgement($envelope, $attempt), $stack);
        } finally {
            $this->holds->leave();
        }
    }

    /** A batch handler acknowledges its messages later, in the middle of another one: then their locks end. */
    private function withAcknowledgement(Envelope $envelope, Attempt $attempt): Envelope
    {
        $stamp = $envelope->last(AckStamp::class);

        return $stamp === null ? $envelope : $envelope->with(new AckStamp(
            function (Envelope $envelope, ?\Throwable $error = null) use ($stamp, $attempt): void {
                if ($error === null) {
                    try {
                        $this->goOn($attempt);
                    } catch (\Throwable $error) {
                    }
                }
                $this->acknowledged[] = $attempt;
                $stamp->ack($envelope, $error);
            },
        ));
    }

    private function flush(Envelope $envelope, StackInterface $stack): Envelope
    {
        try {
            return $stack->next()->handle($envelope, $stack);
        } finally {
            $this->endAcknowledged();
        }
    }

    private function endAcknowledged(): void
    {
        if ($this->holds->current() === null) {
            $attempts = $this->acknowledged;
            $this->acknowledged = [];
            foreach ($attempts as $attempt) {
                $this->release($attempt);
            }
        }
    }

    private function end(Attempt $attempt, ?\Throwable $error): void
    {
        $this->release($attempt);
        if (!$attempt->byWorker && !$attempt->travel->isEmpty()) {
            $this->ending->tell($attempt->envelope, static fn (Guard $guard) => $guard->ended($attempt->travel, $error !== null));
        }
        if ($error === null) {
            $this->goOn($attempt);
        }
    }

    private function goOn(Attempt $attempt): void
    {
        if ($attempt->skipped === null && !$attempt->handled) {
            $attempt->handled = true;
            foreach ($attempt->travel->isEmpty() ? [] : $this->guards as $guard) {
                $guard->handled($attempt);
            }
        }
    }

    /**
     * @param list<Guard> $guards
     *
     * @return list<Guard> those of them that have something to do
     */
    private static function guardsFor(RuleSet $rules, array $guards): array
    {
        return array_values(array_filter($guards, static fn (Guard $guard): bool => $rules->hasAny($guard->rules())));
    }

    private function release(Attempt $attempt): void
    {
        $this->releaseHandlersLocks($attempt->message);
        foreach ($attempt->takeFinally() as $call) {
            $this->quietly($call);
        }
    }

    private function releaseHandlersLocks(object $message): void
    {
        foreach ($this->handlerLocks->take($message) as $lock) {
            $this->quietly($lock->release(...));
        }
    }

    private function undo(Dispatch $dispatch): void
    {
        foreach ($dispatch->undo() as $call) {
            $this->quietly($call);
        }
    }

    private function parked(Envelope $envelope, ?Rule $rule): Envelope
    {
        $this->recorder->tell(MessageParkedEvent::class, static fn () => new MessageParkedEvent($envelope, $rule));

        return $envelope->with(new ParkedStamp());
    }

    private function skipped(Envelope $envelope, string $reason, ?Rule $rule): Envelope
    {
        $this->logger?->info('{class} was skipped: {reason}', ['class' => $envelope->getMessage()::class, 'reason' => $reason]);
        $this->recorder->tell(MessageSkippedEvent::class, static fn () => new MessageSkippedEvent($envelope, $rule, $reason));

        return $envelope->with(new SkippedStamp($reason));
    }

    /**
     * What was done is not undone by a lock that cannot be released, and ends by itself.
     *
     * @param \Closure(): mixed $call
     */
    private function quietly(\Closure $call): void
    {
        try {
            $call();
        } catch (\Throwable $e) {
            $this->logger?->error('A rule of a message cannot be ended: {error}', ['error' => $e->getMessage(), 'exception' => $e]);
        }
    }

    /**
     * @return list<string>
     */
    private function senders(Envelope $envelope): array
    {
        // That of Symfony reads the attributes of the class each time, and a message is asked for twice.
        if ($this->senders::class === SendersLocator::class && $envelope->last(TransportNamesStamp::class) === null) {
            return $this->routes[$envelope->getMessage()::class] ??= $this->ask($envelope);
        }

        return $this->ask($envelope);
    }

    /**
     * @return list<string>
     */
    private function ask(Envelope $envelope): array
    {
        $names = [];
        foreach ($this->senders->getSenders($envelope) as $name => $sender) {
            $names[] = "$name";
        }

        return $names;
    }
}
