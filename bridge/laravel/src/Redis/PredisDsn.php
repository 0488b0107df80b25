<?php

declare(strict_types=1);

namespace Latch\Laravel\Redis;

use Illuminate\Redis\Connections\PredisConnection;
use Predis\Client;
use Predis\Command\Processor\KeyPrefixProcessor;
use Predis\Connection\Cluster\RedisCluster;
use Predis\Connection\NodeConnectionInterface;
use Predis\Connection\Parameters;
use Predis\Connection\ParametersInterface;
use Predis\Connection\Replication\SentinelReplication;

/**
 * The DSNs of connections on Predis, from the parameters of its connections.
 *
 * @internal
 */
final class PredisDsn
{
    /** Null: it is not one server, a cluster, or a master that Sentinels know, or only the client knows its prefix. */
    public static function of(PredisConnection $connection): ?string
    {
        $client = $connection->client();
        if (!$client instanceof Client || $client::class !== Client::class) {
            return null;
        }
        $prefix = $client->getOptions()->prefix;
        if ($prefix !== null && !$prefix instanceof KeyPrefixProcessor) {
            return null;
        }
        $inner = $client->getConnection();

        return match (true) {
            // An application's own class may do as it likes with its parameters.
            $inner instanceof NodeConnectionInterface && str_starts_with($inner::class, 'Predis\Connection\\')
                => self::server(self::parameters($inner)),
            $inner::class === RedisCluster::class => self::cluster($inner),
            $inner::class === SentinelReplication::class => self::sentinel($inner, $client),
            default => null,
        };
    }

    /** Null: none, or one that only the client knows. */
    public static function prefix(Client $client): ?string
    {
        $prefix = $client->getOptions()->prefix;

        return $prefix instanceof KeyPrefixProcessor ? (string) $prefix->getPrefix() : null;
    }

    /**
     * @param array<mixed> $parameters
     */
    private static function server(#[\SensitiveParameter] array $parameters): ?string
    {
        $tls = self::tls($parameters);

        return match (true) {
            $parameters['scheme'] === 'unix'
                => self::write([[(string) $parameters['path'], null]], null, $parameters, $parameters),
            $tls !== false => self::write([self::address($parameters)], $tls, $parameters, $parameters),
            default => null,
        };
    }

    private static function cluster(RedisCluster $cluster): ?string
    {
        $nodes = (fn (): array => array_values($this->pool))->call($cluster);
        $seeds = array_map(self::parameters(...), $nodes);
        $tls = $seeds === [] ? false : self::tls($seeds[0]);
        if ($tls === false) {
            return null;
        }

        return self::write(array_map(self::address(...), $seeds), $tls, $seeds[0], ['redis_cluster' => 1] + $seeds[0]);
    }

    /** Parameters of the sentinels are their own; the master's are those of all connections of the client. */
    private static function sentinel(SentinelReplication $replication, Client $client): ?string
    {
        $sentinels = array_map(self::parameters(...), (fn (): array => array_values($this->sentinels))->call($replication));
        $master = self::parameters($client->getOptions()->parameters ?? []);
        $tls = $sentinels === [] ? false : self::tls($master);
        $sentinelTls = $sentinels === [] ? false : self::tls($sentinels[0]);
        $login = array_filter([$sentinels[0]['username'] ?? null, $sentinels[0]['password'] ?? null]);
        // A DSN has one way for all, and no login for Sentinels alone.
        if ($tls === false || ($tls === null) !== ($sentinelTls === null) || ($login !== [] && !isset($master['password']))) {
            return null;
        }

        return self::write(array_map(self::address(...), $sentinels), $tls, $master, [
            'sentinel' => $client->getOptions()->service,
            'auth' => \count($login) > 1 ? array_values($login) : ($sentinels[0]['password'] ?? null),
        ] + $master);
    }

    /**
     * @param list<array{string, int|string|null}> $hosts
     * @param array<mixed>|null                    $tls
     * @param array<mixed>                         $login   with a user and a password, if any
     * @param array<mixed>                         $options of the DSN, or of Predis
     */
    private static function write(
        array $hosts,
        #[\SensitiveParameter] ?array $tls,
        #[\SensitiveParameter] array $login,
        #[\SensitiveParameter] array $options,
    ): string {
        return Dsn::of($hosts, $login['username'] ?? null, $login['password'] ?? null, $tls, [
            'redis_cluster' => $options['redis_cluster'] ?? null,
            'sentinel' => $options['sentinel'] ?? null,
            'auth' => $options['auth'] ?? null,
            'dbindex' => isset($options['redis_cluster']) ? null : $options['database'] ?? null,
            'timeout' => Dsn::seconds($options['timeout'] ?? null),
            'read_timeout' => Dsn::seconds($options['read_write_timeout'] ?? null),
        ]);
    }

    /**
     * @return array<mixed>
     */
    private static function parameters(#[\SensitiveParameter] mixed $of): array
    {
        $of = match (true) {
            $of instanceof NodeConnectionInterface => $of->getParameters(),
            $of instanceof ParametersInterface => $of,
            default => Parameters::create($of),
        };

        return $of->toArray();
    }

    /**
     * @param array<mixed> $parameters
     *
     * @return array<mixed>|false|null options; null: plain text; false: by another way
     */
    private static function tls(#[\SensitiveParameter] array $parameters): array|false|null
    {
        return match ($parameters['scheme']) {
            'tcp', 'redis' => null,
            'tls', 'rediss' => (array) ($parameters['ssl'] ?? []),
            default => false,
        };
    }

    /**
     * @param array<mixed> $parameters
     *
     * @return array{string, int|string}
     */
    private static function address(#[\SensitiveParameter] array $parameters): array
    {
        return [(string) $parameters['host'], $parameters['port']];
    }
}
