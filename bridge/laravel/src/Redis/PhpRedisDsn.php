<?php

declare(strict_types=1);

namespace Latch\Laravel\Redis;

use Illuminate\Redis\Connections\PhpRedisClusterConnection;
use Illuminate\Redis\Connections\PhpRedisConnection;
use Illuminate\Redis\Connectors\PhpRedisConnector;
use Illuminate\Redis\RedisManager;
use Illuminate\Support\Arr;

/**
 * The DSNs of connections that Laravel's connector for phpredis has made.
 *
 * @internal
 */
final class PhpRedisDsn
{
    /** From the closure with which the connection reconnects. Null: it was made in another way. */
    public static function ofServer(PhpRedisConnection $connection): ?string
    {
        $connector = (fn (): mixed => $this->connector)->call($connection);
        if (!$connector instanceof \Closure) {
            return null;
        }
        $function = new \ReflectionFunction($connector);
        $variables = $function->getStaticVariables();
        $isStock = $function->getClosureThis()::class === PhpRedisConnector::class
            && isset($variables['config'], $variables['options'], $variables['formattedOptions']);

        return $isStock
            ? self::server(array_merge($variables['config'], $variables['options'], $variables['formattedOptions']))
            : null;
    }

    /** From the configuration, as the connection does not know it. Null: it is not that manager's. */
    public static function ofCluster(PhpRedisClusterConnection $connection, RedisManager $manager): ?string
    {
        $name = $connection->getName();
        if (($manager->connections()[$name] ?? null) !== $connection) {
            return null;
        }
        [$servers, $options] = (fn (): array => [
            array_map($this->parseConnectionConfiguration(...), $this->config['clusters'][$name] ?? []),
            array_merge($this->config['options'] ?? [], $this->config['clusters']['options'] ?? []),
        ])->call($manager);
        $options = array_merge($options, Arr::pull($servers, 'options', []));

        return $servers === [] ? null : self::cluster(array_values($servers), $options);
    }

    /**
     * @param array<mixed> $config as PhpRedisConnector::createClient() has it
     */
    private static function server(#[\SensitiveParameter] array $config): ?string
    {
        [$scheme, $host] = self::split($config);

        return match (true) {
            str_starts_with($host, '/') => self::write([[$host, null]], null, $config),
            $scheme === 'tcp' => self::write([[$host, $config['port'] ?? 6379]], null, $config),
            $scheme === 'tls', $scheme === 'ssl'
                => self::write([[$host, $config['port'] ?? 6379]], self::context($config), $config),
            default => null,
        };
    }

    /**
     * @param list<array<mixed>> $servers
     * @param array<mixed>       $options as PhpRedisConnector::createRedisClusterInstance() has them
     */
    private static function cluster(
        #[\SensitiveParameter] array $servers,
        #[\SensitiveParameter] array $options,
    ): string {
        $hosts = array_map(static fn (array $server): array => [self::split($server)[1], $server['port'] ?? 6379], $servers);
        // A context makes phpredis use TLS, whatever the hosts' scheme.
        $tls = isset($options['context']) || \in_array(self::split($servers[0])[0], ['tls', 'ssl'], true);

        return self::write($hosts, $tls ? self::context($options) : null, $options, ['redis_cluster' => 1]);
    }

    /**
     * @param list<array{string, int|string|null}> $hosts
     * @param array<mixed>|null                    $tls
     * @param array<mixed>                         $config
     * @param array<string, mixed>                 $options
     */
    private static function write(
        array $hosts,
        #[\SensitiveParameter] ?array $tls,
        #[\SensitiveParameter] array $config,
        array $options = [],
    ): string {
        // As Laravel: without a password it does not log in.
        $password = empty($config['password']) ? null : $config['password'];
        [$user, $password] = \is_array($password)
            ? (\count($password) > 1 ? array_values($password) : [null, reset($password)])
            : [$config['username'] ?? null, $password];

        return Dsn::of($hosts, $user, $password, $tls, $options + [
            'timeout' => Dsn::seconds($config['timeout'] ?? null),
            'read_timeout' => Dsn::seconds($config['read_timeout'] ?? null),
        ]);
    }

    /**
     * @param array<mixed> $config
     *
     * @return array{string, string} scheme and host
     */
    private static function split(#[\SensitiveParameter] array $config): array
    {
        $host = (string) ($config['host'] ?? '');
        if (preg_match('~^(\w+)://(.*)$~s', $host, $parts)) {
            return [strtolower($parts[1]), $parts[2]];
        }

        return [strtolower((string) ($config['scheme'] ?? 'tcp')), $host];
    }

    /**
     * @param array<mixed> $config
     *
     * @return array<mixed> options of TLS
     */
    private static function context(#[\SensitiveParameter] array $config): array
    {
        $context = (array) ($config['context'] ?? []);

        return (array) ($context['stream'] ?? $context['ssl'] ?? $context);
    }
}
