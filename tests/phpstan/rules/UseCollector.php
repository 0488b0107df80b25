<?php

declare(strict_types=1);

namespace Latch\Tests\PhpStan;

use PhpParser\Node;
use PhpParser\NodeFinder;
use PHPStan\Analyser\Scope;
use PHPStan\Collectors\Collector;
use PHPStan\Node\FileNode;
use PHPStan\Node\InClassMethodNode;
use PHPStan\Type\ObjectType;
use PHPStan\Type\Type;

/**
 * Collects what a project uses of anybody's API, in the words of api.php: classes that it names, methods
 * that it calls or implements, constants, functions.
 *
 * @implements Collector<Node, list<string>>
 */
final class UseCollector implements Collector
{
    public function getNodeType(): string
    {
        return Node::class;
    }

    public function processNode(Node $node, Scope $scope): ?array
    {
        $uses = match (true) {
            $node instanceof FileNode => $this->names($node),
            $node instanceof InClassMethodNode => $this->implemented($node),
            $node instanceof Node\Expr\New_ && $node->class instanceof Node\Name =>
                $this->declared(new ObjectType($scope->resolveName($node->class)), '__construct', $scope),
            $node instanceof Node\Expr\MethodCall && $node->name instanceof Node\Identifier =>
                $this->declared($scope->getType($node->var), $node->name->name, $scope),
            $node instanceof Node\Expr\StaticCall && $node->class instanceof Node\Name
                && $node->name instanceof Node\Identifier =>
                $this->declared(new ObjectType($scope->resolveName($node->class)), $node->name->name, $scope),
            $node instanceof Node\Expr\ClassConstFetch && $node->class instanceof Node\Name
                && $node->name instanceof Node\Identifier =>
                [$scope->resolveName($node->class) . '::' . $node->name->name],
            $node instanceof Node\Expr\FuncCall && $node->name instanceof Node\Name => [$node->name . '()'],
            default => [],
        };

        return $uses ?: null;
    }

    /** @return list<string> */
    private function names(FileNode $file): array
    {
        $names = (new NodeFinder())->findInstanceOf($file->getNodes(), Node\Name\FullyQualified::class);

        return array_map(fn (Node\Name $name) => $name->toString(), $names);
    }

    /** @return list<string> the same method of all that the class extends and implements */
    private function implemented(InClassMethodNode $node): array
    {
        $method = $node->getMethodReflection()->getName();
        $declared = [];
        foreach ($node->getClassReflection()->getAncestors() as $ancestor) {
            if ($ancestor->hasNativeMethod($method)) {
                $declared[] = $ancestor->getNativeMethod($method)->getDeclaringClass()->getName() . "::$method";
            }
        }

        return $declared;
    }

    /** @return list<string> of each class that the type stands for */
    private function declared(Type $type, string $method, Scope $scope): array
    {
        $declared = [];
        foreach ($type->getObjectClassNames() as $name) {
            $class = new ObjectType($name);
            if ($class->hasMethod($method)->yes()) {
                $declared[] = $class->getMethod($method, $scope)->getDeclaringClass()->getName() . "::$method";
            }
        }

        return $declared;
    }
}
