--TEST--
No mutation of a serialised key crashes, or ends in anything but Latch's exceptions
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\InMemoryStore;

$seed = (int) (getenv('LATCH_TEST_SEED') ?: 20260101);
mt_srand($seed);
$store = new InMemoryStore();

$rich = new Key("res\0ource");
$rich->setState('Symfony\Component\Lock\Store\InMemoryStore', 'token');
$rich->setState('nested', ['a' => ['b' => 1.5, 3 => null, 'c' => true]]);
$rich->reduceLifetime(100);
$corpus = [
    serialize(new Key('a')),
    serialize($rich),
    "O:9:\"Latch\\Key\":3:{s:36:\"\0Symfony\\Component\\Lock\\Key\0resource\";s:1:\"r\";"
        . "s:40:\"\0Symfony\\Component\\Lock\\Key\0expiringTime\";d:4102444800.5;"
        . "s:33:\"\0Symfony\\Component\\Lock\\Key\0state\";a:1:{s:1:\"a\";s:1:\"t\";}}",
    serialize([$rich, $rich, 'x' => new Key('b')]),
];
$pieces = ['N;', 'i:0;', 'i:-1;', 'd:NAN;', 'd:1e999;', 'b:1;', 's:0:"";', 'a:0:{}', 'r:1;', 'R:1;', 'R:2;',
    'O:8:"stdClass":0:{}', 'O:9:"Latch\Key":1:{s:8:"resource";s:1:"z";}', '{', '}', '"', ';', ':', "\0",
    'resource', 'expiringTime', 'state', 'lease', 'serializable', '9999999999', '-5', 'O:11:"Latch\Lease":0:{}',
    'O:10:"Latch\Lock":0:{}', 'C:9:"Latch\Key":0:{}'];

function mutate(string $payload, array $pieces): string
{
    for ($times = max(1, mt_rand(-2, 3)); $times > 0; $times--) {
        $at = mt_rand(0, max(0, strlen($payload) - 1));
        $piece = $pieces[mt_rand(0, count($pieces) - 1)];
        $payload = match ([0, 1, 2, 3, 4, 5, 5, 5, 5, 5, 6][mt_rand(0, 10)]) {
            0 => substr_replace($payload, chr(mt_rand(0, 255)), $at, 1),
            1 => substr_replace($payload, '', $at, mt_rand(1, 8)),
            2 => substr_replace($payload, $piece, $at, 0),
            3 => substr_replace($payload, $piece, $at, strlen($piece)),
            4 => substr($payload, 0, $at),
            // a value for another value, with the structure kept
            5 => preg_replace_callback('/(?<=;)(?:N;|[ibd]:[^;]*;|s:\d+:"[^"]*";|a:0:{})/',
                fn ($match) => mt_rand(0, 2) === 0 ? $piece : $match[0], $payload) ?? $payload,
            6 => preg_replace_callback('/\d+/', fn ($match) => mt_rand(0, 3) === 0
                ? (string) ((int) $match[0] + mt_rand(-2, 2)) : $match[0], $payload) ?? $payload,
        };
    }
    return $payload;
}

function exercise(mixed $value, InMemoryStore $store): void
{
    foreach (is_array($value) ? $value : [$value] as $key) {
        if (!$key instanceof Key) {
            continue;
        }
        (string) $key;
        $key->isExpired();
        $key->getRemainingLifetime();
        $key->hasState('a');
        @$key->getState('Symfony\Component\Lock\Store\InMemoryStore');
        print_r($key, true);
        $copy = clone $key;
        $copy->setState('b', 1);
        $copy->removeState('a');
        $lock = new Lock($key, $store, 10);
        $lock->acquire();
        $lock->isAcquired();
        $lock->release();
        serialize($key);
    }
}

$seen = 0;
for ($round = 0; $round < 3000; $round++) {
    $payload = mutate($corpus[mt_rand(0, count($corpus) - 1)], $pieces);
    try {
        $value = @unserialize($payload, ['allowed_classes' => [Key::class, stdClass::class, 'Latch\Lease', 'Latch\Lock']]);
        $seen += $value !== false;
        exercise($value, $store);
    } catch (Latch\Exception\ExceptionInterface | BadMethodCallException) {
    } catch (Error $e) {
        // PHP's own "C:" makes an object without calling anything
        check(str_starts_with($e->getMessage(), 'Typed property Latch\Key::$resource') && str_contains($payload, 'C:9:'),
            get_class($e) . ': ' . $e->getMessage() . " for seed $seed, round $round: "
            . addcslashes($payload, "\0..\37\177..\377"));
    } catch (Exception $e) {
        // unserialize()'s own refusal of a class that is not serialisable
        check(str_contains($e->getMessage(), "Unserialization of 'Latch\\"), get_class($e) . ': ' . $e->getMessage()
            . " for seed $seed, round $round: " . addcslashes($payload, "\0..\37\177..\377"));
    }
    unset($value);
}
check($seen > 200, "enough of the mutants are valid: $seen");
gc_collect_cycles();
echo "done\n";
--EXPECT--
done
