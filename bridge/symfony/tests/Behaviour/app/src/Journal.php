<?php

declare(strict_types=1);

namespace App;

use Symfony\Component\DependencyInjection\Attribute\Autowire;

/**
 * What happens in the processes of the application, in one file: a line of JSON each, with the machine's monotonic time
 * and the name of the process.
 */
final class Journal
{
    /** @var resource */
    private $file;

    public function __construct(
        #[Autowire('%env(APP_JOURNAL)%')] string $file,
        #[Autowire('%env(APP_PROCESS)%')] private readonly string $process,
    ) {
        $this->file = fopen($file, 'a') ?: throw new \RuntimeException("Cannot write $file.");
        // a line is one call of write(), which lines of other processes neither cut nor overwrite
        stream_set_write_buffer($this->file, 0);
    }

    /**
     * @param array<string, scalar|null> $more
     */
    public function write(string $event, string $message = '', array $more = []): void
    {
        $line = ['at' => hrtime(true), 'by' => $this->process, 'event' => $event, 'message' => $message] + $more;
        fwrite($this->file, json_encode($line, \JSON_THROW_ON_ERROR) . "\n");
    }
}
