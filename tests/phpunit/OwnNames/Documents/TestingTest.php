<?php

declare(strict_types=1);

namespace Latch\Tests\OwnNames\Documents;

use Latch\Tests\Fault\Run\Options;
use Latch\Tests\Support\DocumentTestCase;

/**
 * The commands of docs/testing.md are those of this tree. They would take hours, and run the tests that run this one: so
 * each is read by the program that it calls, to the point at which that would begin.
 */
final class TestingTest extends DocumentTestCase
{
    private const ROOT = __DIR__ . '/../../../..';

    protected static function page(): string
    {
        return 'docs/testing.md';
    }

    public function testStagesAndTestsAreThere(): void
    {
        $stages = (string) shell_exec(escapeshellarg(self::ROOT . '/tools/test') . ' --help');
        foreach ($this->lines('one-test-one-php-1.sh') as $line) {
            if (preg_match('~^LATCH_PHPT=(\S+) tools/test (.+)$~', $line, $match)) {
                self::assertFileExists(self::ROOT . "/$match[1]");
                foreach (explode(' ', $match[2]) as $stage) {
                    self::assertMatchesRegularExpression("/^  (.*, )?$stage\\b/m", $stages);
                }
            } else {
                self::assertStringStartsWith('make -C tests/', $line);
                $this->shellSaid('cd ' . escapeshellarg(self::ROOT) . ' && ' . str_replace('make ', 'make -n ', $line));
            }
        }
    }

    public function testTheShellOfAnotherPhpIsMadeOfWhatThereIs(): void
    {
        [$version, $shell] = $this->lines('one-test-one-php-2.sh');
        $pattern = '/^bash -c \'(\. tools\S+) && (\w+) (\w+) "\$\((\S+)\)" (\S+) bash\'$/';
        self::assertSame(1, preg_match($pattern, $shell, $match));
        [, $source, $isolated, $enter, $folder, $library] = $match;

        $functions = "$isolated $enter $folder";
        $this->shellSaid(sprintf(
            "cd %s && test -f tools/lib/$library && $version && bash -c '$source && declare -F $functions'",
            escapeshellarg(self::ROOT),
        ));
    }

    public function testHistoriesAreMadeWithThoseOptions(): void
    {
        spl_autoload_register(static function (string $class): void {
            if (str_starts_with($class, 'Latch\Tests\Fault\\')) {
                require self::ROOT . '/tests/fault/lib' . strtr(substr($class, \strlen('Latch\Tests\Fault')), '\\', '/') . '.php';
            }
        });
        foreach ($this->lines('histories-1.sh') as $line) {
            [$program, $arguments] = explode(' ', $line, 2);
            self::assertFileExists(self::ROOT . "/$program");
            $options = Options::of(explode(' ', $arguments));
            self::assertGreaterThan(0, $options->acquisitions + $options->operations);
        }
    }
}
