<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Event;

use Latch\Symfony\Messenger\Rule;
use Symfony\Component\Messenger\Envelope;

/**
 * What a rule has done for a message: for metrics, and logs of an application's own.
 *
 * Events are made only for those to which somebody listens. What a listener throws is logged, and changes nothing.
 */
abstract class RuleEvent
{
    /**
     * @param Rule|null $rule null: it was a stamp of the dispatch, and is not known any more
     */
    public function __construct(public readonly Envelope $envelope, public readonly ?Rule $rule)
    {
    }

    /**
     * Labels of metrics: of few different values, as the key is the one with placeholders.
     *
     * @return array{message: class-string, rule: string, key: string} rule: "Lock", "Once" …; empty if it is not known
     */
    public function labels(): array
    {
        return [
            'message' => $this->envelope->getMessage()::class,
            'rule' => $this->rule === null ? '' : (new \ReflectionClass($this->rule))->getShortName(),
            'key' => $this->rule !== null && isset($this->rule->key) && \is_string($this->rule->key) ? $this->rule->key : '',
        ];
    }
}
