<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Browser;

use Latch\Tests\Program;

/**
 * Chromium without a window: loads a page, lets it work, and ends.
 */
final class Chromium extends Program
{
    private const VIRTUAL_MS = 20_000;

    /** The DOM, when the page has done its work. */
    public readonly string $dom;

    /** @var list<string> lines that the page has written to the console */
    public readonly array $console;

    /**
     * @param string $directory for its profile and its output
     * @param string $picture   file to be written, *.png
     */
    public function __construct(string $url, string $directory, string $picture, int $width, int $height)
    {
        $shown = "$directory/chromium-" . bin2hex(random_bytes(4));
        // A browser that shows pages of this machine alone needs no sandbox, which root would not have.
        $this->run([
            getenv('LATCH_CHROMIUM') ?: 'chromium', '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run',
            '--disable-background-networking', '--disable-component-update', '--disable-dev-shm-usage', '--hide-scrollbars',
            '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1', '--no-proxy-server', '--enable-logging=stderr',
            "--user-data-dir=$shown.profile", "--window-size=$width,$height", "--screenshot=$picture", '--dump-dom',
            '--virtual-time-budget=' . self::VIRTUAL_MS, $url,
        ], [['file', '/dev/null', 'r'], ['file', "$shown.html", 'w'], ['file', "$shown.log", 'w']]);
        $this->awaitEnd();
        $this->dom = (string) file_get_contents("$shown.html");
        $this->console = array_values(preg_grep('/:CONSOLE[:(]/', explode("\n", (string) file_get_contents("$shown.log"))) ?: []);
        if ($this->dom === '') {
            throw new \LogicException('Chromium has shown nothing: ' . file_get_contents("$shown.log"));
        }
    }
}
