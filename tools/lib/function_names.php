<?php

/*
 * function_names.php FILE...: names of functions that several C files define, static ones too. A debugger, a profiler
 * and a search find one function by its name then. Prints them; exits with 1 if there are any.
 */

declare(strict_types=1);

$definedIn = [];
foreach (array_slice($argv, 1) as $file) {
    $text = preg_replace('~/\*.*?\*/~s', '', file_get_contents($file) ?: '');
    // A definition begins in the first column, and so does its brace.
    preg_match_all('~^(?!#|typedef)\w[\w \t*\n]*?\b(\w+)\([^;{}]*\)\s*\n\{~m', $text ?? '', $matches);
    foreach (preg_grep('~^[A-Z_]+$~', $matches[1], PREG_GREP_INVERT) ?: [] as $name) {
        $definedIn[$name][$file] = true;
    }
}
$shared = array_filter($definedIn, static fn (array $files): bool => count($files) > 1);
ksort($shared);
foreach ($shared as $name => $files) {
    echo "$name: ", implode(' ', array_keys($files)), "\n";
}
echo count($definedIn), " functions\n";
exit($shared === [] && $definedIn !== [] ? 0 : 1);
