--TEST--
A password is shown nowhere: not in exceptions and their traces, dumps, logs and warnings, however wrong the DSN is
--INI--
zend.exception_ignore_args=0
zend.exception_string_param_max_len=100000
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';
require __DIR__ . '/../../utils/phpt_secrets.inc';

use Latch\{Key, Lock};
use Latch\Store\{DoctrineDbalMysqlStore, DoctrineDbalPostgreSqlStore, MysqlStore, PostgreSqlStore, RedisStore, StoreFactory};

$seed = (int) (getenv('LATCH_TEST_SEED') ?: 20261123);
$warnings = [];
set_error_handler(function (int $level, string $message) use (&$warnings): bool {
    $warnings[] = $message;
    return true;
});

/* What the store is dumped as, wherever that works. */
function dumped(object $object): string
{
    ob_start();
    var_dump($object, (array) $object);
    print_r($object);
    echo var_export((array) $object, true), json_encode($object, JSON_PARTIAL_OUTPUT_ON_ERROR);
    debug_zval_dump($object);
    try {
        echo serialize($object);
    } catch (Exception $e) {
        echo $e;
    }
    return ob_get_clean();
}

$makers = [
    fn () => StoreFactory::createStore($GLOBALS['dsn']),
    fn () => new RedisStore($GLOBALS['dsn']),
    fn () => new PostgreSqlStore($GLOBALS['dsn']),
    fn () => new MysqlStore($GLOBALS['dsn']),
    fn () => new PostgreSqlStore($GLOBALS['dsn'], ['password' => SECRET, 'nonsense' => '1']),
    fn () => new MysqlStore($GLOBALS['dsn'], ['password' => SECRET, 'nonsense' => '1']),
    fn () => new DoctrineDbalPostgreSqlStore($GLOBALS['dsn']),
    fn () => new DoctrineDbalMysqlStore($GLOBALS['dsn']),
    fn () => new StoreFactory($GLOBALS['dsn']),
    fn () => StoreFactory::createStore($GLOBALS['dsn'], []),
];
$made = $refused = 0;
foreach ([...dsns_with_secret(), ...dsns_by_mistake(), ...dsns_mutated(getenv('LATCH_VALGRIND') ? 50 : 1500, $seed)] as $number => $dsn) {
    foreach ($makers as $maker => $make) {
        try {
            $said = dumped($make());
            $made++;
        } catch (Throwable $e) {
            $said = $e . print_r($e->getTrace(), true);
            $refused++;
        }
        check(!has_secret($said), "LATCH_TEST_SEED=$seed: DSN $number, maker $maker: " . addcslashes($dsn, "\0..\37\177..\377") . ": $said");
    }
}
check($made > 100 && $refused > 3000, "$made stores, $refused refused");

/* The servers are not there. */
foreach (dsns_with_secret() as $number => $dsn) {
    $logger = new Logger();
    $lock = new Lock(new Key('r'), StoreFactory::createStore($dsn), 3.0);
    $lock->setLogger($logger);
    $said = '';
    foreach (['acquire', 'acquireRead', 'isAcquired', 'release'] as $method) {
        try {
            $lock->$method();
        } catch (Throwable $e) {
            $said .= $e . print_r($e->getTrace(), true);
        }
    }
    check($said !== '', "DSN $number: no server");
    $said .= print_r($logger, true) . dumped($lock);
    check(!has_secret($said), "DSN $number: $dsn: $said");
}
ob_start();
phpinfo();
check(!has_secret(preg_replace('/^(\$_|LATCH_|argv).*$/m', '', ob_get_clean())), 'phpinfo()');
check(!has_secret(implode("\n", $warnings)), 'warnings: ' . implode("\n", $warnings));
echo "done\n";
--EXPECT--
done
