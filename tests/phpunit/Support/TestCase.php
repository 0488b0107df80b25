<?php

declare(strict_types=1);

namespace Latch\Tests\Support;

use PHPUnit\Framework\TestCase as BaseTestCase;

/**
 * What the tests here share: a directory of their own and peers that end with the test.
 */
abstract class TestCase extends BaseTestCase
{
    private ?string $directory = null;

    protected function tearDown(): void
    {
        if ($this->directory !== null) {
            $this->remove($this->directory);
        }
    }

    /**
     * An empty directory that everybody may read, removed after the test.
     */
    protected function directory(): string
    {
        if ($this->directory === null) {
            $this->directory = sys_get_temp_dir() . '/latch-test-' . bin2hex(random_bytes(8));
            mkdir($this->directory, 0755);
        }

        return $this->directory;
    }

    /**
     * The file in which FlockStore keeps a resource, by the format that all peers share.
     */
    protected function lockFile(string $resource, ?string $directory = null): string
    {
        return sprintf(
            '%s/sf.%s.%s.lock',
            $directory ?? $this->directory(),
            substr((string) preg_replace('/[^a-z0-9._-]+/i', '-', $resource), 0, 50),
            strtr(substr(base64_encode(hash('sha256', $resource, true)), 0, 7), '/', '_'),
        );
    }

    /**
     * @template T of \Throwable
     *
     * @param class-string<T> $class   exactly this one
     * @param string|null     $message exactly this one
     *
     * @return T
     */
    protected function assertThrows(string $class, ?string $message, \Closure $code): \Throwable
    {
        try {
            $code();
        } catch (\Throwable $e) {
            self::assertSame(
                (new \ReflectionClass($class))->getName(),
                $e::class,
                'Wrong exception: ' . $e->getMessage(),
            );
            if ($message !== null) {
                self::assertSame($message, $e->getMessage());
            }

            return $e;
        }
        self::fail("No $class was thrown.");
    }

    /**
     * As assertThrows() with a message of Symfony's, given without its full stop: behind that Latch says why.
     *
     * @param class-string<\Throwable> $class
     * @param non-empty-string         $message
     */
    protected function assertThrowsWithReason(string $class, string $message, \Closure $code): \Throwable
    {
        $e = $this->assertThrows($class, null, $code);
        if (Subject::mode() === 'oracle') {
            self::assertSame("$message.", $e->getMessage());
        } else {
            self::assertMatchesRegularExpression('/^' . preg_quote($message, '/') . ': .{9,}\.$/', $e->getMessage());
            self::assertStringEndsWith(substr($e->getMessage(), \strlen($message)), $e->getPrevious()->getMessage());
        }

        return $e;
    }

    /**
     * The PHP errors (warnings, deprecations …) that the code raises.
     *
     * @return list<string>
     */
    protected function errorsOf(\Closure $code): array
    {
        $errors = [];
        set_error_handler(static function (int $type, string $message) use (&$errors): bool {
            $errors[] = $message;

            return true;
        });
        try {
            $code();
        } finally {
            restore_error_handler();
        }

        return $errors;
    }

    /**
     * Runs a program of PHP text in a process without the extension, and returns its output.
     *
     * @param string|null $vendor the folder with its packages, if not those of this process
     */
    protected function inPurePhp(string $code, ?string $vendor = null): string
    {
        $code = 'require ' . var_export(\dirname(__DIR__) . '/autoload.php', true) . ";\n$code";
        return $this->outputOf(Peer::php(), $code, $vendor === null ? null : ['LATCH_VENDOR' => $vendor] + getenv());
    }

    /**
     * The same with the extension as it is loaded here, and nothing of the tests.
     *
     * @param list<string> $settings of php.ini
     */
    protected function withTheExtension(string $code, string $vendor, array $settings = []): string
    {
        $settings = array_map(static fn (string $setting): string => "-d$setting", $settings);

        return $this->outputOf(
            Peer::php([...Peer::extension(), ...$settings]),
            'require ' . var_export("$vendor/autoload.php", true) . ";\n$code",
        );
    }

    /**
     * @param list<string>               $php
     * @param array<string, string>|null $environment
     */
    private function outputOf(array $php, string $code, ?array $environment = null): string
    {
        $process = proc_open([...$php, '-r', $code], [1 => ['pipe', 'w']], $pipes, null, $environment);
        self::assertIsResource($process);
        $output = (string) stream_get_contents($pipes[1]);
        self::assertSame(0, proc_close($process), "The program failed:\n$code\n$output");

        return $output;
    }

    private function remove(string $path): void
    {
        if (is_dir($path) && !is_link($path)) {
            chmod($path, 0700);
            foreach (array_diff((array) scandir($path), ['.', '..']) as $name) {
                $this->remove("$path/$name");
            }
            rmdir($path);
        } else {
            unlink($path);
        }
    }
}
