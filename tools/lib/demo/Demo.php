<?php

declare(strict_types=1);

namespace Latch\Demo;

use RuntimeException;

/**
 * Both runs, and what they prove.
 */
final class Demo
{
    public function __construct(
        private readonly int $workers,
        private readonly int $bookings,
        private readonly bool $contrast,
        private readonly Screen $screen = new Screen(),
    ) {
    }

    /** @return int the exit status, see tools/demo --help */
    public function main(): int
    {
        Interrupted::throwOnSignals();
        $folder = $this->makeFolder();
        try {
            return $this->run($folder);
        } catch (Interrupted $interrupted) {
            $this->screen->line("\n  Interrupted: the workers are ended, the files removed.");

            return 128 + $interrupted->signal;
        } catch (RuntimeException $error) {
            fwrite(STDERR, "tools/demo: {$error->getMessage()}\n");

            return 70;
        } finally {
            $this->removeFolder($folder);
        }
    }

    private function run(string $folder): int
    {
        $this->screen->title(sprintf(
            'Latch %s on PHP %s: %d processes book from one file',
            phpversion('latch'),
            PHP_VERSION,
            $this->workers,
        ));
        $this->screen->line();

        $this->screen->title('With a lock (Latch\Store\FlockStore)');
        $locked = (new Run($folder, $this->screen))->go($this->workers, $this->bookings, true);
        $this->screen->result($locked);

        if ($this->contrast) {
            $this->screen->title('Without it, for contrast');
            $open = (new Run($folder, $this->screen))->go($this->workers, $this->bookings, false);
            $this->screen->result($open);
        }

        $this->screen->verdict($locked, $open ?? null);

        return $locked->isClean() ? 0 : 1;
    }

    private function makeFolder(): string
    {
        $folder = sys_get_temp_dir() . '/latch-demo-' . bin2hex(random_bytes(6));
        if (!mkdir($folder, 0700)) {
            throw new RuntimeException("$folder cannot be made.");
        }

        return $folder;
    }

    private function removeFolder(string $folder): void
    {
        foreach (scandir($folder) ?: [] as $file) {
            if (is_file("$folder/$file")) {
                unlink("$folder/$file");
            }
        }
        rmdir($folder);
    }
}
