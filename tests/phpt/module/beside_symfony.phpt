--TEST--
Off, Symfony's own package is untouched: its classes can be declared and used beside ours
--FILE--
<?php
/* What Composer would load from vendor. */
eval('namespace Symfony\Component\Lock;
interface PersistingStoreInterface { public function save(Key $key): void; }
final class Key { private ?float $expiringTime = null; private array $state = []; public function __construct(private string $resource) { }
    public function __serialize(): array { return ["resource" => $this->resource, "expiringTime" => 5.5, "state" => ["a" => "t"]]; } }
final class Lock { }');
eval('namespace Psr\Log; interface LoggerAwareInterface { public function setLogger(LoggerInterface $logger): void; }');
$symfony = new Symfony\Component\Lock\Key('r');
var_dump($symfony instanceof Latch\Key);
/* A payload of theirs is read where it is said to be ours. */
$key = unserialize(str_replace('O:26:"Symfony\Component\Lock\Key"', 'O:9:"Latch\Key"', serialize($symfony)));
var_dump((string) $key, $key->getState('a'));
--EXPECT--
bool(false)
string(1) "r"
string(1) "t"
