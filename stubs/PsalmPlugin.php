<?php

declare(strict_types=1);

namespace Latch\Stubs;

use Psalm\Plugin\PluginEntryPointInterface;
use Psalm\Plugin\RegistrationInterface;

/**
 * Makes Latch's classes known to Psalm, where the extension is loaded and where it is not. By reflection of the
 * loaded extension alone Psalm crashes at constructors that take an object of a class that is not there. psr_log.stub.php
 * is left out: what it declares comes from the package psr/log.
 */
final class PsalmPlugin implements PluginEntryPointInterface
{
    public function __invoke(RegistrationInterface $registration, ?\SimpleXMLElement $config = null): void
    {
        foreach (glob(__DIR__ . '/*.stub.php') ?: [] as $stub) {
            if (basename($stub) !== 'psr_log.stub.php') {
                $registration->addStubFile($stub);
            }
        }
    }
}
