<?php

/*
 * The lists of files in package.xml, made of the tree's files, and whether config.m4 compiles all of them.
 *
 * php lists.php ROOT (--update | --check), with the tree's files, NUL-separated, as standard input.
 * --update writes the lists; --check says what they lack, and ends with status 1 when they do.
 */

declare(strict_types=1);

namespace Latch\Tools\Package;

/** What a file of the tree is to PEAR's installer; null = it is not in the package. */
function role(string $file): ?string
{
    return match (true) {
        (bool) preg_match('~^(config\.m4|Makefile\.frag|(ext|src)/.+|stubs/[^/]+_arginfo\.h)$~', $file) => 'src',
        // Who uses what this one declares has it from psr/log.
        $file === 'stubs/psr_log.stub.php' => null,
        // Of use in a clone alone.
        $file === 'CONTRIBUTING.md' => null,
        (bool) preg_match('~^(LICENSE|[A-Z]+\.md|(docs|stubs)/.+)$~', $file) => 'doc',
        (bool) preg_match('~^tests/(phpt|utils)/~', $file) => 'test',
        (bool) preg_match('~^bin/~', $file) => 'script',
        (bool) preg_match('~^completion/~', $file) => 'data',
        default => null,
    };
}

/**
 * The C files that config.m4 compiles, also those of optional stores.
 *
 * @return list<string>
 */
function sources(string $configM4): array
{
    if (!preg_match_all('~\bm4_normalize\(\[([^]]*\.c\s*)]\)~', $configM4, $lists)) {
        throw new \RuntimeException('config.m4: no list of sources is found');
    }
    $sources = preg_split('~\s+~', trim(implode(' ', $lists[1]))) ?: [];
    sort($sources);

    return $sources;
}

/** @param list<string> $files */
function contents(array $files): string
{
    $xml = "  <dir name=\"/\">\n";
    foreach ($files as $file) {
        if (null !== $role = role($file)) {
            $xml .= sprintf("   <file name=\"%s\" role=\"%s\"/>\n", htmlspecialchars($file, ENT_XML1), $role);
        }
    }

    return $xml . "  </dir>\n ";
}

/**
 * How scripts are called when they are installed: without their folder.
 *
 * @param list<string> $files
 */
function installed(array $files): string
{
    $xml = '';
    foreach ($files as $file) {
        if (role($file) === 'script') {
            $xml .= sprintf("   <install as=\"%s\" name=\"%s\"/>\n", basename($file), $file);
        }
    }

    return $xml . '  ';
}

/** Replaces what is between two marks that occur once. */
function between(string $text, string $begin, string $end, string $replacement): string
{
    $parts = explode($begin, $text);
    $tail = count($parts) === 2 ? strstr($parts[1], $end) : false;
    if ($tail === false) {
        throw new \RuntimeException(sprintf('"%s" … "%s" is not there once', trim($begin), trim($end)));
    }

    return $parts[0] . $begin . $replacement . $tail;
}

/**
 * Where config.m4 and the tree disagree on the C files. It is written by hand, so this is never
 * mended here.
 *
 * @param list<string> $sources
 * @param list<string> $files
 *
 * @return list<string>
 */
function disagreements(array $sources, array $files): array
{
    $there = preg_grep('~^(ext|src)/.+\.c$~', $files) ?: [];

    return [
        ...array_map(fn (string $file) => "config.m4 does not compile $file", array_diff($there, $sources)),
        ...array_map(fn (string $file) => "config.m4 compiles $file, which is missing", array_diff($sources, $there)),
    ];
}

[, $root, $mode] = $argv;
$read = fn (string $file): string => file_get_contents("$root/$file") ?: throw new \RuntimeException("no $file");
$files = array_unique(array_filter(explode("\0", stream_get_contents(STDIN) ?: '')));
// Git goes on listing a file that was deleted until that is committed.
$files = array_values(array_filter($files, fn (string $file) => file_exists("$root/$file")));
sort($files, SORT_STRING);
$sources = sources($read('config.m4'));

$xml = between($read('package.xml'), "<contents>\n", '</contents>', contents($files));
$current = [
    'package.xml' => between($xml, "  <filelist>\n", '</filelist>', installed($files)),
];

$complaints = disagreements($sources, $files);
foreach ($current as $file => $text) {
    if ($text === $read($file)) {
        continue;
    }
    if ($mode === '--update') {
        file_put_contents("$root/$file", $text);
        echo "$file: updated\n";
    } else {
        $lines = explode("\n", $text);
        $old = explode("\n", $read($file));
        foreach ([...array_diff($lines, $old), ...array_diff($old, $lines)] as $line) {
            $complaints[] = sprintf('%s %s: %s', $file, in_array($line, $lines) ? 'lacks' : 'has', trim($line));
        }
        $complaints[] = "$file is not in step with the tree; run tools/package --update";
    }
}
echo implode('', array_map(fn (string $complaint) => "$complaint\n", $complaints));
exit($complaints ? 1 : 0);
