<?php

declare(strict_types=1);

namespace App\Command;

use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Command\LockableTrait;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

/**
 * A report that is never made twice at the same time. It is made of what comes by standard input.
 */
#[AsCommand('app:report', 'Makes the report of a project')]
final class ReportCommand extends Command
{
    use LockableTrait;

    protected function configure(): void
    {
        $this
            ->addArgument('project', InputArgument::REQUIRED)
            ->addOption('wait', null, InputOption::VALUE_NONE, 'Waits for the other one');
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $wait = $input->getOption('wait');
        if ($wait) {
            $output->writeln('Wait.');
        }
        if (!$this->lock('report-' . $input->getArgument('project'), $wait)) {
            $output->writeln('The report is being made.');

            return self::FAILURE;
        }
        $output->writeln('The report begins.');
        while (($line = fgets(\STDIN)) !== false) {
            $output->writeln(strtoupper(rtrim($line)));
        }
        $this->release();
        $output->writeln('The report is ready.');

        return self::SUCCESS;
    }
}
