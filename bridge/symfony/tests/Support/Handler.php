<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Support;

/**
 * The handler of all messages of the tests: a test says what it does.
 */
final class Handler
{
    /** @var list<string> names of the messages that were handled */
    public array $handled = [];

    /** @var list<object> the messages themselves */
    public array $messages = [];

    /** @var array<class-string, \Closure(object): mixed> */
    public array $does = [];

    public function __invoke(object $message): mixed
    {
        $this->handled[] = self::name($message);
        $this->messages[] = $message;

        return isset($this->does[$message::class]) ? $this->does[$message::class]($message) : null;
    }

    public static function name(object $message): string
    {
        $id = $message->id ?? null;

        return (new \ReflectionClass($message))->getShortName() . (\is_scalar($id) ? " $id" : '');
    }
}
