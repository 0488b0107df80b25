<?php

declare(strict_types=1);

namespace App\Handler;

use App\Journal;
use App\Message\Task;
use App\Message\Twofold;
use Symfony\Component\Messenger\Attribute\AsMessageHandler;

final class MessageHandlers
{
    public function __construct(private readonly Steps $steps, private readonly Journal $journal)
    {
    }

    #[AsMessageHandler]
    public function handle(Task $message): void
    {
        $this->steps->run($message);
    }

    /** This message has a second one. */
    #[AsMessageHandler(priority: -10)]
    public function handleToo(Twofold $message): void
    {
        $this->journal->write('begin', "$message->name, second handler");
        $this->journal->write('end', "$message->name, second handler");
    }
}
