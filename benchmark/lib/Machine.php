<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * Where and with what it was measured: numbers say nothing without that.
 */
final class Machine
{
    /** @return array<string, string> */
    public static function facts(): array
    {
        return [
            'date' => gmdate('Y-m-d H:i') . ' UTC',
            'commit' => self::commit(),
            'latch' => (string) phpversion('latch'),
            'symfony/lock' => self::package('symfony/lock'),
            'php' => PHP_VERSION . (PHP_ZTS ? ' ZTS' : ' NTS') . (PHP_DEBUG ? ' debug' : ''),
            'compiler' => strtok(self::shell('gcc --version'), "\n") ?: '',
            'system' => (parse_ini_file('/etc/os-release')['PRETTY_NAME'] ?? PHP_OS)
                . ', Linux ' . php_uname('r'),
            'processor' => self::processor(),
        ];
    }

    /** The version of a package of Composer that is measured. */
    public static function package(string $name): string
    {
        $installed = require getenv('LATCH_VENDOR') . '/composer/installed.php';

        return $installed['versions'][$name]['pretty_version'];
    }

    public static function fileSystem(string $folder): string
    {
        return self::shell('stat -f -c %T ' . escapeshellarg($folder));
    }

    private static function commit(): string
    {
        $git = 'git -c safe.directory="*" -C ' . escapeshellarg(__DIR__);
        $commit = self::shell("$git rev-parse --short HEAD");
        // The reports themselves change with every run.
        $others = "':(top)' ':(top,exclude)benchmark/report' ':(top,exclude)tests/fault/report'";
        $changes = self::shell("$git status --porcelain -- $others");

        return ($commit ?: 'none') . ($changes === '' ? '' : ' with changes');
    }

    private static function processor(): string
    {
        $model = self::shell("sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1");

        return ($model ?: php_uname('m')) . ', ' . self::shell('nproc') . ' cores';
    }

    private static function shell(string $command): string
    {
        return trim((string) shell_exec("$command 2>/dev/null"));
    }
}
