<?php

/** @generate-class-entries */

namespace Psr\Log;

/**
 * Registered in drop-in mode only, where Lock and LockFactory implement this interface as Symfony's do.
 * Without return type, for compatibility with LoggerAwareTrait of every release of psr/log.
 */
interface LoggerAwareInterface
{
    /** @return void */
    public function setLogger(LoggerInterface $logger);
}
