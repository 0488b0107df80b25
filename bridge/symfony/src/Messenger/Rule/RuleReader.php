<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Rule;

use Latch\Symfony\Messenger\Flow\Travel;
use Latch\Symfony\Messenger\IfNewer;
use Latch\Symfony\Messenger\Limit;
use Latch\Symfony\Messenger\Lock;
use Latch\Symfony\Messenger\LockedMessage;
use Latch\Symfony\Messenger\Rule;
use Latch\Symfony\Messenger\Throttle;
use Symfony\Component\Messenger\Envelope;

/**
 * Finds the rules of a message: attributes, stamps, and stamps of its dispatch that have travelled with it.
 *
 * @internal
 */
final class RuleReader
{
    /** What is about the handling of a message travels, as its stamps do not. */
    private const TRAVELLING = [
        'lock' => Lock::class,
        'limit' => Limit::class,
        'throttle' => Throttle::class,
        'ifNewer' => IfNewer::class,
    ];

    private const REPEATABLE = [Lock::class, Limit::class, Throttle::class];

    /** @var array<class-string, RuleSet> */
    private array $ofClasses = [];

    public function beforeDispatch(Envelope $envelope): RuleSet
    {
        $stamps = [];
        foreach ($envelope->all() as $class => $ofClass) {
            if (is_subclass_of($class, Rule::class)) {
                /** @var list<Rule> $ofClass */
                $stamps[$class] = \in_array($class, self::REPEATABLE, true) ? $ofClass : \array_slice($ofClass, -1);
            }
        }

        return $this->ofMessage($envelope->getMessage())->with($stamps);
    }

    /** Moves stamps, which stay behind, to what travels. */
    public function pack(Envelope $envelope, Travel $travel): Envelope
    {
        $packed = [];
        foreach (self::TRAVELLING as $name => $class) {
            foreach ($envelope->all($class) as $rule) {
                $packed[] = [$name, get_object_vars($rule)];
            }
        }
        $travel->set('rules', $packed === [] ? null : $packed);

        return $envelope->withoutStampsOfType(Rule::class);
    }

    public function beforeHandling(Envelope $envelope, Travel $travel): RuleSet
    {
        $travelled = [];
        foreach ($travel->get('rules') ?? [] as [$name, $arguments]) {
            $class = self::TRAVELLING[$name] ?? throw new \LogicException("A message has a rule \"$name\", which this release does not know.");
            $travelled[$class][] = new $class(...$arguments);
        }

        return $this->ofMessage($envelope->getMessage())->with($travelled);
    }

    private function ofMessage(object $message): RuleSet
    {
        $rules = $this->ofClasses[$message::class] ??= $this->ofClass($message::class);
        if (!$message instanceof LockedMessage) {
            return $rules;
        }
        $locks = $rules->all(Lock::class);
        foreach ($message->getLocks() as $lock) {
            $locks[] = $lock instanceof Lock ? $lock : new Lock($lock);
        }

        return $locks === [] ? $rules : $rules->with([Lock::class => $locks]);
    }

    /**
     * @param class-string $class
     */
    private function ofClass(string $class): RuleSet
    {
        $rules = [];
        foreach ([$class, ...array_values(class_parents($class)), ...array_values(class_implements($class))] as $declaring) {
            foreach ((new \ReflectionClass($declaring))->getAttributes(Rule::class, \ReflectionAttribute::IS_INSTANCEOF) as $attribute) {
                $rule = $attribute->newInstance();
                if (!isset($rules[$rule::class]) || \in_array($rule::class, self::REPEATABLE, true)) {
                    $rules[$rule::class][] = $rule;
                }
            }
        }

        return new RuleSet($rules);
    }
}
