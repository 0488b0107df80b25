<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Message;

use Latch\Symfony\Messenger\IfNewer;
use Latch\Symfony\Messenger\Lock;

#[Lock('item-{id}')]
#[IfNewer('item-{id}', version: '{updated}')]
final class Mistaken
{
    public int $id = 7;
}
