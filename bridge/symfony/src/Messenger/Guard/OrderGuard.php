<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Latch\Entry;
use Latch\Exception\ExceptionInterface as LockException;
use Latch\LockFactory;
use Latch\Sequence;
use Latch\Symfony\Messenger\Flow\Attempt;
use Latch\Symfony\Messenger\Flow\Backoff;
use Latch\Symfony\Messenger\Flow\Dispatch;
use Latch\Symfony\Messenger\Flow\Holds;
use Latch\Symfony\Messenger\Flow\Payloads;
use Latch\Symfony\Messenger\Flow\Travel;
use Latch\Symfony\Messenger\Flow\Watchlist;
use Latch\Symfony\Messenger\Ordered;
use Latch\Symfony\Messenger\Rule\KeyTemplate;
use Latch\SyncFactory;
use Psr\Container\ContainerInterface;
use Psr\Log\LoggerInterface;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Stamp\SentStamp;
use Symfony\Component\Messenger\Stamp\SentToFailureTransportStamp;
use Symfony\Component\Messenger\Transport\Sender\SenderInterface;

/**
 * Lets one message of a key travel at a time, and keeps the others in a sequence.
 *
 * @internal
 */
final class OrderGuard extends Guard
{
    public const WATCHED = 'ordered';

    /** So that a lock of the same name is another one. */
    private const PREFIX = 'ordered.';

    /** Seconds by which clocks may differ within a lease. */
    private const CLOCKS = 0.1;

    /** @var array<string, Sequence> those of messages that this process handles, by key and ticket */
    private array $turns = [];

    /**
     * @param \Closure(): SyncFactory $factory    not every store has one
     * @param \Closure(): LockFactory $locks      of the same store
     * @param ContainerInterface      $transports senders, by the names of the transports
     * @param string                  $store      that of the factories
     */
    public function __construct(
        private readonly \Closure $factory,
        private readonly \Closure $locks,
        private readonly KeyTemplate $templates,
        private readonly StoreErrors $storeErrors,
        private readonly Payloads $payloads,
        private readonly Holds $holds,
        private readonly ContainerInterface $transports,
        private readonly string $store,
        private readonly Watchlist $watchlist,
        private readonly ?LoggerInterface $logger = null,
    ) {
    }

    public function rules(): array
    {
        return [Ordered::class];
    }

    public function isVital(): bool
    {
        return true;
    }

    public function dispatching(Dispatch $dispatch): void
    {
        $rule = $dispatch->rules->one(Ordered::class);
        if ($rule === null || $dispatch->senders === []) {
            return;
        }
        if (\count($dispatch->senders) > 1) {
            throw new \LogicException(\sprintf(
                '#[Ordered] needs one transport; %s goes to "%s".',
                $dispatch->message::class,
                implode('", "', $dispatch->senders),
            ));
        }
        if ($rule->fallback !== null && !$this->transports->has($rule->fallback)) {
            throw new \LogicException(\sprintf('#[Ordered] of %s: there is no transport "%s".', $dispatch->message::class, $rule->fallback));
        }
        $key = $this->templates->fill($rule->key, $dispatch->message);
        // Only what is sent has a place: a full queue may let it be handled here, or send it to another transport.
        $dispatch->sendThrough(fn (Envelope $envelope): ?Envelope => $this->enter($dispatch, $envelope, $key, $rule));
    }

    public function handling(Attempt $attempt): void
    {
        $place = $attempt->travel->get('ordered');
        if ($place === null) {
            return;
        }
        ['key' => $key, 'ticket' => $ticket] = $place;
        $rule = $attempt->rules->one(Ordered::class);
        $sequence = $this->sequence($place);
        try {
            $turn = $sequence->resume($ticket);
            if ($turn->retryAfter > 0) {
                $attempt->refuse($key, "It is not the turn of this message of \"$key\"", exactDelay: Backoff::round($turn->retryAfter), by: $rule);

                return;
            }
            $wasParked = $attempt->envelope->last(SentToFailureTransportStamp::class) !== null;
            if ($turn->state === 'done' && !$wasParked) {
                $this->sendOn($sequence, $sequence->next($ticket), $place['fallen'] ?? false);
                $attempt->skip("This message of \"$key\" was handled already", $rule);

                return;
            }
            if (!$this->holds->lock($attempt, $this->store, self::PREFIX . $key, null, null, false, false, $rule)) {
                // Its next delivery would wait for the end of this lease, too.
                $sequence->putBack($ticket);
                $attempt->refuse($key, "A message of \"$key\" is still handled", by: $rule);

                return;
            }
        } catch (LockException $e) {
            $this->storeErrors->refuse($attempt, $key, $e, by: $rule);

            return;
        }
        if ($turn->state === 'late' && !$wasParked) {
            $this->logger?->error('{class} comes later than its patience, and is handled out of the order of "{key}"', [
                'class' => $attempt->message::class,
                'key' => $key,
            ]);
        }
        $this->turns["$ticket $key"] = $sequence;
    }

    public function ended(Travel $travel, bool $failed): void
    {
        $place = $travel->get('ordered');
        if (isset($place['ticket'])) {
            $sequence = $this->takeTurn($place) ?? $this->sequence($place);
            $turn = $sequence->resume($place['ticket']);
            if ($failed && $turn->state === 'held') {
                $this->awaitTurn($sequence, $place['ticket'], min($turn->retryAfter, $place['lease']));
            }
            $this->sendOn($sequence, $sequence->next($place['ticket']), $place['fallen'] ?? false);
        }
    }

