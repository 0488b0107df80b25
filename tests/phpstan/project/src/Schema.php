<?php

declare(strict_types=1);

namespace Doctrine\DBAL\Schema;

/**
 * In place of Doctrine's, which this project does not have.
 */
final class Schema
{
    public function isShops(): bool
    {
        return true;
    }
}
