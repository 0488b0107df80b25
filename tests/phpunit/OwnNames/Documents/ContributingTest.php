<?php

declare(strict_types=1);

namespace Latch\Tests\OwnNames\Documents;

use Latch\Tests\Support\DocumentTestCase;

/**
 * The commands of CONTRIBUTING.md are those of this tree. The stage "build" runs the loop of a developer by them; the
 * others would install packages or take long, and are read by the program that they call.
 */
final class ContributingTest extends DocumentTestCase
{
    private const ROOT = __DIR__ . '/../../../..';

    protected static function page(): string
    {
        return 'CONTRIBUTING.md';
    }

    public function testPackagesAreListed(): void
    {
        [$line] = $this->lines('what-to-install-1.sh');
        self::assertSame(1, preg_match('/^sudo apt-get install --no-install-recommends \$\((.+)\)$/', $line, $match));

        self::assertMatchesRegularExpression('/^(gcc|libcmocka-dev)$/m', $this->inTree($match[1]));
    }

    public function testTheLoopIsRunByTheStageBuild(): void
    {
        self::assertNotSame([], $this->lines('build-change-test-1.sh'));
        self::assertStringContainsString(
            "commands \"\$LATCH_ROOT/CONTRIBUTING.md\" 'Build, change, test'",
            (string) file_get_contents(self::ROOT . '/tools/lib/stages/build.sh'),
        );
    }

    public function testWhatComesBeforeAProposalIsThere(): void
    {
        $stages = $this->inTree('tools/test --help');
        foreach ($this->lines('before-a-change-is-proposed-1.sh') as $line) {
            [$program, $arguments] = explode(' ', "$line ", 2);
            if ($program === 'clang-format') {
                self::assertFileExists(self::ROOT . '/' . substr(rtrim($arguments), \strlen('-i ')));
                continue;
            }
            self::assertTrue(is_executable(self::ROOT . "/$program"), $line);
            if ($program === 'tools/test') {
                foreach (array_filter(explode(' ', $arguments)) as $stage) {
                    self::assertMatchesRegularExpression("/^  (.*, )?$stage\\b/m", $stages);
                }
            } elseif ($arguments !== '') {
                self::assertStringContainsString(rtrim($arguments), (string) file_get_contents(self::ROOT . "/$program"));
            }
        }
    }

    /** The image has the packages that the tree names, so that no list of it can rot; and each of them is in Debian 12. */
    public function testTheContainerHasThePackages(): void
    {
        $image = (string) file_get_contents(self::ROOT . '/.devcontainer/Dockerfile');
        self::assertSame(1, preg_match('/^FROM debian:12$/m', $image));
        self::assertSame(1, preg_match('/^COPY (\S+) (\S+)$/m', $image, $copied));

        // The commands, as the shell reads them, with the copy in its place.
        preg_match_all('/^RUN ((?:.*\\\\\n)*.*)$/m', $image, $runs);
        $script = str_replace('/tmp/latch', "{$this->directory()}/image", implode("\n", $runs[1]));
        $this->shellSaid('sh -n -c ' . escapeshellarg($script));
        $copy = str_replace('/tmp/latch', "{$this->directory()}/image", $copied[2]);
        $this->shellSaid(sprintf('mkdir -p image && cp -r %s/%s %s', escapeshellarg(self::ROOT), $copied[1], escapeshellarg($copy)));
        $packages = '/--no-install-recommends\s+((?:[\w.+-]+ )*)\$\((.+)\)/';
        self::assertSame(1, preg_match($packages, strtr($script, ["\\\n" => ' ']), $match));
        $own = explode(' ', trim($match[1]));
        $named = explode("\n", trim($this->shellSaid("env -i PATH=/usr/bin:/bin HOME=/nowhere $match[2]")));
        self::assertSame($named, explode("\n", trim($this->inTree('tools/test --packages'))));

        $known = $this->inTree('bash -c ' . escapeshellarg(
            '. tools/lib/debian.sh && latch_apt apt-cache show --no-all-versions ' . implode(' ', [...$own, ...$named]),
        ));
        preg_match_all('/^Package: (\S+)$/m', $known, $found);
        self::assertSame([], array_diff([...$own, ...$named], $found[1]));
    }

    public function testAnEditorFindsTheContainer(): void
    {
        $folder = self::ROOT . '/.devcontainer';
        $settings = json_decode((string) file_get_contents("$folder/devcontainer.json"), true, flags: \JSON_THROW_ON_ERROR);
        self::assertFileExists("$folder/{$settings['build']['dockerfile']}");
        self::assertSame(realpath(self::ROOT), realpath("$folder/{$settings['build']['context']}"));
        self::assertStringContainsString(
            " $settings[remoteUser] ",
            (string) preg_replace('/\s+/', ' ', (string) file_get_contents("$folder/Dockerfile")),
        );
    }

    private function inTree(string $command): string
    {
        return $this->shellSaid('cd ' . escapeshellarg(self::ROOT) . " && $command");
    }
}
