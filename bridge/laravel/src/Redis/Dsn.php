<?php

declare(strict_types=1);

namespace Latch\Laravel\Redis;

/**
 * Writes Latch's DSNs.
 *
 * @internal
 */
final class Dsn
{
    /** Options that withoutLogin() shows: the others may be secret. */
    private const SHOWN = ['host', 'sentinel', 'redis_sentinel', 'sentinel_master', 'redis_cluster', 'cluster', 'dbindex',
        'prefix', 'timeout', 'read_timeout', 'peers'];

    /** Latch's limits for time-outs, in seconds. */
    private const SHORTEST = 0.001;
    private const LONGEST = 86400;

    /**
     * @param list<array{string, int|string|null}> $hosts   each with its port; a socket's path with null
     * @param array<mixed>|null                    $tls     context options; null: plain text
     * @param array<mixed>                         $options values that are null or "" are left out
     */
    public static function of(
        array $hosts,
        #[\SensitiveParameter] mixed $user,
        #[\SensitiveParameter] mixed $password,
        #[\SensitiveParameter] ?array $tls,
        #[\SensitiveParameter] array $options,
    ): string {
        $login = '';
        if (\is_scalar($password) && (string) $password !== '') {
            $login = rawurlencode((string) $password) . '@';
            if (\is_scalar($user) && (string) $user !== '') {
                $login = rawurlencode((string) $user) . ":$login";
            }
        }
        $addresses = array_map(self::address(...), $hosts);
        $scheme = $tls === null ? 'redis' : 'rediss';
        $dsn = \count($addresses) === 1 && $hosts[0][1] !== null
            ? "$scheme://$login$addresses[0]"
            : "$scheme:$login?" . implode('&', array_map(static fn (string $address): string => "host[$address]", $addresses));

        return self::with($dsn, $options + ($tls === null ? [] : ['ssl' => $tls]));
    }

    /**
     * @param array<mixed> $options which count more than those of the DSN
     */
    public static function with(#[\SensitiveParameter] string $dsn, #[\SensitiveParameter] array $options): string
    {
        $options = array_filter($options, static fn (mixed $value): bool => $value !== null && $value !== '' && $value !== []);
        $query = http_build_query($options, '', '&', \PHP_QUERY_RFC3986);

        return $query === '' ? $dsn : $dsn . (str_contains($dsn, '?') ? '&' : '?') . $query;
    }

    /** What may be shown. */
    public static function withoutLogin(#[\SensitiveParameter] string $dsn): string
    {
        preg_match('~^([a-z+]+:(?://)?)?(?:.*@)?([^?]*)\??(.*)$~is', $dsn, $parts);
        $shown = array_filter(
            explode('&', $parts[3]),
            static fn (string $option): bool => \in_array(
                preg_replace('/[\[=].*/s', '', rawurldecode($option)),
                self::SHOWN,
                true,
            ),
        );

        return $parts[1] . $parts[2] . ($shown === [] ? '' : '?' . implode('&', $shown));
    }

    /** A time-out that clients understand, for Latch; null: its own. */
    public static function seconds(mixed $value): ?string
    {
        return is_numeric($value) && $value >= self::SHORTEST && $value <= self::LONGEST ? (string) $value : null;
    }

    /**
     * @param array{string, int|string|null} $host
     */
    private static function address(array $host): string
    {
        [$name, $port] = $host;
        if ($port === null) {
            return str_replace('%2F', '/', rawurlencode($name)) . ':';
        }
        $name = trim($name, '[]');

        return (str_contains($name, ':') ? "[$name]" : rawurlencode($name)) . ":$port";
    }
}
