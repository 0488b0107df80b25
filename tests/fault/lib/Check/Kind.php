<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check;

/**
 * What can be wrong in a history.
 */
enum Kind: string
{
    case Overlap = 'overlap';
    case Back = 'back';
    case Twice = 'twice';
    case Untrue = 'untrue';
    case Refused = 'refused';
    case TooMany = 'too many';
    case LostGrant = 'lost grant';
    case Fencing = 'fencing';
    case NeverGranted = 'never granted';
    case Idle = 'idle';
    case PassedOver = 'passed over';
    case Late = 'late';
    case GaveUp = 'gave up';
    case Outlived = 'outlived';
    case Lost = 'lost';
    case Untold = 'untold';
    case Left = 'left';
    case Deadlock = 'deadlock';
    case Starvation = 'starvation';
    case Crash = 'crash';

    public function text(): string
    {
        return match ($this) {
            self::Overlap => 'two held a lock at once that only one can hold',
            self::Back => 'what was accepted went back',
            self::Twice => 'done more than once',
            self::Untrue => 'an answer that cannot be true',
            self::Refused => 'refused without a reason',
            self::TooMany => 'more permits or slots were given away than there are',
            self::LostGrant => 'refused although no worker can have held the lock: a grant was lost',
            self::Fencing => 'fencing tokens do not increase in the order of the holds',
            self::NeverGranted => 'a hold was reported that had not been granted, or had ended',
            self::Idle => 'waited although the lock was free',
            self::PassedOver => 'waited for long after later waiters had the lock',
            self::Late => 'waited for longer than its time-out',
            self::GaveUp => 'stopped waiting too early',
            self::Outlived => 'a kept lock was certain for longer than it can have been renewed for',
            self::Lost => 'a kept lock was lost although nothing prevented its renewal',
            self::Untold => 'the loss of a kept lock was not reported',
            self::Deadlock => 'a statement that a database gave up for another one became an exception',
            self::Left => 'something was left for ever',
            self::Starvation => 'tried for seconds, and never got anything',
            self::Crash => 'ended as a worker must not end',
        };
    }
}
