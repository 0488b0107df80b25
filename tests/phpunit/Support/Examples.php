<?php

declare(strict_types=1);

namespace Latch\Tests\Support;

/**
 * The fenced blocks of the README and the documents, by name: the heading above a block, its number there and its
 * language, as in "first-use-1.php".
 */
final class Examples
{
    private const ROOT = __DIR__ . '/../../..';

    /** @return list<string> the pages with fenced blocks, below the root of the tree */
    public static function pages(): array
    {
        $pages = ['README.md', 'CONTRIBUTING.md', ...array_map(
            static fn (string $path): string => substr($path, \strlen(self::ROOT) + 1),
            [...glob(self::ROOT . '/docs/*.md') ?: [], ...glob(self::ROOT . '/benchmark/*.md') ?: []],
        )];

        return array_values(array_filter($pages, static fn (string $page): bool => self::of($page) !== []));
    }

    public static function text(string $page): string
    {
        return (string) file_get_contents(self::ROOT . "/$page");
    }

    /** @return array<string, array{string, string}> language and text of each block, by its name */
    public static function of(string $page): array
    {
        preg_match_all(
            '/^#+ ([^\n]+)$|^( *)```(\w*)\n(.*?)^\2```$/ms',
            self::text($page),
            $found,
            \PREG_SET_ORDER,
        );
        $examples = [];
        $section = '';
        $number = 0;
        foreach ($found as $match) {
            if (!isset($match[3])) {
                [$section, $number] = [trim(strtolower((string) preg_replace('/\W+/', '-', $match[1])), '-'), 0];
                continue;
            }
            if ($match[3] === '') {
                throw new \LogicException("A block in $page, \"$section\", names no language.");
            }
            $text = (string) preg_replace("/^$match[2]/m", '', $match[4]);
            $examples[sprintf('%s-%d.%s', $section, ++$number, $match[3])] = [$match[3], $text];
        }

        return $examples;
    }
}
