<?php

declare(strict_types=1);

namespace Latch\Symfony\Command;

use Latch\Key;
use Latch\Store\RedisStore;
use Psr\Log\LoggerInterface;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Formatter\OutputFormatter;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\Console\Style\SymfonyStyle;

/**
 * @phpstan-import-type Found from StoreInspector
 */
#[AsCommand('latch:release', 'Takes a lock in Redis away from its holder')]
final class ReleaseCommand extends Command
{
    /**
     * @param string $store name under latch.stores
     */
    public function __construct(
        private readonly StoreInspector $inspector,
        private readonly string $store,
        private readonly ?LoggerInterface $logger = null,
    ) {
        parent::__construct();
    }

    protected function configure(): void
    {
        $this
            ->addArgument('key', InputArgument::REQUIRED, 'Resource of the lock')
            ->addOption('store', null, InputOption::VALUE_REQUIRED, 'Name under latch.stores', $this->store)
            ->addOption('yes', 'y', InputOption::VALUE_NONE, 'Do not ask; required where there is no terminal')
            ->setHelp(<<<'END'
                Shows the holder, and asks. The first waiter has the lock then. The former holder gets no message: with a
                lock that is kept alive, as those of messages, it learns of the loss at its next renewal, after a third of
                the TTL at most; another holder goes on as if it had the lock. So be sure that it is dead, or end it first.

                In other stores a lock ends with its process or its session: the command says how to end that, and does
                nothing.

                  <info>%command.full_name% order_42</info>

                END);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $style = new SymfonyStyle($input, $output);
        $key = $input->getArgument('key');
        $name = $input->getOption('store');
        $all = $this->inspector->find($name, $key);
        if ($all === null) {
            $style->error("The store \"$name\" cannot tell who holds its locks, nor take them away; nothing was done.");

            return self::FAILURE;
        }
        $locks = array_filter($all, static fn (array $found): bool => $found['mode'] !== 'semaphore');
        if ($locks === []) {
            $output->writeln('free');

            return self::SUCCESS;
        }
        $found = end($locks);
        $store = $this->inspector->store($name);
        $shown = '"' . HolderText::plain($key) . '"';
        if (!$store instanceof RedisStore) {
            $style->error("The lock $shown cannot be taken away, it " . $this->howToEnd($found) . '; nothing was done.');

            return self::FAILURE;
        }
        $holders = array_map(HolderText::name(...), $found['holders']);
        $output->writeln(OutputFormatter::escape("$shown is held, $found[mode]"
            . (($found['waiters'] ?? 0) > 0 ? ", $found[waiters] waiting" : '') . ', by:'));
        $style->listing(array_map(OutputFormatter::escape(...), array_map(
            static fn (array $holder): string => HolderText::name($holder) . ', since ' . HolderText::since($holder['since'] ?? null)
                . ', ends ' . HolderText::end($holder),
            $found['holders'],
        )));
        if (!$input->getOption('yes') && !$input->isInteractive()) {
            $style->error('There is no terminal to ask on; --yes releases the lock without asking.');

            return self::INVALID;
        }
        if (!$input->getOption('yes') && !$style->confirm('Release it?', false)) {
            $output->writeln('not released');

            return self::FAILURE;
        }
        if ($store->forceRelease(new Key($key), array_column($found['holders'], 'id')) === 0) {
            $output->writeln('None of these holders has it any more; nothing was done.');

            return self::SUCCESS;
        }
        $this->logger?->warning('The lock {key} was taken away from {holders}', ['key' => $shown, 'holders' => implode(', ', $holders)]);
        $output->writeln('released');

        return self::SUCCESS;
    }

    /**
     * @param Found $found
     */
    private function howToEnd(array $found): string
    {
        $sessions = array_column($found['holders'], 'session');
        $pids = array_column($found['holders'], 'pid');

        return match (true) {
            $sessions !== [] => 'ends with the session that has it: ' . implode(', ', $sessions),
            $pids !== [] => 'ends with the process that has it, as by: kill ' . implode(' ', $pids),
            default => 'ends with the process that has it, which cannot be known from here',
        };
    }
}
