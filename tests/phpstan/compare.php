<?php

/*
 * Compares what PHPStan says (its JSON on standard input) with what the comments "// error: …" of the
 * file in the first argument announce: the same lines, and in each the same identifiers.
 */

declare(strict_types=1);

$announced = [];
foreach (file($argv[1]) ?: [] as $number => $line) {
    if (preg_match('~// error: (.+)$~', $line, $match)) {
        $announced[$number + 1] = explode(', ', trim($match[1]));
    }
}
$said = [];
$report = json_decode((string) stream_get_contents(STDIN), true, flags: JSON_THROW_ON_ERROR);
foreach ($report['files'] as ['messages' => $messages]) {
    foreach ($messages as ['line' => $line, 'identifier' => $identifier]) {
        $said[$line][$identifier] = $identifier;
    }
}

$differences = array_map(fn (string $error) => "PHPStan: $error", $report['errors']);
foreach (array_keys($announced + $said) as $line) {
    [$expected, $actual] = [$announced[$line] ?? [], array_values($said[$line] ?? [])];
    sort($expected);
    sort($actual);
    if ($expected !== $actual) {
        $differences[] = sprintf(
            'line %d: expected [%s], PHPStan says [%s]',
            $line,
            implode(', ', $expected),
            implode(', ', $actual),
        );
    }
}
if (!$announced) {
    $differences[] = "$argv[1] announces nothing";
}
echo implode('', array_map(fn (string $difference) => "$difference\n", $differences));
exit($differences ? 1 : 0);
