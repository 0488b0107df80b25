<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Support;

/**
 * A document of the bundle, in Markdown.
 */
final class Page
{
    public readonly string $name;

    public function __construct(public readonly string $path)
    {
        $this->name = basename($path, '.md');
    }

    /**
     * @return list<self>
     */
    public static function all(): array
    {
        $bundle = \dirname(__DIR__, 2);

        return array_map(static fn (string $path): self => new self($path), ["$bundle/README.md", ...glob("$bundle/docs/*.md") ?: []]);
    }

    public static function of(string $name): self
    {
        return new self(\dirname(__DIR__, 2) . "/docs/$name.md");
    }

    /**
     * @param class-string $class IfNewer has the page if-newer.md
     */
    public static function ofClass(string $class): self
    {
        return self::of(strtolower((string) preg_replace('/\B[A-Z]/', '-$0', (string) substr((string) strrchr($class, '\\'), 1))));
    }

    public function text(): string
    {
        return (string) file_get_contents($this->path);
    }

    /** Without its code. */
    public function prose(): string
    {
        return (string) preg_replace('/^```.*?^```/ms', '', $this->text());
    }

    /**
     * @return list<string>
     */
    public function blocks(string $language): array
    {
        preg_match_all('/^```' . $language . '\n(.*?)^```/ms', $this->text(), $blocks);

        return $blocks[1];
    }

    /**
     * @return list<string> of the second level
     */
    public function headings(): array
    {
        preg_match_all('/^## (.+)$/m', $this->prose(), $headings);

        return $headings[1];
    }

    /**
     * @return list<string> as GitHub names them
     */
    public function anchors(): array
    {
        preg_match_all('/^#+ (.+)$/m', $this->prose(), $headings);

        return array_map(
            static fn (string $heading): string => strtr((string) preg_replace('/[^\w\- ]/u', '', strtolower($heading)), ' ', '-'),
            $headings[1],
        );
    }

    public function section(string $heading): string
    {
        return preg_match('/^## ' . preg_quote($heading, '/') . '\n(.*?)(?=^## |\z)/ms', $this->text(), $section) === 1 ? $section[1] : '';
    }
}
