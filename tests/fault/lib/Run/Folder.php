<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

/**
 * The folder of a run: one that is given, or one that ends with this object.
 */
final class Folder
{
    public readonly string $path;

    public function __construct(private readonly ?string $kept = null)
    {
        $this->path = $kept ?? sys_get_temp_dir() . '/latch-fault-' . bin2hex(random_bytes(6));
        if ($kept === null) {
            mkdir($this->path, 0755);
        }
    }

    public function __destruct()
    {
        if ($this->kept === null) {
            foreach ([...(glob("$this->path/locks/*") ?: []), ...(glob("$this->path/*.*") ?: [])] as $file) {
                unlink($file);
            }
            $rest = ['/faults', '/leftovers', '/users', '/locks', ''];
            foreach (array_map(fn (string $name): string => $this->path . $name, $rest) as $path) {
                if (file_exists($path)) {
                    is_dir($path) ? rmdir($path) : unlink($path);
                }
            }
        }
    }
}
