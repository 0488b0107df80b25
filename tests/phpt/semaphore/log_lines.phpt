--TEST--
A semaphore logs Symfony's lines, makes Symfony's calls and throws Symfony's exceptions
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_semaphore.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';

use Latch\Semaphore\{Key, Semaphore};
use Latch\Semaphore\Exception\{SemaphoreAcquiringException, SemaphoreExpiredException, SemaphoreReleasingException};
use Latch\Semaphore\Store\InMemoryStore;

$recording = new RecordingPermitStore(temporary_directory());
foreach (['in memory' => new InMemoryStore(), 'PHP' => $recording] as $name => $store) {
    echo "$name\n";
    $logger = new Logger();
    $say = function (string $what) use ($logger, $recording, $name) {
        echo "  $what", $name === 'PHP' ? ': ' . implode(', ', $recording->take()) : '', "\n";
        foreach ($logger->take() as $line) {
            echo "    $line\n";
        }
    };
    $other = new Semaphore(new Key('r', 1), $store);
    $semaphore = new Semaphore($key = new Key('r', 1), $store, 60);
    $semaphore->setLogger($logger);
    $semaphore->acquire();
    $say('acquire');
    check($semaphore->isHeld() && ($name === 'in memory' || abs($key->getRemainingLifetime() - 60) < 5), "$name: held");
    $semaphore->refresh();
    $semaphore->refresh(5);
    $say('refresh, refresh(5)');
    check($name === 'in memory' || abs($key->getRemainingLifetime() - 5) < 2, "$name: renewed");
    $semaphore->isAcquired();
    $semaphore->isHeld();
    $semaphore->isExpired();
    $semaphore->getRemainingLifetime();
    $say('questions');
    $semaphore->release();
    $say('release');
    echo '  ', outcome(fn () => $semaphore->refresh()), "\n";
    $say('refresh of nothing');
    $other->acquire();
    $recording->take();
    $semaphore->acquire();
    $say('conflict');
    $semaphore->acquire(true, 0.001);
    $logger->take();
    $recording->take();
    $other->release();
    $recording->take();
    $semaphore->acquire();
    unset($semaphore);
    $say('acquire and destructor');
}

/* What a store written in PHP throws. */
foreach ([
    'acquire' => [fn ($key) => new Exception('broken'), fn ($key) => new SemaphoreExpiredException($key, 'gone'), fn ($key) => new SemaphoreAcquiringException($key, 'full')],
    'refresh' => [fn ($key) => new Exception('broken'), fn ($key) => new SemaphoreAcquiringException($key, 'full'), fn ($key) => new SemaphoreExpiredException($key, 'gone')],
    'release' => [fn ($key) => new Exception('broken'), fn ($key) => new SemaphoreReleasingException($key, 'stuck')],
    'isAcquired' => [fn ($key) => new Exception('broken')],
] as $method => $exceptions) {
    foreach ($exceptions as $exception) {
        $semaphore = new Semaphore($key = new Key('f', 1), $recording, 60);
        if ($method !== 'acquire') {
            $semaphore->acquire();
        }
        $semaphore->setLogger($logger);
        $recording->before = fn () => throw $exception($key);
        try {
            $outcome = var_export($semaphore->$method(), true);
        } catch (Exception $e) {
            for ($outcome = [], $thrown = $e; $thrown !== null; $thrown = $thrown->getPrevious()) {
                $outcome[] = get_class($thrown) . ': ' . $thrown->getMessage();
            }
            $outcome = implode(' <- ', $outcome);
        }
        $recording->before = null;
        echo "$method: $outcome\n";
        foreach ($logger->take() as $line) {
            echo "  $line\n";
        }
        $semaphore->release();
        $logger->take();
    }
}
check_same(0, $recording->held(), 'permits that are left');

