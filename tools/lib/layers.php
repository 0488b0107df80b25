<?php

/*
 * layers.php TABLE BUILD: whether the files that were compiled in the folder BUILD (by libtool, without LTO) use functions
 * and variables of the layers that TABLE allows. Prints every use that is not allowed, and every exception of the table
 * that nothing needs; and at the end the largest circle of files that use each other. Exits with 1 if there is a complaint.
 *
 * A line of TABLE is "folder: folders that it may use", all of them named above ("src/" is src and all folders in it); or "except file uses symbol", a use
 * that is not allowed and that is there all the same, for the time being.
 */

declare(strict_types=1);

namespace Latch\Tools\Layers;

/**
 * Tarjan's algorithm: the strongly connected components of more than one file.
 *
 * @param array<string, list<string>> $uses
 *
 * @return list<list<string>>
 */
function circles(array $uses): array
{
    $index = $low = $onStack = $stack = $circles = [];
    $visit = function (string $file) use (&$visit, &$index, &$low, &$onStack, &$stack, &$circles, $uses): void {
        $index[$file] = $low[$file] = count($index);
        $stack[] = $file;
        $onStack[$file] = true;
        foreach ($uses[$file] ?? [] as $used) {
            if (!isset($index[$used])) {
                $visit($used);
                $low[$file] = min($low[$file], $low[$used]);
            } elseif ($onStack[$used]) {
                $low[$file] = min($low[$file], $index[$used]);
            }
        }
        if ($low[$file] === $index[$file]) {
            $circle = [];
            do {
                $circle[] = $member = array_pop($stack);
                $onStack[$member] = false;
            } while ($member !== $file);
            if (count($circle) > 1) {
                $circles[] = $circle;
            }
        }
    };
    foreach (array_keys($uses) as $file) {
        if (!isset($index[$file])) {
            $visit($file);
        }
    }

    return $circles;
}

/** @param list<string> $allowed folders; "src/" is src and all that are in it */
function may_use(string $folder, array $allowed): bool
{
    foreach ($allowed as $one) {
        if ($folder === $one || (str_ends_with($one, '/') && str_starts_with("$folder/", $one))) {
            return true;
        }
    }

    return false;
}

[, $table, $build] = $argv;
$allowed = $exceptions = $complaints = [];
foreach (file($table, FILE_IGNORE_NEW_LINES | FILE_SKIP_EMPTY_LINES) ?: [] as $line) {
    if (preg_match('~^except (\S+) uses (\S+)$~', $line, $match)) {
        $exceptions["$match[1] uses $match[2]"] = false;
    } elseif (preg_match('~^([^#:]+):(.*)$~', $line, $match)) {
        $below = preg_split('~ +~', $match[2], -1, PREG_SPLIT_NO_EMPTY) ?: [];
        foreach ($below as $folder) {
            if (preg_grep('~^' . preg_quote($folder) . (str_ends_with($folder, '/') ? '' : '$') . '~', array_keys($allowed)) === []) {
                $complaints[] = "$match[1] may not use $folder, which does not stand above it in the table";
            }
        }
        $allowed[$match[1]] = [$match[1], ...$below];
    }
}

// "nm -A -P": file: symbol type …; a file is compiled into .libs/ beside the place of its source.
$definedIn = $wanted = [];
$objects = glob("$build/{src,ext}{,/*,/*/*,/*/*/*}/.libs/*.o", GLOB_BRACE) ?: [];
exec('nm -A -P -g ' . implode(' ', array_map(escapeshellarg(...), $objects)), $lines, $status);
foreach ($lines as $line) {
    if (preg_match('~^' . preg_quote($build) . '/(.*)/\.libs/(.*)\.o: (\S+) (\w)~', $line, $match)) {
        [, $folder, $name, $symbol, $type] = $match;
        if (in_array($type, ['U', 'w'], true)) {
            $wanted[] = ["$folder/$name.c", $symbol];
        } else {
            $definedIn[$symbol] = "$folder/$name.c";
        }
    }
}
if ($status !== 0 || $definedIn === []) {
    $complaints[] = "there are no compiled files in $build";
}

$uses = [];
foreach ($wanted as [$file, $symbol]) {
    $used = $definedIn[$symbol] ?? null;
    if ($used === null) {
        continue; // the C library's, PHP's, a client library's
    }
    $uses[$file][] = $used;
    $folder = dirname($file);
    if (!isset($allowed[$folder])) {
        $complaints[] = "$folder is not in the table";
    } elseif (!may_use(dirname($used), $allowed[$folder])) {
        if (isset($exceptions["$file uses $symbol"])) {
            $exceptions["$file uses $symbol"] = true;
        } else {
            $complaints[] = "$file uses $symbol of $used: $folder may not use " . dirname($used);
        }
    }
}
foreach (array_keys($exceptions, false, true) as $exception) {
    $complaints[] = "nothing needs the exception \"$exception\" any more";
}

echo implode('', array_map(fn (string $complaint): string => "$complaint\n", array_unique($complaints)));
$circles = circles($uses);
usort($circles, fn (array $one, array $other): int => count($other) <=> count($one));
foreach (['src', 'ext'] as $part) {
    $largest = array_values(array_filter($circles, fn (array $circle): bool => str_starts_with($circle[0], "$part/")))[0] ?? [];
    sort($largest);
    printf("The largest circle in %s: %d files%s\n", $part, count($largest), $largest === [] ? '' : ': ' . implode(' ', $largest));
}
exit($complaints === [] ? 0 : 1);
