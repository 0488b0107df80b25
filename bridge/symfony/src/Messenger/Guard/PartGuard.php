<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Latch\CountDown;
use Latch\Symfony\Messenger\AfterAll;
use Latch\Symfony\Messenger\Flow\Dispatch;
use Latch\Symfony\Messenger\Flow\Payloads;
use Latch\Symfony\Messenger\Flow\Travel;
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

    /**
     * @param \Closure(): SyncFactory         $factory not every store has one
     * @param \Closure(): MessageBusInterface $bus     the bus that BusNameStamp names
     */
    public function __construct(
        private readonly \Closure $factory,
        private readonly Payloads $payloads,
        private readonly \Closure $bus,
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
            $this->send($dispatch->envelope->withoutAll(AfterAll::class), $after);
            $dispatch->park();
        }
    }

    public function ended(Travel $travel, bool $failed): void
    {
        $part = $travel->get('part');
        if ($part !== null && (!$failed || $part['allowFailures'] === true)) {
            $this->arrive($this->countDown($part['group'], $part['ttl']), (string) $part['member'], $failed);
        }
    }

    private function send(Envelope $after, AfterAll $rule): void
    {
        $group = 'parts.' . bin2hex(random_bytes(16));
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

    private function arrive(CountDown $countDown, string $member, bool $failed): void
    {
        $arrival = $countDown->arrive($member, $failed, self::CLAIM);
        if ($arrival->left === 0 && $arrival->payload === null && !$countDown->await(2 * self::CLAIM)) {
            // The process that had claimed the last step is dead.
            $arrival = $countDown->arrive($member, $failed, self::CLAIM);
        }
        if ($arrival->payload !== null) {
            $after = $this->payloads->decode($arrival->payload);
            $failures = array_map(intval(...), $arrival->failed);
            ($this->bus)()->dispatch($failures === [] ? $after : $after->with(new PartsFailedStamp($failures)));
            $countDown->done();
        }
    }

    private function countDown(string $group, float $ttl): CountDown
    {
        return ($this->factory)()->createCountDown($group, $ttl);
    }
}
