<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Broken;

use Latch\Tests\Fault\Check\Kind;

/**
 * What BrokenStore does wrong.
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

    /** What the checker must find. */
    public function expected(): ?Kind
    {
        return match ($this) {
            self::None => null,
            self::KeepsTheReleased, self::TakesAndDenies => Kind::LostGrant,
            self::RepeatsTokens, self::MixesTokensUp => Kind::Fencing,
            default => Kind::Overlap,
        };
    }
}
