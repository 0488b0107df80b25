<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Broken;

use Latch\Tests\Fault\Check\Kind;

/**
 * What BrokenStore does wrong, or HandOffHandle, RenewedHandle, SessionSubject or BrokenTableStore.
 */
enum Breakage: string
{
    case None = 'nothing-broken';
    case ForgetsToCheck = 'forgets-to-check';
    case LetsReadersIn = 'lets-readers-in';
    case PromotesBesideReaders = 'promotes-beside-readers';
    case ReleasesAnothers = 'releases-anothers';
    case RevivesTheExpired = 'revives-the-expired';
    case ExpiresEarly = 'expires-early';
    case KeepsTheReleased = 'keeps-the-released';
    case TakesAndDenies = 'takes-and-denies';
    case RepeatsTokens = 'repeats-tokens';
    case MixesTokensUp = 'mixes-tokens-up';
    case NoneHandedOver = 'nothing-broken-handed-over';
    case BelievesMessages = 'believes-messages';
    case CancelLosesGrants = 'cancel-loses-grants';
    case CancelStaysInQueue = 'cancel-stays-in-queue';
    case ForgetsWaiters = 'forgets-waiters';
    case SleepsTooLong = 'sleeps-too-long';
    case GivesUp = 'gives-up';
    case NoneKept = 'nothing-broken-kept';
    case BelievesItself = 'believes-itself';
    case CountsFromTheAnswer = 'counts-from-the-answer';
    case RevivesTheLost = 'revives-the-lost';
    case RenewsTheReleased = 'renews-the-released';
    case RenewsTooLate = 'renews-too-late';
    case TellsNobody = 'tells-nobody';
    case NoneInSessions = 'nothing-broken-in-sessions';
    case LetsItselfIn = 'lets-itself-in';
    case NoneInTables = 'nothing-broken-in-tables';
    case DeletesByName = 'deletes-by-name';

    /** What the checker must find. */
    public function expected(): ?Kind
    {
        return match ($this) {
            self::None, self::NoneHandedOver, self::NoneKept, self::NoneInSessions, self::NoneInTables => null,
            self::KeepsTheReleased, self::TakesAndDenies, self::RenewsTheReleased => Kind::LostGrant,
            self::RepeatsTokens, self::MixesTokensUp => Kind::Fencing,
            self::CancelLosesGrants, self::CancelStaysInQueue => Kind::Idle,
            self::ForgetsWaiters => Kind::PassedOver,
            self::SleepsTooLong => Kind::Late,
            self::GivesUp => Kind::GaveUp,
            self::BelievesItself => Kind::Outlived,
            self::RevivesTheLost => Kind::NeverGranted,
            self::RenewsTooLate => Kind::Lost,
            self::TellsNobody => Kind::Untold,
            default => Kind::Overlap,
        };
    }

    /** By how many workers it is found out. */
    public function workers(): int
    {
        return match (true) {
            $this->handsOver() => 8,
            $this->keeps() => 10,
            default => 4,
        };
    }

    /** Whether it takes the locks of a session with MySQL. */
    public function needsSessions(): bool
    {
        return $this === self::NoneInSessions || $this === self::LetsItselfIn;
    }

    /** Whether it takes the rows of a table. */
    public function needsTable(): bool
    {
        return $this === self::NoneInTables || $this === self::DeletesByName;
    }

    /** The store that it needs; null: none. */
    public function store(): ?string
    {
        return match (true) {
            $this->needsSessions() => 'mysql',
            $this->needsTable() => 'table-sqlite',
            default => null,
        };
    }

    /** Whether it is one of those that are renewed. */
    public function keeps(): bool
    {
        return match ($this) {
            self::NoneKept, self::BelievesItself, self::CountsFromTheAnswer, self::RevivesTheLost,
            self::RenewsTheReleased, self::RenewsTooLate, self::TellsNobody => true,
            default => false,
        };
    }

    /** Whether it is one of those that wait in a queue. */
    public function handsOver(): bool
    {
        return match ($this) {
            self::NoneHandedOver, self::BelievesMessages, self::CancelLosesGrants, self::CancelStaysInQueue,
            self::ForgetsWaiters, self::SleepsTooLong, self::GivesUp => true,
            default => false,
        };
    }
}
