<?php

/** @generate-class-entries */

namespace Latch;

/**
 * What a key holds in a store of Latch's. Made and used by the extension only.
 *
 * @internal
 * @strict-properties
 * @not-serializable
 */
final class Lease
{
    private function __construct() {}
}
