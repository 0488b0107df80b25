<?php

declare(strict_types=1);

namespace Latch\Tests\PhpStan;

use PhpParser\Node;
use PHPStan\Analyser\Scope;
use PHPStan\Node\CollectedDataNode;
use PHPStan\Rules\Rule;
use PHPStan\Rules\RuleErrorBuilder;

/**
 * The project uses all that the extension offers: so it cannot fall behind, and what the stubs lack is
 * found.
 *
 * @implements Rule<CollectedDataNode>
 */
final class AllIsUsedRule implements Rule
{
    /** @param string $api the file that api.php's output is in */
    public function __construct(private readonly string $api)
    {
    }

    public function getNodeType(): string
    {
        return CollectedDataNode::class;
    }

    public function processNode(Node $node, Scope $scope): array
    {
        $offered = file($this->api, FILE_IGNORE_NEW_LINES);
        if (!$offered) {
            throw new \RuntimeException("$this->api does not say what the extension offers");
        }
        $used = array_merge([], ...array_merge([], ...array_values($node->get(UseCollector::class))));
        $errors = [];
        foreach (array_diff($offered, $used) as $unused) {
            $errors[] = RuleErrorBuilder::message("The project in tests/phpstan does not use $unused.")
                ->file($this->api)->line(0)->identifier('latch.unused')->build();
        }

        return $errors;
    }
}
