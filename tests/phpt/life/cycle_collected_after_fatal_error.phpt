--TEST--
A lock in a cycle survives the collector after a fatal error and is released at the request's end
--FILE--
<?php
use Latch\Key;
use Latch\Lock;

class Store implements Latch\PersistingStoreInterface
{
    public $back;

    public function save(Key $key): void {}
    public function exists(Key $key): bool { return true; }
    public function putOffExpiration(Key $key, float $ttl): void {}
    public function delete(Key $key): void { echo "delete $key\n"; }
}

register_shutdown_function(function () {
    gc_collect_cycles();
    for ($i = 0; $i < 100; $i++) { // takes the memory, if it was freed
        $filler[] = new Key("filler $i");
    }
});
(function () {
    $store = new Store();
    $store->back = new Lock(new Key('r'), $store);
    $store->back->acquire();
})();
@trigger_error('the end', E_USER_ERROR); // 8.4 deprecates it; @ hides that, and no fatal error
?>
--EXPECTF--
Fatal error: the end in %s on line %d
delete r
