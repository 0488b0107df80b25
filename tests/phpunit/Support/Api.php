<?php

declare(strict_types=1);

namespace Latch\Tests\Support;

/**
 * The public face of the classes, as reflection shows it, in plain arrays that two processes can compare.
 */
final class Api
{
    /**
     * @return array<string, array<string, mixed>> by the classes' names without their namespace; of those that
     *                                             there are
     */
    public static function describe(): array
    {
        return self::describeClasses(Subject::CLASSES, Subject::name(...));
    }

    /**
     * @return array<string, array<string, mixed>> the same of semaphores
     */
    public static function describeSemaphores(): array
    {
        return self::describeClasses(
            [...Subject::SEMAPHORE_CLASSES, ...Subject::SEMAPHORE_CLASSES_OF_8],
            Subject::semaphoreName(...),
        );
    }

    /**
     * @param list<string>             $classes
     * @param \Closure(string): string $name
     *
     * @return array<string, array<string, mixed>>
     */
    private static function describeClasses(array $classes, \Closure $name): array
    {
        $described = [];
        foreach ($classes as $class) {
            if (class_exists($name($class)) || interface_exists($name($class))) {
                $described[$class] = self::describeClass(new \ReflectionClass($name($class)));
            }
        }

        return $described;
    }

    /**
     * @param \ReflectionClass<object> $class
     *
     * @return array<string, mixed>
     */
    private static function describeClass(\ReflectionClass $class): array
    {
        $interfaces = array_map(Subject::plain(...), $class->getInterfaceNames());
        sort($interfaces);
        $methods = [];
        foreach ($class->getMethods(\ReflectionMethod::IS_PUBLIC) as $method) {
            // What comes with \Exception is PHP's own.
            if (!$class->implementsInterface(\Throwable::class)) {
                $methods[$method->getName()] = self::describeMethod($method);
            }
        }
        ksort($methods);

        return [
            'interface' => $class->isInterface(),
            'final' => $class->isFinal(),
            'abstract' => $class->isAbstract(),
            'cloneable' => $class->isCloneable(),
            'parent' => Subject::plain($class->getParentClass() ? $class->getParentClass()->getName() : ''),
            'interfaces' => $interfaces,
            'constants' => $class->getConstants(),
            'methods' => $methods,
        ];
    }

    /**
     * @return array<string, mixed>
     */
    private static function describeMethod(\ReflectionMethod $method): array
    {
        $parameters = [];
        foreach ($method->getParameters() as $parameter) {
            $parameters[] = implode(' ', array_filter([
                Subject::plain((string) $parameter->getType()),
                $parameter->isPassedByReference() ? 'by reference' : '',
                $parameter->isVariadic() ? 'variadic' : '',
                '$' . $parameter->getName(),
                $parameter->isDefaultValueAvailable() ? '= ' . var_export($parameter->getDefaultValue(), true) : '',
            ]));
        }

        return [
            'static' => $method->isStatic(),
            'final' => $method->isFinal(),
            'abstract' => $method->isAbstract(),
            'parameters' => $parameters,
            'sensitive' => array_values(array_filter(array_map(
                static fn (\ReflectionParameter $parameter): ?string
                    => $parameter->getAttributes(\SensitiveParameter::class) ? $parameter->getName() : null,
                $method->getParameters(),
            ))),
            'required' => $method->getNumberOfRequiredParameters(),
            'returns' => Subject::plain((string) ($method->getReturnType() ?? $method->getTentativeReturnType())),
            'tentative' => $method->hasTentativeReturnType(),
        ];
    }
}
