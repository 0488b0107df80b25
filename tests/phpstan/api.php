<?php

/*
 * Prints what Latch offers to a program, as reflection of the loaded extension shows it: its classes,
 * their public methods (by the class that declares them) and constants, one per line.
 */

declare(strict_types=1);

foreach ((new ReflectionExtension('latch'))->getClasses() as $class) {
    // What can neither be made nor implemented, and has nothing to call, is the extension's own.
    $methods = array_filter(
        $class->getMethods(ReflectionMethod::IS_PUBLIC),
        fn (ReflectionMethod $method) => $method->getDeclaringClass()->getName() === $class->getName(),
    );
    if (!$class->isInterface() && !$class->isInstantiable() && !$methods) {
        continue;
    }
    echo $class->getName(), "\n";
    foreach ($methods as $method) {
        // The language calls these by itself.
        if ($method->isConstructor() || !str_starts_with($method->getName(), '__')) {
            echo $class->getName(), '::', $method->getName(), "\n";
        }
    }
    foreach ($class->getReflectionConstants(ReflectionClassConstant::IS_PUBLIC) as $constant) {
        if ($constant->getDeclaringClass()->getName() === $class->getName()) {
            echo $class->getName(), '::', $constant->getName(), "\n";
        }
    }
}
foreach ((new ReflectionExtension('latch'))->getFunctions() as $function) {
    echo $function->getName(), "()\n";
}
foreach (get_defined_constants(true)['latch'] ?? [] as $constant => $value) {
    echo $constant, "\n";
}
