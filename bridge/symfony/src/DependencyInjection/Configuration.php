<?php

declare(strict_types=1);

namespace Latch\Symfony\DependencyInjection;

use Symfony\Component\Config\Definition\Builder\ArrayNodeDefinition;
use Symfony\Component\Config\Definition\Builder\NodeDefinition;

/**
 * What may be written under "latch:".
 */
final class Configuration
{
    public static function describe(NodeDefinition $root): void
    {
        \assert($root instanceof ArrayNodeDefinition);
        $root
            ->beforeNormalization()
                ->ifString()->then(static fn (string $dsn): array => ['stores' => ['default' => $dsn]])
            ->end();
        $children = $root->children();
        $children->append(self::stores());
        $children->append(self::messenger());
    }

    private static function stores(): ArrayNodeDefinition
    {
        $node = new ArrayNodeDefinition('stores');
        $node
            ->info('By name, a DSN, or the id of a service that is a client object')
            ->example(['default' => '%env(LATCH_DSN)%', 'local' => 'flock:///var/lock/shop'])
            ->normalizeKeys(false)
            ->useAttributeAsKey('name')
            ->defaultValue(['default' => 'flock'])
            ->beforeNormalization()
                ->ifString()->then(static fn (string $dsn): array => ['default' => $dsn])
            ->end()
            ->validate()
                ->ifTrue(static fn (array $stores): bool => preg_grep('/^[a-zA-Z_][\w.-]*$/D', array_keys($stores), \PREG_GREP_INVERT) !== [])
                ->thenInvalid('A name of a store is made of letters, digits and "_", and begins with a letter: %s')
            ->end()
            ->scalarPrototype()->cannotBeEmpty()->end();

        return $node;
    }

    private static function messenger(): ArrayNodeDefinition
    {
        $node = new ArrayNodeDefinition('messenger');
        $node
            ->canBeDisabled()
            ->addDefaultsIfNotSet();
        $children = $node->children();
        $children->scalarNode('store')
            ->info('Store of the locks that a message has while it is handled')
            ->defaultValue('default')->cannotBeEmpty();
        $children->scalarNode('sync_store')
            ->info('Store of what lasts from the dispatch to the end of a message; the same as "store" if it is not named')
            ->defaultNull();
        $children->arrayNode('buses')
            ->info('Ids of the buses that are to have the middlewares; none: all buses')
            ->scalarPrototype()->end();
        $children->floatNode('ttl')
            ->info('Seconds after which the locks of a killed worker are free; those of a living one are renewed')
            ->min(0.1)->defaultValue(30.0);
        $children->floatNode('max_hold')
            ->info('Seconds after which locks are not renewed any more; ~: never')
            ->beforeNormalization()->ifNull()->thenUnset()->end()
            ->min(0.1)->defaultNull();
        $children->scalarNode('secret')
            ->info('Key of the signatures of messages that other messages carry; ~: kernel.secret')
            ->defaultNull();
        $children->arrayNode('rules')
            ->info('Rules of messages whose classes are not yours: by class and name, a key, arguments by name, or a list of these')
            ->example(['Symfony\\Component\\Mailer\\Messenger\\SendEmailMessage' => ['throttle' => ['limit' => 100, 'interval' => 60.0]]])
            ->normalizeKeys(false)
            ->useAttributeAsKey('class')
            ->arrayPrototype()
                ->normalizeKeys(false)
                ->useAttributeAsKey('name')
                ->variablePrototype()->end()
            ->end();
        $requeue = $children->arrayNode('requeue')->addDefaultsIfNotSet()->children();
        $requeue->integerNode('delay')
            ->info('Milliseconds after which a message that was refused a lock comes back, at first')
            ->min(1)->defaultValue(1000);
        $requeue->integerNode('max_delay')->info('Milliseconds, at last')->min(1)->defaultValue(30_000);
        $requeue->floatNode('give_up_after')
            ->info('Seconds after which a message that is still refused its locks has failed; ~: never')
            ->beforeNormalization()->ifNull()->thenUnset()->end()
            ->min(0.1)->defaultNull();
        $requeue->enumNode('on_store_error')
            ->info('What becomes of a message when the store cannot be asked: it comes back, or fails')
            ->values(['requeue', 'fail'])->defaultValue('requeue');

        return $node;
    }
}
