<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Rule;

use Latch\Symfony\Messenger\Rule;

/**
 * Rules of messages whose classes are not the application's, as they are written in its configuration.
 *
 * @internal
 */
final class Configured
{
    /**
     * @param array<string, array<string, array<mixed>|string>> $rules by class of message and name: a key, arguments by name,
     *                                                                 or a list of these
     *
     * @return array<string, list<array{class-string<Rule>, array<string, mixed>}>> classes and arguments, by class of message
     *
     * @throws \InvalidArgumentException
     */
    public static function read(array $rules): array
    {
        $read = [];
        foreach ($rules as $message => $named) {
            if (!class_exists($message) && !interface_exists($message)) {
                throw new \InvalidArgumentException("There is no class \"$message\".");
            }
            foreach ($named as $name => $several) {
                $several = \is_array($several) && array_is_list($several) ? $several : [$several];
                foreach ($several as $arguments) {
                    $read[$message][] = self::rule($message, $name, $arguments);
                }
            }
        }

        return $read;
    }

    /**
     * @return array{class-string<Rule>, array<string, mixed>}
     */
    private static function rule(string $message, string $name, mixed $written): array
    {
        $class = RuleCodec::NAMES[$name] ?? throw new \InvalidArgumentException(\sprintf(
            'There is no rule "%s", which %s is to have; there is "%s".',
            $name,
            $message,
            implode('", "', array_keys(RuleCodec::NAMES)),
        ));
        $arguments = [];
        foreach (\is_array($written) ? $written : ['key' => $written] as $parameter => $value) {
            $arguments[lcfirst(strtr(ucwords((string) $parameter, '_'), ['_' => '']))] = $value;
        }
        try {
            new $class(...$arguments);
        } catch (\Error $e) {
            throw new \InvalidArgumentException("The rule \"$name\" of $message cannot be made: {$e->getMessage()}", 0, $e);
        }

        return [$class, $arguments];
    }
}
