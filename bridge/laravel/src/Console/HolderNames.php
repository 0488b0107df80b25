<?php

declare(strict_types=1);

namespace Latch\Laravel\Console;

use Illuminate\Console\Events\CommandFinished;
use Illuminate\Console\Events\CommandStarting;
use Illuminate\Contracts\Events\Dispatcher;
use Illuminate\Queue\Events\JobExceptionOccurred;
use Illuminate\Queue\Events\JobFailed;
use Illuminate\Queue\Events\JobProcessed;
use Illuminate\Queue\Events\JobProcessing;

/**
 * Tells Latch what the process works on, so that holders are known by that rather than by "artisan".
 *
 * @internal
 */
final class HolderNames
{
    private const SETTING = 'latch.holder_name';

    /** @var array<int, string> names of before, by job, as jobs can start others */
    private array $before = [];

    /** @var list<string> the same, of commands */
    private array $commands = [];

    public function listen(Dispatcher $events): void
    {
        // The name that an administrator has given to the process stays.
        if ((ini_get_all('latch')[self::SETTING]['global_value'] ?? '') !== '') {
            return;
        }
        $events->listen(CommandStarting::class, function (CommandStarting $event): void {
            $this->commands[] = self::set("artisan: $event->command");
        });
        $events->listen(CommandFinished::class, function (): void {
            self::set((string) array_pop($this->commands));
        });
        $events->listen(JobProcessing::class, function (JobProcessing $event): void {
            $this->before[spl_object_id($event->job)] = self::set("queue: {$event->job->resolveName()}");
        });
        // Several of these tell of the end of one job.
        $events->listen([JobProcessed::class, JobFailed::class, JobExceptionOccurred::class], function (object $event): void {
            $id = spl_object_id($event->job);
            if (isset($this->before[$id])) {
                self::set($this->before[$id]);
                unset($this->before[$id]);
            }
        });
    }

    /** Returns the name of before. */
    private static function set(string $name): string
    {
        return (string) ini_set(self::SETTING, $name);
    }
}
