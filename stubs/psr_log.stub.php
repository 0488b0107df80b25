<?php

/** @generate-class-entries */

namespace Psr\Log;

/**
 * Registered in drop-in mode only, where Lock and LockFactory implement it as Symfony's do. Without
 * return type, so that every release of psr/log's LoggerAwareTrait fits it.
 */
interface LoggerAwareInterface
{
    /** @return void */
    public function setLogger(LoggerInterface $logger);
}
