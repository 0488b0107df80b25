<?php

declare(strict_types=1);

namespace Latch\Symfony\Command;

use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Exception\InvalidOptionException;
use Symfony\Component\Console\Formatter\OutputFormatter;
use Symfony\Component\Console\Helper\Table;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\ConsoleOutputInterface;
use Symfony\Component\Console\Output\OutputInterface;

/**
 * @phpstan-import-type Found from StoreInspector
 */
#[AsCommand('latch:locks', 'Shows who holds locks and semaphores, and how many wait for them')]
final class LocksCommand extends Command
{
    public function __construct(private readonly StoreInspector $inspector)
    {
        parent::__construct();
    }

    protected function configure(): void
    {
        $this
            ->addArgument('key', InputArgument::OPTIONAL, 'Resource of a lock: that one alone')
            ->addOption('store', null, InputOption::VALUE_REQUIRED, 'Name under latch.stores; without: all stores')
            ->addOption('all', null, InputOption::VALUE_NONE, 'In Redis: also locks and semaphores without any holder on Latch')
            ->addOption('watch', 'w', InputOption::VALUE_OPTIONAL, 'Look again each second, or so many seconds, until Ctrl-C', false)
            ->addOption('format', null, InputOption::VALUE_REQUIRED, '"txt", or "json" for programs', 'txt')
            ->setHelp(<<<'END'
                Locks in Redis are listed with the notes of their holders, and with the number of those that wait;
                locks in files with their processes. The files do not contain the names of resources, but names from
                which these can be guessed. Other stores cannot list their locks: name one. A lock ends then unless it is
                renewed; "-": when its process or session does.

                  <info>%command.full_name%</info>
                  <info>%command.full_name% order_42</info>
                  <info>%command.full_name% --watch</info>

                END);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $format = $input->getOption('format');
        if (!\in_array($format, ['txt', 'json'], true)) {
            throw new InvalidOptionException('--format is "txt" or "json".');
        }
        $every = $input->getOption('watch');
        if ($every === false) {
            $format === 'json' ? $this->printJson($input, $output) : $this->print($input, $output, $output);

            return self::SUCCESS;
        }
        $every ??= '1';
        if ($format === 'json' || !is_numeric($every) || $every < 0.1 || $every > 86_400) {
            throw new InvalidOptionException('--watch takes seconds from 0.1 to 86400, and does not go with --format=json.');
        }
        $this->watch($input, $output, (float) $every);
    }

    private function watch(InputInterface $input, OutputInterface $output, float $every): never
    {
        $section = $output instanceof ConsoleOutputInterface && $output->isDecorated() ? $output->section() : null;
        while (true) {
            $section?->clear();
            ($section ?? $output)->writeln(date('Y-m-d H:i:s'));
            $this->print($input, $output, $section ?? $output);
            usleep((int) (1e6 * $every));
        }
    }

    private function print(InputInterface $input, OutputInterface $output, OutputInterface $to): void
    {
        $rows = [];
        $notes = [];
        foreach ($this->found($input) as $store => $held) {
            if ($held === null) {
                $notes[] = $input->getArgument('key') === null
                    ? "The locks of the store \"$store\" cannot be listed; ask for one by its key."
                    : "The store \"$store\" cannot tell who holds its locks.";
            }
            foreach ($held ?? [] as $found) {
                array_push($rows, ...$this->rows((string) $store, $found));
            }
        }
        if ($rows === []) {
            $to->writeln($input->getArgument('key') === null ? 'No lock is held.' : 'free');
        } else {
            $table = new Table($to);
            $table->setHeaders(['Key', 'Mode', 'Holder', 'Held for', 'Ends in', 'Waiting', 'Store'])->setRows($rows)->render();
        }
        foreach ($notes as $note) {
            $to->writeln("<comment>$note</comment>");
        }
    }

    /**
     * @param Found $found
     *
     * @return list<list<string>> one for each holder
     */
    private function rows(string $store, array $found): array
    {
        $key = HolderText::plain($found['name']);
        $waiting = (string) ($found['waiters'] ?? '-');
        $rows = [];
        foreach ($found['holders'] as $holder) {
            $rows[] = [
                $key,
                HolderText::mode($found, $holder),
                HolderText::name($holder),
                isset($holder['since']) ? HolderText::span(microtime(true) - $holder['since']) : '-',
                isset($holder['remaining']) ? \sprintf('%.1f s', $holder['remaining']) : '-',
                $waiting,
                $store,
            ];
        }
        $more = ($found['holderCount'] ?? \count($rows)) - \count($rows);
        if ($rows === [] || $more > 0) {
            $rows[] = [$key, HolderText::mode($found, null), $rows === [] ? 'an unknown process' : "and $more more", '-', '-', $waiting, $store];
        }

        return array_map(static fn (array $row): array => array_map(OutputFormatter::escape(...), $row), $rows);
    }

    private function printJson(InputInterface $input, OutputInterface $output): void
    {
        $all = [];
        foreach ($this->found($input) as $store => $held) {
            foreach ($held ?? [] as $found) {
                $all[] = ['store' => (string) $store] + $found;
            }
        }
        $output->writeln(json_encode(
            $all,
            \JSON_PRETTY_PRINT | \JSON_UNESCAPED_SLASHES | \JSON_UNESCAPED_UNICODE | \JSON_INVALID_UTF8_SUBSTITUTE
                | \JSON_PRESERVE_ZERO_FRACTION | \JSON_THROW_ON_ERROR,
        ), OutputInterface::OUTPUT_RAW);
    }

    /**
     * @return iterable<string, list<Found>|null> by the name of the store; null: it cannot list
     */
    private function found(InputInterface $input): iterable
    {
        $store = $input->getOption('store');
        $key = $input->getArgument('key');
        foreach ($store === null ? $this->inspector->names() : [$store] as $name) {
            yield $name => $key === null ? $this->inspector->list($name, $input->getOption('all')) : $this->inspector->find($name, $key);
        }
    }
}
