<?php

declare(strict_types=1);

namespace Latch\Symfony\Command;

use Latch\Symfony\Messenger\Guard\Sweeper;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

#[AsCommand('latch:sweep', 'Lets messages go on that wait for one that was lost, or for a process that has died')]
final class SweepCommand extends Command
{
    public function __construct(private readonly Sweeper $sweeper)
    {
        parent::__construct();
    }

    protected function configure(): void
    {
        $this->setHelp(<<<'END'
            Does once what idle workers do by themselves: for a cron job where workers are never idle, or not there.

            Messages of #[Ordered] go on when the one before them was not handled within its patience, and no worker has it.
            The message after the parts of AfterAll is dispatched when the process that had to do that is dead.

            END);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $waiting = \count($this->sweeper->sweep(0.0));
        $output->writeln($waiting === 0 ? 'Nothing waits, or another process looks after it.' : "Looked after what waits: $waiting.");

        return self::SUCCESS;
    }
}
