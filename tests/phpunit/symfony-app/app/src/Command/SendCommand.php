<?php

declare(strict_types=1);

namespace App\Command;

use App\Message\ImportCatalogue;
use App\Message\ReadCustomer;
use App\Message\SyncCustomer;
use App\Messenger\Locked;
use App\Messenger\LockStamp;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\Messenger\MessageBusInterface;

#[AsCommand('app:send', 'Sends a message to the workers')]
final class SendCommand extends Command
{
    public function __construct(private readonly MessageBusInterface $bus)
    {
        parent::__construct();
    }

    protected function configure(): void
    {
        $this
            ->addArgument('message', InputArgument::REQUIRED)
            ->addArgument('id', InputArgument::REQUIRED)
            ->addArgument('source', InputArgument::REQUIRED, 'The file with the data')
            ->addOption('wait', null, InputOption::VALUE_NONE, 'Its worker shall wait for the lock')
            ->addOption('ttl', null, InputOption::VALUE_REQUIRED, 'Seconds for which it is locked', '300');
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        ['id' => $id, 'source' => $source] = $input->getArguments();
        $message = match ($input->getArgument('message')) {
            'import' => new ImportCatalogue($id, $source),
            'read' => new ReadCustomer($id, $source),
            'sync' => new SyncCustomer($id, $source),
        };
        $ttl = (float) $input->getOption('ttl');
        $stamps = $input->getOption('wait')
            ? [new LockStamp(new Locked('customer', 'customer', ttl: $ttl, blocking: true))]
            : [];
        $this->bus->dispatch($message, $stamps);
        $output->writeln('Sent.');

        return self::SUCCESS;
    }
}