    /**
     * Of a message that has failed for good while the turn is another process's: Messenger parks what AMQP delivers again
     * when its worker was killed, at its last try. The lease of the dead worker ends. That of a living one does not, and
     * the living one sends the next message on by itself.
     *
     * @param float $lease seconds
     */
    private function awaitTurn(Sequence $sequence, int $ticket, float $lease): void
    {
        $end = hrtime(true) + 1e9 * ($lease + self::CLOCKS);
        do {
            // A signal ends a sleep early.
            usleep((int) max(1000, ($end - hrtime(true)) / 1000));
        } while ($sequence->resume($ticket)->state === 'held' && hrtime(true) < $end);
    }

    public function requeued(Travel $travel, float $delay): void
    {
        $place = $travel->get('ordered');
        if (isset($place['ticket'])) {
            $this->takeTurn($place)?->putBack($place['ticket']);
        }
    }

    private function enter(Dispatch $dispatch, Envelope $envelope, string $key, Ordered $rule): ?Envelope
    {
        $sequence = ($this->factory)()->createSequence($key, lease: $rule->lease);
        $travel = Travel::of($envelope);
        $travels = [
            'key' => $key, 'lease' => $rule->lease, 'transport' => $dispatch->senders[0], 'fallback' => $rule->fallback,
        ];
        $travel->set('ordered', $travels);
        $place = $sequence->enter(bin2hex(random_bytes(16)), $this->payloads->encode($travel->onto($envelope)));
        if (!$place->isHead) {
            $this->watch($sequence, $key, $rule);

            return null;
        }
        $travel->set('ordered', [...$travels, 'ticket' => $place->ticket]);
        $dispatch->onUndo(fn () => $this->ended($travel, true));

        return $travel->onto($envelope);
    }

    public function lookAfter(array $what): ?float
    {
        [$key, $patience, $lease] = [(string) $what['key'], (float) $what['patience'], (float) $what['lease']];
        $sequence = ($this->factory)()->createSequence($key, lease: $lease);

        return $this->goOnWithoutHead($sequence, $key, $patience, $lease) ? $patience / 10 : null;
    }

    /** Whatever comes of it, the message that was dispatched is parked. */
    private function watch(Sequence $sequence, string $key, Ordered $rule): void
    {
        try {
            $this->watchlist->add(self::WATCHED, ['key' => $key, 'patience' => $rule->patience, 'lease' => $rule->lease]);
            $this->goOnWithoutHead($sequence, $key, $rule->patience, $rule->lease);
        } catch (\Throwable $e) {
            $this->logger?->error('Messages of "{key}" cannot be sent on: {error}', [
                'key' => $key,
                'error' => $e->getMessage(),
                'exception' => $e,
            ]);
        }
    }

    /**
     * Sends the next one on if the message before it was not heard of within the patience, or the process has died that was to
     * send it on.
     *
     * @return bool false: nothing waits
     */
    private function goOnWithoutHead(Sequence $sequence, string $key, float $patience, float $lease): bool
    {
        ['parked' => $isInHand, 'waiting' => $waiting, 'heldFor' => $heldFor, 'idleFor' => $idleFor] = $sequence->inspect();
        if ($waiting === 0 && !$isInHand) {
            return false;
        }
        $patience = $isInHand ? $lease : $patience;
        if ($heldFor > 0 || $idleFor < $patience) {
            return true;
        }
        // A handler may take longer than the lease, and has the lock then.
        $lock = ($this->locks)()->createLock(self::PREFIX . $key, $lease);
        if (!$lock->acquire()) {
            return true;
        }
        try {
            $entry = $sequence->abandon($patience);
        } finally {
            $lock->release();
        }
        if ($entry !== null && !$isInHand) {
            $this->logger?->warning('A message of "{key}" was not handled within {patience} s: those behind it go on without it', [
                'key' => $key,
                'patience' => $patience,
            ]);
        }
        $this->sendOn($sequence, $entry, !$isInHand);

        return true;
    }

    /** To the transport that it was dispatched for, or its fallback, with its place. */
    private function sendOn(Sequence $sequence, ?Entry $entry, bool $fallen): void
    {
        $envelope = null;
        while ($entry !== null && ($envelope = $this->read($entry)) === null) {
            $entry = $sequence->next($entry->ticket);
        }
        if ($entry === null || $envelope === null) {
            return;
        }
        $travel = Travel::of($envelope);
        // With the owner its turn has come at once, also where a worker has it before it is put back here.
        $place = [...$travel->get('ordered') ?? [], 'ticket' => $entry->ticket, 'owner' => $sequence->getOwner(), 'fallen' => $fallen];
        $travel->set('ordered', $place);
        $transport = ($fallen ? $place['fallback'] ?? null : null) ?? $place['transport'];
        $sender = $this->transports->get($transport);
        \assert($sender instanceof SenderInterface);
        $sender->send($travel->onto($envelope)->with(new SentStamp($sender::class, $transport)));
        $sequence->putBack($entry->ticket);
    }

    private function read(Entry $entry): ?Envelope
    {
        try {
            return $this->payloads->decode($entry->payload);
        } catch (\UnexpectedValueException|\InvalidArgumentException $e) {
            $this->logger?->critical('A message that waited for its turn cannot be read, and is lost: {error}', [
                'error' => $e->getMessage(),
                'payload' => $entry->payload,
                'exception' => $e,
            ]);

            return null;
        }
    }

    /**
     * @param array<mixed> $place
     */
    private function takeTurn(array $place): ?Sequence
    {
        $id = "$place[ticket] $place[key]";
        $sequence = $this->turns[$id] ?? null;
        unset($this->turns[$id]);

        return $sequence;
    }

    /**
     * @param array<mixed> $place
     */
    private function sequence(array $place): Sequence
    {
        return ($this->factory)()->createSequence($place['key'], lease: $place['lease'], owner: $place['owner'] ?? null);
    }
}
