<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Rule;

use Latch\Symfony\Messenger\Debounce;
use Latch\Symfony\Messenger\Flow\Travel;
use Latch\Symfony\Messenger\IfNewer;
use Latch\Symfony\Messenger\Limit;
use Latch\Symfony\Messenger\Lock;
use Latch\Symfony\Messenger\LockedMessage;
use Latch\Symfony\Messenger\Once;
use Latch\Symfony\Messenger\Ordered;
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
    /** What is about the handling of a message, or named in its events, travels, as its stamps do not. */
    private const TRAVELLING = [
        Lock::class,
        Limit::class,
        Throttle::class,
        IfNewer::class,
        Once::class,
        Debounce::class,
        Ordered::class,
    ];

    private const REPEATABLE = [Lock::class, Limit::class, Throttle::class];

    /** @var array<class-string, bool> classes of stamps */
    private array $areRules = [];

    /** @var array<class-string, RuleSet> */
    private array $ofClasses = [];

    /**
     * @param array<string, list<array{class-string<Rule>, array<string, mixed>}>> $configured classes and arguments, by class of
     *                                                                                         message
     */
    public function __construct(private readonly array $configured = [])
    {
    }

    public function beforeDispatch(Envelope $envelope): RuleSet
    {
        $stamps = [];
        foreach ($envelope->all() as $class => $ofClass) {
            if ($this->areRules[$class] ??= is_subclass_of($class, Rule::class)) {
                /** @var class-string<Rule> $class */
                /** @var list<Rule> $ofClass */
                $stamps[$class] = self::effective($class, $ofClass);
            }
        }

        return $this->ofMessage($envelope->getMessage())->with($stamps);
    }

    /** Moves stamps, which stay behind, to what travels. */
    public function pack(Envelope $envelope, Travel $travel): Envelope
    {
        $packed = [];
        foreach (self::TRAVELLING as $class) {
            array_push($packed, ...array_map(RuleCodec::pack(...), self::effective($class, $envelope->all($class))));
        }
        $travel->set('rules', $packed === [] ? null : $packed);

        return $envelope->withoutStampsOfType(Rule::class);
    }

    public function beforeHandling(Envelope $envelope, Travel $travel): RuleSet
    {
        $travelled = [];
        foreach ($travel->get('rules') ?? [] as [$name, $arguments]) {
            $rule = RuleCodec::unpack($name, $arguments);
            $travelled[$rule::class][] = $rule;
        }

        return $this->ofMessage($envelope->getMessage())->with($travelled);
    }

    /**
     * @param class-string $class
     */
    public function ofClass(string $class): RuleSet
    {
        $rules = [];
        foreach ([$class, ...array_values(class_parents($class)), ...array_values(class_implements($class))] as $declaring) {
            foreach ($this->written($declaring) as $rule) {
                if (!isset($rules[$rule::class]) || \in_array($rule::class, self::REPEATABLE, true)) {
                    $rules[$rule::class][] = $rule;
                }
            }
        }

        return new RuleSet($rules);
    }

    /**
     * @template R of Rule
     *
     * @param class-string<R> $class
     * @param list<R>         $stamps
     *
     * @return list<R> of those that are not repeatable the last one
     */
    private static function effective(string $class, array $stamps): array
    {
        return \in_array($class, self::REPEATABLE, true) ? $stamps : \array_slice($stamps, -1);
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
     * @param class-string $declaring
     *
     * @return iterable<Rule> those of the configuration first
     */
    private function written(string $declaring): iterable
    {
        foreach ($this->configured[$declaring] ?? [] as [$class, $arguments]) {
            yield new $class(...$arguments);
        }
        foreach ((new \ReflectionClass($declaring))->getAttributes(Rule::class, \ReflectionAttribute::IS_INSTANCEOF) as $attribute) {
            yield $attribute->newInstance();
        }
    }
}
