--TEST--
A destructor in a key's state may change the state
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\Key;

class Meddler
{
    public function __construct(private Key $key, private string $how)
    {
    }

    public function __destruct()
    {
        for ($i = 0; $i < 100; $i++) {
            $this->key->setState("new $i", $i);
        }
        if ($this->how === 'remove') {
            $this->key->removeState('a');
        } elseif ($this->how === 'set') {
            $this->key->setState('a', 'by the destructor');
        } elseif ($this->how === 'unserialize') {
            $this->key->__unserialize(['resource' => 'b', 'state' => ['a' => 'fresh']]);
        } elseif ($this->how === 'throw') {
            throw new Exception('from the destructor');
        }
    }
}

foreach (['nothing', 'remove', 'set', 'unserialize', 'throw'] as $how) {
    foreach ([
        'setState' => fn (Key $key) => $key->setState('a', 'new'),
        'removeState' => fn (Key $key) => $key->removeState('a'),
        '__unserialize' => fn (Key $key) => $key->__unserialize(['resource' => 'c', 'state' => []]),
    ] as $name => $call) {
        $key = new Key('resource');
        $key->setState('a', new Meddler($key, $how));
        try {
            $call($key);
        } catch (Exception $e) {
            check_same('from the destructor', $e->getMessage(), "$name, $how");
        }
        $key->setState('z', 'z');
        check_same('z', $key->getState('z'), "$name, $how: the state can be used on");
        try {
            $key->removeState('a');
        } catch (Exception $e) {
            check_same('from the destructor', $e->getMessage(), "$name, $how");
        }
        serialize($key);
        unset($key, $e);
        gc_collect_cycles();
    }
}
echo "done\n";
--EXPECT--
done
