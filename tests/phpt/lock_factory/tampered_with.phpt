--TEST--
What ArrayObject and array_walk() put into a factory's properties is a clear error, and no crash
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';

use Latch\LockFactory;
use Latch\Store\InMemoryStore;

function tampered(string $property, mixed $value): LockFactory
{
    $factory = new LockFactory(new InMemoryStore());
    $properties = @new ArrayObject($factory); // deprecated since 8.5
    $properties[$property] = $value;
    return $factory;
}

class NoLogger
{
    private static function debug(): void
    {
        echo "BROKEN: called\n";
    }
}

const STORE = "\0Latch\\LockFactory\0store";
const LOGGER = "\0*\0logger";
foreach ([[STORE, new stdClass()], [STORE, new LockFactory(new InMemoryStore())], [STORE, 5], [STORE, null],
    [LOGGER, new stdClass()], [LOGGER, new NoLogger()], [LOGGER, 'x']] as [$property, $value]) {
    $factory = tampered($property, $value);
    echo outcome(fn () => $factory->createLock('a')->acquire()), "\n";
    echo outcome(fn () => $factory->createLockFromKey(new Latch\Key('a'))->acquire()), "\n";
    print_r($factory, true);

    /* It can be mended by its own methods. */
    $property === STORE ? $factory->__construct(new InMemoryStore()) : $factory->setLogger(new Logger());
    check($factory->createLock('a')->acquire(), 'mended');
}
$factory = tampered(STORE, 5);
$properties = @new ArrayObject($factory);
unset($properties[STORE], $properties[LOGGER]);
echo outcome(fn () => $factory->createLock('a')), "\n";
$factory->__construct(new InMemoryStore());
check($factory->createLock('a')->acquire(), 'no logger is none');

/* References in the place of the properties. */
$factory = new LockFactory(new InMemoryStore());
$factory->setLogger(new Logger());
array_walk($factory, function (&$value) {});
check($factory->createLock('a')->acquire(), 'walked');
$factory->__construct(new InMemoryStore());
$factory->setLogger(new Logger());
check($factory->createLock('a')->acquire(), 'and constructed anew');
echo "done\n";
--EXPECT--
TypeError: Latch\LockFactory::$store must be of type Latch\PersistingStoreInterface, stdClass found: something has overwritten it
TypeError: Latch\LockFactory::$store must be of type Latch\PersistingStoreInterface, stdClass found: something has overwritten it
TypeError: Latch\LockFactory::$store must be of type Latch\PersistingStoreInterface, Latch\LockFactory found: something has overwritten it
TypeError: Latch\LockFactory::$store must be of type Latch\PersistingStoreInterface, Latch\LockFactory found: something has overwritten it
TypeError: Latch\LockFactory::$store must be of type Latch\PersistingStoreInterface, int found: something has overwritten it
TypeError: Latch\LockFactory::$store must be of type Latch\PersistingStoreInterface, int found: something has overwritten it
TypeError: Latch\LockFactory::$store must be of type Latch\PersistingStoreInterface, null found: something has overwritten it
TypeError: Latch\LockFactory::$store must be of type Latch\PersistingStoreInterface, null found: something has overwritten it
TypeError: Latch\LockFactory::$logger must be of type ?Psr\Log\LoggerInterface, stdClass found: something has overwritten it
TypeError: Latch\LockFactory::$logger must be of type ?Psr\Log\LoggerInterface, stdClass found: something has overwritten it
TypeError: Latch\LockFactory::$logger must be of type ?Psr\Log\LoggerInterface, NoLogger found: something has overwritten it
TypeError: Latch\LockFactory::$logger must be of type ?Psr\Log\LoggerInterface, NoLogger found: something has overwritten it
TypeError: Latch\LockFactory::$logger must be of type ?Psr\Log\LoggerInterface, string found: something has overwritten it
TypeError: Latch\LockFactory::$logger must be of type ?Psr\Log\LoggerInterface, string found: something has overwritten it
Error: Typed property Latch\LockFactory::$store must not be accessed before initialization
done
