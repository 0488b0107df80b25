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
    /** A connection with a database ends, and locks in its tables stay. */
    case ConnectionKill = 'connection-kill';
    case MemberKill = 'member-kill';
    case MemberStop = 'member-stop';
    case MemberCut = 'member-cut';
    /** A failover to a replica, after which the master is there; it is dead; or stopped, and goes on later. */
    case Failover = 'failover';
    case MasterKill = 'master-kill';
    case MasterStop = 'master-stop';
    /** The same with the master's consent, which lets the replica have all first; a slot moves to another master. */
    case Handover = 'handover';
    case SlotMove = 'slot-move';
    /** Of the server; or of so many of several that the others are no majority. */
    case ServerStop = 'server-stop';
    /** Not on purpose: a processor was not available, and processes that were about to run on it stood still. */
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
            self::ConnectionKill => 'end of a connection',
            self::MemberKill => 'SIGKILL of a member',
            self::MemberStop => 'SIGSTOP of a member',
            self::MemberCut => 'CLIENT KILL by a member',
            self::Failover => 'SENTINEL FAILOVER',
            self::MasterKill => 'SIGKILL of the master',
            self::MasterStop => 'SIGSTOP of the master',
            self::Handover => 'CLUSTER FAILOVER',
            self::SlotMove => 'move of a slot',
            self::ServerStop => 'SIGSTOP of the server',
            self::Stall => 'no processor for long',
        };
    }

    /** Whether workers lose connections by it, or what they have sent has to be sent again. */
    public function cuts(): bool
    {
        return match ($this) {
            self::ClientKill, self::SubscriptionKill, self::Restart, self::EmptyRestart, self::MemberKill,
            self::MemberCut, self::ConnectionKill, self::Handover, self::SlotMove => true,
            default => $this->endsSessions() || $this->switchesMaster(),
        };
    }

    /** Whether a replica becomes the master, that may not have heard of what happened last. */
    public function switchesMaster(): bool
    {
        return match ($this) {
            self::Failover, self::MasterKill, self::MasterStop => true,
            default => false,
        };
    }

    /** Whether workers may wait in vain for answers. */
    public function silences(): bool
    {
        return $this === self::MemberStop || $this->silencesAll();
    }

    /** Whether no process gets an answer from the record until its end. */
    public function silencesAll(): bool
    {
        return $this === self::ClientPause || $this === self::ServerStop;
    }

    /** Whether locks may be lost by it that are renewed; whose connections are cut makes new ones in time. */
    public function keepsFromRenewal(): bool
    {
        return match ($this) {
            self::Restart, self::EmptyRestart, self::Handover, self::SlotMove, self::Stall => true,
            default => $this->silencesAll() || $this->switchesMaster(),
        };
    }

    /** Whether sessions end by it with all that they hold. */
    public function endsSessions(): bool
    {
        return $this === self::SessionKill || $this === self::Crash;
    }

    /** Whether the server loses its locks by it. */
    public function losesData(): bool
    {
        return $this === self::FlushAll || $this === self::EmptyRestart;
    }

    /** Whether it is about one worker, whose part in what goes on is of interest. */
    public function strikesOne(): bool
    {
        return match ($this) {
            self::Kill, self::Stop, self::ClientKill, self::SubscriptionKill, self::SessionKill, self::ConnectionKill => true,
            default => false,
        };
    }
}
