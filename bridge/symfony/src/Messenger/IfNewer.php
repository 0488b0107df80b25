<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

/**
 * The message is neither sent nor handled if a newer one was sent.
 */
#[\Attribute(\Attribute::TARGET_CLASS)]
final class IfNewer implements Rule
{
    /**
     * @param string $key     what there are versions of, with placeholders: see Rule
     * @param string $version placeholder of the version: a whole number, also as a string; a date; or another string,
     *                        compared byte by byte
     * @param bool   $orSame  also if the same version was sent before
     * @param float  $ttl     seconds for which the newest version is remembered
     */
    public function __construct(
        public readonly string $key,
        public readonly string $version,
        public readonly bool $orSame = false,
        public readonly float $ttl = 604800.0,
    ) {
        Argument::key($this, $key);
        Argument::positive($this, 'ttl', $ttl);
        if ($version === '') {
            throw Argument::invalid($this, 'version', 'must not be empty');
        }
    }
}