/* Exceptions as PHP code makes them. */
$previous = new Exception('before');
$e = new SemaphoreReleasingException(new Key("r\0", 1), "re\0ason", $previous);
check($e->getMessage() === "The semaphore \"r\0\" could not be released: re\0ason." && $e->getPrevious() === $previous, 'an exception');
echo outcome(fn () => new SemaphoreExpiredException('r', 'x')), "\n";
--EXPECT--
in memory
  acquire
    debug: Successfully acquired the "<r>" semaphore.
  refresh, refresh(5)
    debug: Expiration defined for "<r>" semaphore for "{ttlInSecond}" seconds. [ttlInSecond=60.0]
    debug: Expiration defined for "<r>" semaphore for "{ttlInSecond}" seconds. [ttlInSecond=5.0]
  questions
  release
  Latch\Semaphore\Exception\SemaphoreExpiredException: The semaphore "r" has expired: the script returns a positive number.
  refresh of nothing
    notice: Failed to define an expiration for the "<r>" semaphore, the semaphore has expired.
  conflict
    notice: Failed to acquire the "<r>" semaphore. Someone else already acquired the semaphore.
  acquire and destructor
    debug: Successfully acquired the "<r>" semaphore.
PHP
  acquire: save(60)
    debug: Successfully acquired the "<r>" semaphore.
  refresh, refresh(5): putOffExpiration(60), putOffExpiration(5)
    debug: Expiration defined for "<r>" semaphore for "{ttlInSecond}" seconds. [ttlInSecond=60.0]
    debug: Expiration defined for "<r>" semaphore for "{ttlInSecond}" seconds. [ttlInSecond=5.0]
  questions: exists
  release: delete
  Latch\Semaphore\Exception\SemaphoreExpiredException: The semaphore "r" has expired: it is not there.
  refresh of nothing: putOffExpiration(60)
    notice: Failed to define an expiration for the "<r>" semaphore, the semaphore has expired.
  conflict: save(60)
    notice: Failed to acquire the "<r>" semaphore. Someone else already acquired the semaphore.
  acquire and destructor: save(60), exists, delete
    debug: Successfully acquired the "<r>" semaphore.
acquire: Latch\Semaphore\Exception\RuntimeException: Failed to acquire the "f" semaphore. <- Exception: broken
  notice: Failed to acquire the "<f>" semaphore. [exception=Exception]
acquire: Latch\Semaphore\Exception\RuntimeException: Failed to acquire the "f" semaphore. <- Latch\Semaphore\Exception\SemaphoreExpiredException: The semaphore "f" has expired: gone.
  notice: Failed to acquire the "<f>" semaphore. [exception=Latch\Semaphore\Exception\SemaphoreExpiredException]
acquire: false
  notice: Failed to acquire the "<f>" semaphore. Someone else already acquired the semaphore.
refresh: Latch\Semaphore\Exception\RuntimeException: Failed to define an expiration for the "f" semaphore. <- Exception: broken
  notice: Failed to define an expiration for the "<f>" semaphore. [exception=Exception]
refresh: Latch\Semaphore\Exception\RuntimeException: Failed to define an expiration for the "f" semaphore. <- Latch\Semaphore\Exception\SemaphoreAcquiringException: The semaphore "f" could not be acquired: full.
  notice: Failed to define an expiration for the "<f>" semaphore. [exception=Latch\Semaphore\Exception\SemaphoreAcquiringException]
refresh: Latch\Semaphore\Exception\SemaphoreExpiredException: The semaphore "f" has expired: gone.
  notice: Failed to define an expiration for the "<f>" semaphore, the semaphore has expired.
release: Latch\Semaphore\Exception\RuntimeException: Failed to release the "f" semaphore. <- Exception: broken
  notice: Failed to release the "<f>" semaphore.
release: Latch\Semaphore\Exception\SemaphoreReleasingException: The semaphore "f" could not be released: stuck.
isAcquired: Exception: broken
TypeError: Latch\Semaphore\Exception\SemaphoreExpiredException::__construct(): Argument #1 ($key) must be of type Latch\Semaphore\Key, string given
