<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Rule;

/**
 * Keys of rules, in which placeholders stand for values of the message.
 *
 * @internal
 */
final class KeyTemplate
{
    private const PLACEHOLDER = '/\{(\w+)\}/';

    /** Number of templates: those that are stamps may be made anew for each message. */
    private const REMEMBERED = 1000;

    /** @var array<class-string, array<string, \Closure(object): mixed>> */
    private array $readers = [];

    /** @var array<string, list<string>> literals and names by turns, of templates with placeholders */
    private array $parts = [];

    public function fill(string $template, object $message): string
    {
        if (!str_contains($template, '{')) {
            return $template;
        }
        $parts = $this->parts[$template] ?? $this->split($template);
        $key = $parts[0];
        for ($i = 1; isset($parts[$i]); $i += 2) {
            $key .= $this->text($parts[$i], $message, $template) . $parts[$i + 1];
        }

        return $key;
    }

    /** The value itself where the template is one placeholder, else the text. */
    public function value(string $template, object $message): mixed
    {
        return preg_match('/^\{(\w+)\}$/D', $template, $match) === 1 && $match[1] !== 'class'
            ? $this->read($match[1], $message, $template)
            : $this->fill($template, $message);
    }

    /**
     * @return list<string> names of placeholders that the message cannot fill
     */
    public function unknown(string $template, object $message): array
    {
        preg_match_all(self::PLACEHOLDER, $template, $matches);

        return array_values(array_filter(
            $matches[1],
            fn (string $name): bool => $name !== 'class' && $this->reader($name, $message) === null,
        ));
    }

    /**
     * @return list<string>
     */
    private function split(string $template): array
    {
        if (\count($this->parts) >= self::REMEMBERED) {
            $this->parts = [];
        }

        return $this->parts[$template] = preg_split(self::PLACEHOLDER, $template, -1, \PREG_SPLIT_DELIM_CAPTURE) ?: [$template];
    }

    private function text(string $name, object $message, string $template): string
    {
        if ($name === 'class') {
            return $message::class;
        }
        $value = $this->read($name, $message, $template);
        if (\is_int($value)) {
            return (string) $value;
        }
        $text = match (true) {
            \is_string($value) => $value,
            \is_bool($value) => $value ? '1' : '0',
            \is_float($value) => json_encode($value, \JSON_THROW_ON_ERROR),
            $value instanceof \BackedEnum => (string) $value->value,
            $value instanceof \UnitEnum => $value->name,
            $value instanceof \DateTimeInterface => $value->format('U.u'),
            $value instanceof \Stringable => (string) $value,
            default => throw $this->unusable($template, $message, \sprintf(
                '{%s} is %s; return a string or a number from a method %s() of the message',
                $name,
                get_debug_type($value),
                $name,
            )),
        };
        if (preg_match('//u', $text) !== 1) {
            throw $this->unusable($template, $message, "{{$name}} is not UTF-8; use bin2hex(), for example");
        }

        return $text;
    }

    private function read(string $name, object $message, string $template): mixed
    {
        $reader = $this->readers[$message::class][$name]
            ??= $this->reader($name, $message) ?? throw $this->unusable($template, $message, \sprintf(
                'the message has no public method %1$s() or get%2$s() without parameters, and no property $%1$s',
                $name,
                ucfirst($name),
            ));

        return $reader($message);
    }

    /**
     * @return (\Closure(object): mixed)|null
     */
    private function reader(string $name, object $message): ?\Closure
    {
        $class = new \ReflectionClass($message);
        foreach ([$name, 'get' . ucfirst($name)] as $method) {
            if (!$class->hasMethod($method)) {
                continue;
            }
            $reflection = $class->getMethod($method);
            if ($reflection->isPublic() && !$reflection->isStatic() && $reflection->getNumberOfRequiredParameters() === 0) {
                return static fn (object $message): mixed => $reflection->invoke($message);
            }
        }
        for ($declaring = $class; $declaring !== false; $declaring = $declaring->getParentClass()) {
            if ($declaring->hasProperty($name)) {
                $property = $declaring->getProperty($name);
                if ($declaring->isUserDefined() && !$property->isStatic()) {
                    // Sooner than by reflection.
                    return \Closure::bind(static fn (object $message): mixed => $message->{$name} ?? null, null, $declaring->name);
                }

                return static fn (object $message): mixed => $property->isInitialized($message) ? $property->getValue($message) : null;
            }
        }

        return null;
    }

    private function unusable(string $template, object $message, string $reason): \LogicException
    {
        return new \LogicException(\sprintf('The key "%s" cannot be made of %s: %s.', $template, $message::class, $reason));
    }
}
