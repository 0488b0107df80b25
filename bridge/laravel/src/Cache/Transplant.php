<?php

declare(strict_types=1);

namespace Latch\Laravel\Cache;

/**
 * Turns an object of one of Laravel's classes into one of a subclass, whatever its constructor has set.
 *
 * A decorator would lose "instanceof", and the methods that only some versions of Laravel have.
 *
 * @internal
 */
final class Transplant
{
    /** @var array<class-string, list<\ReflectionProperty>> by class */
    private static array $properties = [];

    /**
     * @template T of object
     *
     * @param class-string<T> $class a subclass of the object's
     *
     * @return T with the object's properties
     */
    public static function into(string $class, object $from): object
    {
        $to = (new \ReflectionClass($class))->newInstanceWithoutConstructor();
        foreach (self::$properties[$from::class] ??= self::propertiesOf($from) as $property) {
            if ($property->isInitialized($from)) {
                $property->setValue($to, $property->getValue($from));
            }
        }

        return $to;
    }

    /**
     * @return list<\ReflectionProperty> with private ones of parents
     */
    private static function propertiesOf(object $object): array
    {
        $properties = [];
        for ($class = new \ReflectionClass($object); $class !== false; $class = $class->getParentClass()) {
            foreach ($class->getProperties() as $property) {
                if (!$property->isStatic()) {
                    $properties["{$property->class}::{$property->name}"] = $property;
                }
            }
        }

        return array_values($properties);
    }
}
