<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Record;

/**
 * What is done to workers and to their server; the values are the words of the records.
 */
enum Fault: string
{
    case Kill = 'kill';
    case Stop = 'stop';
    case Continue = 'continue';
    case ScriptFlush = 'script-flush';
    case ClientKill = 'client-kill';
    case SubscriptionKill = 'subscription-kill';
    case ClientPause = 'client-pause';
    case FlushAll = 'flush-all';
    case Restart = 'restart';
    case EmptyRestart = 'empty-restart';
    case SessionKill = 'session-kill';
    case Crash = 'crash';
    /** Not on purpose: a processor was not to be had, and whoever was about to run on it stood still. */
    case Stall = 'stall';

    public function text(): string
    {
        return match ($this) {
            self::Kill => 'SIGKILL of a worker',
            self::Stop => 'SIGSTOP of a worker',
            self::Continue => 'SIGCONT of a worker',
            self::ScriptFlush => 'SCRIPT FLUSH',
            self::ClientKill => 'CLIENT KILL TYPE normal',
            self::SubscriptionKill => 'CLIENT KILL TYPE pubsub',
            self::ClientPause => 'CLIENT PAUSE',
            self::FlushAll => 'FLUSHALL',
            self::Restart => 'restart with the data',
            self::EmptyRestart => 'restart without the data',
            self::SessionKill => 'end of a session',
            self::Crash => 'crash of the server',
            self::Stall => 'no processor for long',
        };
    }

    /** Whether workers lose connections by it. */
    public function cuts(): bool
    {
        return match ($this) {
            self::ClientKill, self::SubscriptionKill, self::Restart, self::EmptyRestart => true,
            default => $this->endsSessions(),
        };
    }

    /** Whether sessions end by it with all that they hold. */
    public function endsSessions(): bool
    {
        return $this === self::SessionKill || $this === self::Crash;
    }

    /** Whether the server forgets by it who holds what. */
    public function losesData(): bool
    {
        return $this === self::FlushAll || $this === self::EmptyRestart;
    }

    /** Whether it is about one worker, whose part in what goes on is of interest. */
    public function strikesOne(): bool
    {
        return match ($this) {
            self::Kill, self::Stop, self::ClientKill, self::SubscriptionKill, self::SessionKill => true,
            default => false,
        };
    }
}
