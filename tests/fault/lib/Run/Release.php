<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

/**
 * A release of Symfony's Lock whose PdoStore is a peer; the values are the options'.
 */
enum Release: string
{
    case Five = '5.4';
    case Six = '6.4';
    case Seven = '7.4';
    case Eight = '8.1';

    /** What the kinds of its workers begin with. */
    public const KIND = 'symfony-';

    /** How it names rows. */
    public function names(): string
    {
        return $this === self::Eight ? 'plain' : 'hash';
    }

    public function kind(): string
    {
        return self::KIND . $this->value;
    }

    /** The folder with its autoload.php. */
    public function vendor(): string
    {
        [$variable, $what] = match ($this) {
            self::Five => ['LATCH_DEBIAN_LOCK', 'the autoload.php of php-symfony-lock 5.4'],
            self::Six => ['LATCH_SYMFONY_6', 'the vendor folder with symfony/lock 6.4'],
            self::Seven => ['LATCH_VENDOR', 'the vendor folder with symfony/lock 7.4'],
            self::Eight => ['LATCH_SYMFONY_8', 'the vendor folder with symfony/lock 8.1'],
        };
        $place = getenv($variable);
        if ($place === false) {
            throw new \RuntimeException("$variable must name $what");
        }

        return $this === self::Five ? \dirname($place) : $place;
    }
}
