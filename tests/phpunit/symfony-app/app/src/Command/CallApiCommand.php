<?php

declare(strict_types=1);

namespace App\Command;

use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\DependencyInjection\Attribute\Target;
use Symfony\Component\RateLimiter\RateLimiterFactoryInterface;

/**
 * Calls somebody's API, as often as the limit allows; each line of standard input is a customer's call.
 */
#[AsCommand('app:call', 'Calls the API')]
final class CallApiCommand extends Command
{
    public function __construct(
        #[Target('fixed.limiter')] private readonly RateLimiterFactoryInterface $fixed,
        #[Target('sliding.limiter')] private readonly RateLimiterFactoryInterface $sliding,
        #[Target('bucket.limiter')] private readonly RateLimiterFactoryInterface $bucket,
    ) {
        parent::__construct();
    }

    protected function configure(): void
    {
        $this->addArgument('limit', InputArgument::REQUIRED);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $limiters = ['fixed' => $this->fixed, 'sliding' => $this->sliding, 'bucket' => $this->bucket];
        $limiter = $limiters[$input->getArgument('limit')];
        $output->writeln('Ready.');
        while (($customer = fgets(\STDIN)) !== false) {
            $accepted = $limiter->create(rtrim($customer))->consume()->isAccepted();
            $output->writeln($accepted ? 'Called.' : 'Too many calls.');
        }

        return self::SUCCESS;
    }
}
