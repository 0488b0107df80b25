<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Message;

use Latch\Symfony\Messenger\OnConflict;

final class Keyed extends KeyedParent
{
    public int $number = 7;
    public float $ratio = 0.1;
    public bool $no = false;
    public OnConflict $enum = OnConflict::Skip;
    public \DateTimeImmutable $date;
    public \Stringable $object;
    /** @var list<int> */
    public array $list = [1];
    public ?string $nothing = null;
    public string $bytes = "\xff";
    public string $unset;
    private string $secret = 's';
    private string $name = 'property';

    public function __construct()
    {
        $this->date = new \DateTimeImmutable('2026-01-01 00:00:00.000005 UTC');
        $this->object = new class implements \Stringable {
            public function __toString(): string
            {
                return 'text';
            }
        };
    }

    public function name(): string
    {
        return 'method';
    }

    public function getTitle(): string
    {
        return 'got';
    }

    public function with(string $argument): string
    {
        return $argument . $this->secret . $this->name;
    }
}
