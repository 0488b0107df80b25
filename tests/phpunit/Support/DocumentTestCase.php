<?php

declare(strict_types=1);

namespace Latch\Tests\Support;

/**
 * A page whose examples are run: each fenced block is a file in the test's directory, part of a program or a script
 * there, in processes with the extension.
 */
abstract class DocumentTestCase extends TestCase
{
    private const ROOT = __DIR__ . '/../../..';
    private const PATIENCE_S = '60';

    /** The page, below the root of the tree. */
    abstract protected static function page(): string;

    /**
     * What the page says, and what is said in its place: a test has no host redis.example.com and no hour.
     *
     * @return array<string, string>
     */
    protected function substitutes(): array
    {
        return [];
    }

    /** @return array<string, string> what else is in the environment of the programs */
    protected function environment(): array
    {
        return [];
    }

    /** @return list<string> the files whose programs use the page's examples, as example('NAME') */
    protected static function users(): array
    {
        return [(string) (new \ReflectionClass(static::class))->getFileName()];
    }

    protected function setUp(): void
    {
        $this->prepare();
    }

    /** Writes the examples, and puts latch and php into the PATH. */
    protected function prepare(): void
    {
        foreach (Examples::of(static::page()) as $name => [$language, $text]) {
            $text = strtr($text, $this->substitutes());
            file_put_contents($this->example($name), $language === 'php' ? "<?php\n$text" : $text);
        }
        if (!is_dir("{$this->directory()}/bin")) {
            mkdir("{$this->directory()}/bin");
        }
        $this->install('php', Peer::php(Peer::extension()));
        $this->install('latch', [...Peer::php(Peer::extension()), self::ROOT . '/bin/latch']);
    }

    final public function testEveryExampleIsRun(): void
    {
        $text = implode('', array_map(file_get_contents(...), static::users()));
        preg_match_all("/(?:example|text|lines|transcript|settings)\\('(.+?)'\\)/", $text, $used);

        self::assertEqualsCanonicalizing(array_keys(Examples::of(static::page())), array_unique($used[1]));
    }

    /** The file with an example. */
    protected function example(string $name): string
    {
        return "{$this->directory()}/$name";
    }

    /** The text of an example, with what is said in the page's place. */
    protected function text(string $name): string
    {
        return (string) file_get_contents($this->example($name));
    }

    /** @return list<string> the lines of an example, without comments at their ends and without empty ones */
    protected function lines(string $name): array
    {
        $lines = array_map(
            static fn (string $line): string => rtrim((string) preg_replace('/(^|\s+)# .*/', '', $line)),
            explode("\n", str_replace("\\\n", ' ', $this->text($name))),
        );

        return array_values(array_filter($lines, static fn (string $line): bool => $line !== ''));
    }

    /**
     * What a program says, in which example() is the path of an example; latch and php are in its PATH.
     *
     * @param string ...$settings of php.ini
     */
    protected function said(string $program, string ...$settings): string
    {
        return $this->finish($this->startPhp($program, ...$settings));
    }

    /** @return array{resource, array<int, resource>} */
    protected function startPhp(string $program, string ...$settings): array
    {
        static $number = 0;
        $file = sprintf('%s/program-%d.php', $this->directory(), ++$number);
        file_put_contents($file, "<?php\ndeclare(strict_types=1);\n"
            . 'function example(string $name): string { return __DIR__ . "/$name"; }' . "\n$program");
        $settings = array_map(static fn (string $setting): string => "-d$setting", $settings);

        return $this->start([...Peer::php([...Peer::extension(), ...$settings]), $file]);
    }

    /** What a shell says that runs the script, which ends with that exit code. */
    protected function shellSaid(string $script, int $status = 0): string
    {
        return $this->finish($this->startShell($script), $status);
    }

    /** @return array{resource, array<int, resource>} */
    protected function startShell(string $script): array
    {
        return $this->start(['sh', '-c', $script]);
    }

    /**
     * @param list<string> $command
     *
     * @return array{resource, array<int, resource>}
     */
    private function start(array $command): array
    {
        $environment = $this->environment() + ['PATH' => "{$this->directory()}/bin:" . getenv('PATH')]
            + array_diff_key(getenv(), ['LATCH_STORE' => 0, 'LOCK_DSN' => 0]);
        $command = ['timeout', '--kill-after=5', self::PATIENCE_S, ...$command];
        $process = proc_open(
            $command,
            [['file', '/dev/null', 'r'], ['pipe', 'w'], ['redirect', 1]],
            $pipes,
            $this->directory(),
            $environment,
        );
        self::assertIsResource($process);

        return [$process, $pipes];
    }

    /** @param array{resource, array<int, resource>} $started */
    protected function finish(array $started, int $status = 0): string
    {
        [$process, $pipes] = $started;
        $output = (string) stream_get_contents($pipes[1]);
        self::assertSame($status, proc_close($process), "The program failed:\n$output");

        return $output;
    }

    /** Reads what a started program says until this is among it. */
    protected function await(string $text, mixed $stream): string
    {
        $said = '';
        while (!str_contains($said, $text)) {
            $line = fgets($stream);
            self::assertIsString($line, "The program ended, and has not said \"$text\":\n$said");
            $said .= $line;
        }

        return $said;
    }

    /**
     * Puts a command into the PATH of the programs.
     *
     * @param list<string> $command
     */
    protected function install(string $name, array $command): void
    {
        $file = "{$this->directory()}/bin/$name";
        file_put_contents($file, "#!/bin/sh\nexec " . implode(' ', array_map(escapeshellarg(...), $command)) . ' "$@"' . "\n");
        chmod($file, 0755);
    }

    /**
     * A transcript: what was typed behind "$ ", and what was said.
     *
     * @return list<array{string, string}>
     */
    protected function transcript(string $name): array
    {
        $entries = [];
        foreach (preg_split('/^\$ /m', $this->text($name), -1, \PREG_SPLIT_NO_EMPTY) ?: [] as $entry) {
            [$command, $said] = explode("\n", $entry, 2);
            $entries[] = [$command, $said];
        }

        return $entries;
    }

    /** The same text has the same shape, whatever the numbers, times and names in it are. */
    protected static function shape(string $text): string
    {
        $patterns = [
            '/\d{4}-\d\d-\d\dT[\d:+]+/' => 'TIME',
            '/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \([^)]*\)/' => 'TIME',
            '/\d+(\.\d+)*/' => '#',
        ];

        return (string) preg_replace(array_keys($patterns), array_values($patterns), $text);
    }
}
