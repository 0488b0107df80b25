<?php

declare(strict_types=1);

namespace Latch\Laravel\Console;

use Illuminate\Console\Command;
use Illuminate\Contracts\Cache\LockProvider;
use Latch\Laravel\Events\Announcer;
use Latch\Laravel\Events\LockTakenAway;
use Latch\Laravel\Inspection\Inspectors;
use Symfony\Component\Console\Formatter\OutputFormatter;

/**
 * Exit codes: 0, released; 1, it was not held, or by another owner, or the server does not answer; 2, there is no such store.
 */
final class ReleaseCommand extends Command
{
    protected $signature = 'latch:release
        {name : The lock, as latch:locks shows it}
        {--store= : The cache store; without it the default one}
        {--owner= : Only if this is the owner}';

    protected $description = 'Take a cache lock away from its holder, for the next waiter';

    public function handle(Inspectors $inspectors, Announcer $announcer): int
    {
        $name = $this->argument('name');
        $shown = OutputFormatter::escape("The lock \"$name\"");
        try {
            $store = $inspectors->store($this->option('store'));
            if (!$store instanceof LockProvider) {
                throw new \InvalidArgumentException('That store has no locks.');
            }
        } catch (\InvalidArgumentException $e) {
            $this->components->error(OutputFormatter::escape($e->getMessage()));

            return self::INVALID;
        }
        try {
            $isReleased = $this->release($store, $name);
        } catch (\Exception $e) {
            $this->components->error(OutputFormatter::escape("It was not released: {$e->getMessage()}"));

            return self::FAILURE;
        }
        if (!$isReleased) {
            $this->components->warn($shown . ($this->option('owner') === null ? ' is not held.' : ' is not held by that owner.'));

            return self::FAILURE;
        }
        $announcer->announce(LockTakenAway::class, $name, $store->lock($name));
        $this->components->info("$shown was released.");

        return self::SUCCESS;
    }

    private function release(LockProvider $store, string $name): bool
    {
        $owner = $this->option('owner');
        if ($owner !== null) {
            return (bool) $store->restoreLock($name, $owner)->release();
        }
        $lock = $store->lock($name);
        if (!(fn (): mixed => $this->getCurrentOwner())->call($lock)) {
            return false;
        }
        $lock->forceRelease();

        return true;
    }
}
