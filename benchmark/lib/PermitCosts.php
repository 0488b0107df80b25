<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Closure;
use Predis\Client;
use RuntimeException;

/**
 * What a permit of a semaphore in a Redis server costs when nobody waits, by how many permits there are, of which
 * others hold all but one.
 *
 * Each subject has its own connection and its own semaphores; only the server is shared.
 */
final class PermitCosts
{
    /** Short, so that what else runs on the machine rarely meets only one of them. */
    private const BATCH_NS = 3_000_000;
    private const TTL = 30.0;
    /** Of the other holders: longer than the benchmark takes. */
    private const LONG_TTL = 3000.0;
    /** 0: of ten permits, and nobody else has any. */
    public const PERMITS = [0, 10, 100, 1_000, 10_000];
    public const SUBJECTS = ['latch', 'symfony', 'symfony-predis', 'c'];
    /** Those whose objects release by their destructors. */
    public const WITH_DESTRUCTOR = ['latch', 'symfony', 'symfony-predis'];

    private readonly RawProgram $program;
    private readonly RedisCounters $counters;
    /** @var list<object> the other holders' semaphores */
    private array $held = [];

    /** @param list<int> $permits of PERMITS, with 0 */
    public function __construct(private readonly RedisAddress $address, private readonly array $permits)
    {
        $this->program = new RawProgram('permits', ...$address->parts());
        $this->counters = new RedisCounters($address);
    }

    /** @return array<string, mixed> */
    public function measure(int $rounds): array
    {
        $subjects = [];
        foreach ($this->permits as $permits) {
            foreach (self::SUBJECTS as $subject) {
                $subjects["$subject $permits"] = $this->loop($subject, $permits);
            }
        }
        $requests = [];
        foreach ($this->permits as $permits) {
            foreach (['latch', 'c'] as $subject) {
                $requests["$permits permits"][$subject] = $this->counters->count($subjects["$subject $permits"]);
            }
        }
        RedisCounters::demandTheSame($requests);
        foreach (self::WITH_DESTRUCTOR as $subject) {
            $loops = new Loops($this->semaphores($subject, 10), self::TTL, self::name($subject, 'destr'));
            $subjects["$subject destructor"] = $loops->newLock();
        }
        // All in the same rounds, as they are compared in both directions.
        $costs = [];
        $subjects['c nothing'] = $this->program->row('nothing');
        foreach (Rounds::interleave($subjects, $rounds, self::BATCH_NS) as $name => $measured) {
            [$subject, $what] = explode(' ', $name);
            $costs[$what][$subject] = $measured;
        }
        $nothing = $costs['nothing']['c'];
        $destructor = $costs['destructor'];
        unset($costs['nothing'], $costs['destructor']);

        return [
            'software' => $this->software(),
            'costs_ns' => $costs,
            'destructor_ns' => $destructor,
            'nothing_ns' => $nothing,
            'requests' => $requests,
        ];
    }

    /** @return Closure(int): float */
    private function loop(string $subject, int $permits): Closure
    {
        if ($subject === 'c') {
            $pair = $this->program->row((string) $permits);
            $pair(1); // the other holders are there from now on

            return $pair;
        }
        $limit = $permits === 0 ? 10 : $permits;
        $name = self::name($subject, sprintf('%05d', $permits));
        $semaphores = $this->semaphores($subject, $limit);
        if ($subject === 'latch') {
            for ($holders = 1; $holders < $permits; ++$holders) {
                $holder = $semaphores->createLock($name, self::LONG_TTL);
                $holder->acquire() || throw new RuntimeException('A permit was refused.');
                $this->held[] = $holder;
            }
        } else {
            $this->fill($name, $permits - 1);
        }
        if ($permits > 0) {
            $last = $semaphores->createLock($name, self::TTL);
            $isThere = $last->acquire();
            $isLast = !$semaphores->createLock($name, self::TTL)->acquire();
            $isThere && $isLast || throw new RuntimeException('There are more permits, or fewer.');
            $last->release();
        }

        return (new Loops($semaphores, self::TTL, $name))->sameLock();
    }

    /** As long as the names in raw/permits.c. */
    private static function name(string $subject, string $end): string
    {
        return sprintf('%.5s-%s', $subject === 'symfony-predis' ? 'predis' : $subject, $end);
    }

    private function semaphores(string $subject, int $limit): PermitLocks
    {
        [$of, $connection] = match ($subject) {
            'latch' => [Subject::Latch, $this->address->dsn],
            'symfony' => [Subject::Symfony, $this->address->client()],
            'symfony-predis' => [Subject::Symfony, $this->predis()],
        };

        return new PermitLocks($of, $connection, $limit);
    }

    /** Holders in Symfony's layout: it would sum the weights of all for each of them. */
    private function fill(string $name, int $holders): void
    {
        $redis = $this->address->connect();
        $ends = time() + (int) self::LONG_TTL;
        for (; $holders > 0; --$holders) {
            $token = base64_encode(random_bytes(32));
            $redis->zAdd("{{$name}}:weight", 1, $token);
            $redis->zAdd("{{$name}}:time", $ends, $token);
        }
    }

    private function predis(): Client
    {
        require_once getenv('LATCH_VENDOR') . '/autoload.php';
        [$host, $port] = $this->address->parts();

        return new Client(['host' => $host, 'port' => (int) $port]);
    }

    /** @return array<string, string> */
    private function software(): array
    {
        return [
            'symfony/semaphore' => (string) getenv('LATCH_SEMAPHORE_VERSION'),
            'predis' => Client::VERSION,
        ] + $this->counters->software();
    }
}
