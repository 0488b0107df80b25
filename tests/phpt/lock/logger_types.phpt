--TEST--
setLogger() takes PSR-3 loggers alone, also where psr/log is not loaded
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock, LockFactory};
use Latch\Store\InMemoryStore;

$lock = new Lock(new Key('a'), new InMemoryStore());
$factory = new LockFactory(new InMemoryStore());
echo "without psr/log\n";
foreach ([new stdClass(), null, 'text'] as $logger) {
    echo outcome(fn () => $lock->setLogger($logger)), "\n";
    echo outcome(fn () => $factory->setLogger($logger)), "\n";
}
check($lock->acquire(), 'works without');

echo "with an autoloader that throws\n";
spl_autoload_register($autoloader = function (string $class) {
    throw new RuntimeException("autoload $class");
});
echo outcome(fn () => $lock->setLogger(new stdClass())), "\n";
spl_autoload_unregister($autoloader);

echo "with psr/log\n";
require __DIR__ . '/../../utils/phpt_logger.inc';
echo outcome(fn () => $lock->setLogger(new stdClass())), "\n";
echo outcome(fn () => $lock->setLogger(new Logger())), "\n";
echo outcome(fn () => $factory->setLogger(new stdClass())), "\n";
echo outcome(fn () => $factory->setLogger(new Logger())), "\n";
--EXPECT--
without psr/log
TypeError: Latch\Lock::setLogger(): Argument #1 ($logger) must be of type Psr\Log\LoggerInterface, stdClass given
TypeError: Latch\LockFactory::setLogger(): Argument #1 ($logger) must be of type Psr\Log\LoggerInterface, stdClass given
TypeError: Latch\Lock::setLogger(): Argument #1 ($logger) must be of type object, null given
TypeError: Latch\LockFactory::setLogger(): Argument #1 ($logger) must be of type object, null given
TypeError: Latch\Lock::setLogger(): Argument #1 ($logger) must be of type object, string given
TypeError: Latch\LockFactory::setLogger(): Argument #1 ($logger) must be of type object, string given
with an autoloader that throws
RuntimeException: autoload Psr\Log\LoggerInterface
with psr/log
TypeError: Latch\Lock::setLogger(): Argument #1 ($logger) must be of type Psr\Log\LoggerInterface, stdClass given
NULL
TypeError: Latch\LockFactory::setLogger(): Argument #1 ($logger) must be of type Psr\Log\LoggerInterface, stdClass given
NULL
