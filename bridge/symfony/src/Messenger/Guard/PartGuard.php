<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Latch\Arrival;
use Latch\CountDown;
use Latch\Symfony\Messenger\AfterAll;
use Latch\Symfony\Messenger\Flow\Dispatch;
use Latch\Symfony\Messenger\Flow\Payloads;
use Latch\Symfony\Messenger\Flow\Travel;
use Latch\Symfony\Messenger\Flow\Watchlist;
use Latch\Symfony\Messenger\HandOver;
use Latch\Symfony\Messenger\PartsFailedStamp;
use Latch\Symfony\Messenger\SkippedStamp;
use Latch\SyncFactory;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\MessageBusInterface;
use Symfony\Component\Messenger\Stamp\BusNameStamp;

/**
 * Keeps a message until all its parts were handled.
 *
 * @internal
 */
final class PartGuard extends Guard
{
    /** Seconds that a process has to dispatch what comes after the parts, before another one does. */
    private const CLAIM = 30.0;

    public const WATCHED = 'parts';

    /**
     * @param \Closure(): SyncFactory         $factory not every store has one
     * @param \Closure(): MessageBusInterface $bus     the bus that BusNameStamp names
     */
    public function __construct(
        private readonly \Closure $factory,
        private readonly Payloads $payloads,
        private readonly \Closure $bus,
        private readonly Watchlist $watchlist,
    ) {
    }

    public function rules(): array
    {
        return [AfterAll::class, PartOf::class];
    }

    public function isVital(): bool
    {
        return true;
    }

    public function dispatching(Dispatch $dispatch): void
    {
        $part = $dispatch->rules->one(PartOf::class);
        if ($part !== null) {
            $dispatch->travel->set('part', get_object_vars($part));
        }
        $after = $dispatch->rules->one(AfterAll::class);
        if ($after !== null) {
            $this->send($dispatch, $after);
            $dispatch->park();
        }
    }

    public function ended(Travel $travel, bool $failed): void
    {
        $part = $travel->get('part');
        if ($part !== null && (!$failed || $part['allowFailures'] === true)) {
            $countDown = $this->countDown($part['group'], $part['ttl']);
            $arrival = $this->arrive($countDown, (string) $part['member'], $failed);
            if ($arrival->left === 0 && $arrival->payload === null && $countDown->inspect()['state'] === 'arrived') {
                // As of a part that is delivered again: another process has the last step, and may have died with it.
                $this->watchlist->add(self::WATCHED, ['group' => $part['group'], 'ttl' => $part['ttl'], 'member' => $part['member']]);
            }
        }
    }

    public function lookAfter(array $what): ?float
    {
        $countDown = $this->countDown((string) $what['group'], (float) $what['ttl']);
        ['state' => $state, 'claimedFor' => $claimedFor] = $countDown->inspect();
        if ($state !== 'arrived') {
            return null;
        }

        return $claimedFor > 0 || $this->arrive($countDown, (string) $what['member'], false)->payload === null
            ? max($claimedFor, self::CLAIM / 10)
            : null;
    }

    private function send(Dispatch $dispatch, AfterAll $rule): void
    {
        $group = 'parts.' . bin2hex(random_bytes(16));
        $locks = array_filter(['once' => $dispatch->travel->get('once'), 'handOver' => $dispatch->travel->get('handOver')]);
        $after = $dispatch->envelope
            ->withoutAll(AfterAll::class)
            ->withoutAll(HandOver::class)
            ->with(new AfterParts($group, $locks));
        $countDown = $this->countDown($group, $rule->ttl);
        $countDown->open(array_keys($rule->parts), $this->payloads->encode($after));
        try {
            foreach ($rule->parts as $member => $message) {
                $part = Envelope::wrap($message, [new PartOf($group, $member, $rule->allowFailures, $rule->ttl)]);
                $bus = $after->last(BusNameStamp::class);
                $sent = ($this->bus)()->dispatch($bus === null ? $part : $part->with($bus));
                if ($sent->last(SkippedStamp::class) !== null) {
                    $this->arrive($countDown, (string) $member, false);
                }
            }
        } catch (\Throwable $e) {
            $countDown->cancel();
            throw $e;
        }
    }

    /** With the last one comes the last step. */
    private function arrive(CountDown $countDown, string $member, bool $failed): Arrival
    {
        $arrival = $countDown->arrive($member, $failed, self::CLAIM);
        if ($arrival->payload !== null) {
            $after = $this->payloads->decode($arrival->payload);
            $failures = array_map(intval(...), $arrival->failed);
            ($this->bus)()->dispatch($failures === [] ? $after : $after->with(new PartsFailedStamp($failures)));
            $countDown->done();
        }

        return $arrival;
    }

    private function countDown(string $group, float $ttl): CountDown
    {
        return ($this->factory)()->createCountDown($group, $ttl);
    }
}
