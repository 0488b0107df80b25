<?php

/*
 * Validates the composer.json of the root as PIE reads it, and that it says the same as config.m4 and
 * package.xml. PIE gets it from Composer, so what Composer's own validation and loader say decides.
 * Debian's Composer is too old to know the section php-ext; a newer one is put before it.
 *
 * php manifest.php VENDOR ROOT, where VENDOR has that newer Composer. Says what is wrong.
 */

declare(strict_types=1);

namespace Latch\Tools\Package;

use Composer\IO\NullIO;
use Composer\Package\CompletePackage;
use Composer\Package\Loader\ArrayLoader;
use Composer\Package\Loader\ValidatingArrayLoader;
use Composer\Util\ConfigValidator;

require '/usr/share/php/Composer/autoload.php';

[, $vendor, $root] = $argv;
require "$vendor/autoload.php";

/**
 * @param array<string, mixed> $manifest
 *
 * @return list<string> errors and warnings, as of "composer validate --strict"
 */
function complaints(array $manifest): array
{
    $file = tempnam(sys_get_temp_dir(), 'latch-manifest-');
    file_put_contents($file, json_encode($manifest, JSON_THROW_ON_ERROR));
    $complaints = (new ConfigValidator(new NullIO()))->validate($file, ValidatingArrayLoader::CHECK_ALL);
    unlink($file);

    return array_merge(...$complaints);
}

/**
 * The package as PIE gets it from Composer.
 *
 * @param array<string, mixed> $manifest
 */
function load(array $manifest): CompletePackage
{
    $package = (new ArrayLoader())->load($manifest + ['version' => '0.1.0']);
    assert($package instanceof CompletePackage);

    return $package;
}

/**
 * The options --with-latch-… of config.m4.
 *
 * @return list<string>
 */
function optionsOf(string $configM4): array
{
    preg_match_all('~\bLATCH_BACKEND\(\[(\w+)], ~', $configM4, $matches);
    $options = array_map(fn (string $name) => "with-latch-$name", $matches[1]);
    sort($options);

    return $options;
}

$manifest = json_decode((string) file_get_contents("$root/composer.json"), true, flags: JSON_THROW_ON_ERROR);
$wrong = complaints($manifest);

// Composer must be one that looks at php-ext: it finds these mistakes.
$mistakes = [
    ['os-families' => ['linx']], ['priority' => 'high'], ['priority' => 200], ['support-zts' => 'yes'],
    ['configure-options' => [['description' => 'no name']]], ['os-families-exclude' => ['windows']],
];
foreach ($mistakes as $mistake) {
    if (!complaints(array_replace($manifest, ['php-ext' => $mistake + $manifest['php-ext']]))) {
        $wrong[] = 'this mistake is not found: ' . json_encode($mistake);
    }
}

// PIE's documented rules that Composer does not check.
$extension = load($manifest)->getPhpExt() ?? [];
if (load($manifest)->getType() !== 'php-ext') {
    $wrong[] = 'the type is not php-ext';
}
if (!preg_match('~^[A-Za-z][A-Za-z0-9_]+$~', $extension['extension-name'] ?? '')) {
    $wrong[] = 'extension-name is no name of an extension';
}
if (isset($manifest['version'])) {
    $wrong[] = 'version belongs in the tag';
}

// What the tree says as well.
$configM4 = (string) file_get_contents("$root/config.m4");
if (!str_contains($configM4, "PHP_NEW_EXTENSION([{$extension['extension-name']}],")) {
    $wrong[] = 'config.m4 builds an extension of another name';
}
$options = array_column($extension['configure-options'] ?? [], 'name');
sort($options);
if ($options !== optionsOf($configM4)) {
    $wrong[] = 'configure-options are ' . implode(' ', $options) . '; config.m4 has ' . implode(' ', optionsOf($configM4));
}
$package = simplexml_load_file("$root/package.xml") ?: throw new \RuntimeException('package.xml cannot be read');
// PECL asks the user for each of these.
$asked = [];
foreach ($package->extsrcrelease->configureoption as $option) {
    $asked[] = (string) $option['name'];
}
sort($asked);
if ($options !== $asked) {
    $wrong[] = 'configure-options are ' . implode(' ', $options) . '; package.xml asks for ' . implode(' ', $asked);
}
foreach (load($manifest)->getRequires() as $link) {
    if ($link->getTarget() === 'php' && $link->getPrettyConstraint() . '.0' !== ">={$package->dependencies->required->php->min}") {
        $wrong[] = "requires PHP {$link->getPrettyConstraint()}, package.xml {$package->dependencies->required->php->min}";
    }
}

echo implode('', array_map(fn (string $line) => "composer.json: $line\n", $wrong));
exit($wrong ? 1 : 0);
