<?php

declare(strict_types=1);

namespace App\Command;

use App\Lock\Stores;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\Lock\LockInterface;

/**
 * Keeps an article locked while somebody edits it; orders come by standard input.
 */
#[AsCommand('app:edit', 'Edits an article')]
final class EditCommand extends Command
{
    public function __construct(private readonly Stores $stores)
    {
        parent::__construct();
    }

    protected function configure(): void
    {
        $this
            ->addArgument('article', InputArgument::REQUIRED)
            ->addOption('store', null, InputOption::VALUE_REQUIRED, 'Which of the locks', 'default')
            ->addOption('ttl', null, InputOption::VALUE_REQUIRED, 'Seconds after which others may edit it')
            ->addOption('read', null, InputOption::VALUE_NONE, 'Only reads it')
            ->addOption('wait', null, InputOption::VALUE_NONE, 'Waits until nobody else edits it');
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $ttl = $input->getOption('ttl');
        $lock = $this->stores->get($input->getOption('store'))
            ->createLock('article-' . $input->getArgument('article'), $ttl === null ? null : (float) $ttl);
        $wait = $input->getOption('wait');
        if ($wait) {
            $output->writeln('Wait.');
        }
        if (!($input->getOption('read') ? $lock->acquireRead($wait) : $lock->acquire($wait))) {
            $output->writeln('Somebody else edits it.');

            return self::FAILURE;
        }
        $output->writeln('Go on' . $this->left($lock));
        while (($order = fgets(\STDIN)) !== false) {
            $output->writeln(match (rtrim($order)) {
                'check' => $lock->isAcquired() ? 'It is yours' . $this->left($lock) : 'It is not yours.',
                'save' => $this->save($lock),
                'write' => $lock->acquire() ? 'Go on' . $this->left($lock) : 'Somebody else reads it.',
                'read' => $lock->acquireRead() ? 'Go on' . $this->left($lock) : 'Somebody else edits it.',
            });
        }
        $lock->release();
        $output->writeln('Left.');

        return self::SUCCESS;
    }

    private function save(LockInterface $lock): string
    {
        $lock->refresh(3600.0);

        return 'Saved' . $this->left($lock);
    }

    private function left(LockInterface $lock): string
    {
        $left = $lock->getRemainingLifetime();

        return $left === null ? '.' : \sprintf(': %d min.', (int) ceil($left / 60));
    }
}
