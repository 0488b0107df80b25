<?php

/** @generate-class-entries */

namespace Latch;

/**
 * A key's hold in a store of Latch. Made and used by the extension only.
 *
 * @internal
 * @strict-properties
 * @not-serializable
 */
final class Lease
{
    private function __construct() {}
}
