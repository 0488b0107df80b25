--TEST--
Every class, made without its constructor or broken open: no method and no dump crashes, in either mode
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

/* The child: argv is the class. */
if (isset($argv[1])) {
    [, $name] = $argv;
    error_reporting(E_ALL & ~E_DEPRECATED);
    set_error_handler(fn () => true); // warnings of what makes no sense are fine
    $class = new ReflectionClass($name);
    $is_semaphore = str_contains($name, '\Semaphore\\');
    $prefix = (ini_get('latch.symfony') ? 'Symfony\Component\\' . ($is_semaphore ? '' : 'Lock\\') : 'Latch\\') . ($is_semaphore ? 'Semaphore\\' : '');
    $store_name = $prefix . 'Store\InMemoryStore';
    $key_name = $prefix . 'Key';
    $lock_name = $prefix . ($is_semaphore ? 'Semaphore' : 'Lock');

    /** A value for a parameter of that type: what fits if anything does. */
    $argument = function (?ReflectionParameter $parameter) use ($store_name, $key_name) {
        $type = (string) $parameter?->getType();
        return match (true) {
            str_ends_with($type, 'Key') => (new ReflectionClass($key_name))->newInstanceWithoutConstructor(),
            str_contains($type, 'StoreInterface') => new $store_name(),
            str_contains($type, 'callable'), str_contains($type, 'Closure') => fn () => null,
            str_contains($type, 'array') => [],
            str_contains($type, 'float') => 1.0,
            str_contains($type, 'int') => 1,
            str_contains($type, 'bool') => false,
            str_contains($type, 'string') => 'a',
            default => new stdClass(),
        };
    };

    /** Objects of the class in states that no program of good will has. */
    $make = function () use ($class, $name, $key_name, $lock_name, $store_name, $is_semaphore): Generator {
        try {
            yield $class->newInstanceWithoutConstructor();
        } catch (ReflectionException) {
            if ($name === $lock_name) { // final: only with a constructor
                yield new $name((new ReflectionClass($key_name))->newInstanceWithoutConstructor(), new $store_name());
                $broken = $is_semaphore ? new $key_name('a', 1) : new $key_name('a');
                yield $lock = new $name($broken, new $store_name());
                $lock->acquire();
                $properties = @new ArrayObject($broken); // deprecated since 8.5
                $properties["\0$key_name\0resource"] = $lock;
            } elseif (str_ends_with($name, 'LockStore')) {
                $space = str_starts_with($name, 'Latch') ? 'Latch' : 'Symfony\\Component\\Lock';
                $plain = new ("$space\\LockFactory")(new ("$space\\Store\\InMemoryStore")());
                yield new $name($plain);
                $called = new class (new ("$space\\Store\\InMemoryStore")()) extends Latch\LockFactory {
                    public function createLock(string $resource, ?float $ttl = 300.0, bool $autoRelease = true): Latch\SharedLockInterface
                    {
                        return parent::createLock($resource, $ttl, $autoRelease);
                    }
                };
                foreach ([$plain, $called] as $factory) {
                    $properties = @new ArrayObject($store = new $name($factory)); // deprecated since 8.5
                    $properties["\0$name\0lockFactory"] = 5;
                    yield $store;
                }
            } elseif (!$class->isAbstract()) { // a Lease, which keys have
                $used = new $key_name('a');
                (new $store_name())->save($used);
                yield ((array) $used)["\0$key_name\0lease"];
            }
        }
        if (!$class->isAbstract() && !$class->isFinal()) {
            // one whose constructor does not call its parent's
            $child = 'Child' . md5($name);
            if (!class_exists($child)) {
                eval("class $child extends \\$name { public function __construct() {} }");
            }
            yield new $child();
        }
        foreach ([new stdClass(), 5, null, [[]]] as $value) {
            try {
                $object = $class->newInstanceWithoutConstructor();
            } catch (ReflectionException) {
                break;
            }
            $properties = @new ArrayObject($object);
            foreach ($class->getProperties() as $property) {
                try {
                    $properties[$property->isPrivate() ? "\0$name\0{$property->name}"
                        : ($property->isProtected() ? "\0*\0{$property->name}" : $property->name)] = $value;
                } catch (Throwable) {
                }
            }
            yield $object;
        }
    };

    $dumps = [
        'var_dump' => function ($object) {
            ob_start();
            var_dump($object);
            ob_end_clean();
        },
        'print_r' => fn ($object) => print_r($object, true),
        'var_export' => fn ($object) => var_export($object, true),
        'debug_zval_refcount' => function ($object) {
            ob_start();
            debug_zval_refcount($object);
            ob_end_clean();
        },
        'serialize' => fn ($object) => serialize($object),
        'round trip' => fn ($object) => unserialize(serialize($object)),
        'array' => fn ($object) => (array) $object,
        'get_object_vars' => fn ($object) => [get_object_vars($object), get_mangled_object_vars($object)],
        'foreach' => function ($object) {
            foreach ($object as $name => $value) {
            }
        },
        'json_encode' => fn ($object) => json_encode($object),
        'reflection' => function ($object) {
            (string) new ReflectionObject($object);
            foreach ((new ReflectionObject($object))->getProperties() as $property) {
                $property->isInitialized($object) && $property->getValue($object);
            }
        },
        'clone' => fn ($object) => clone $object,
        'compare' => fn ($object) => [$object == $object, $object == new stdClass(), $object < $object],
        'string' => fn ($object) => (string) $object,
        'bool' => fn ($object) => (bool) $object,
        'hash' => fn ($object) => [spl_object_id($object), new WeakMap(), WeakReference::create($object)->get()],
        'walk' => fn ($object) => array_walk($object, function (&$value) {}),
        'dynamic' => function ($object) {
            $object->dynamic = 1;
        },
        'unset' => function ($object) {
            unset($object->dynamic);
        },
        'collect' => fn () => gc_collect_cycles(),
    ];

    $tried = 0;
    $try = function (callable $call) use (&$tried) {
        $tried++;
        try {
            $call();
        } catch (Throwable) {
        }
    };
    foreach ($make() as $object) {
        foreach ($dumps as $dump) {
            $try(fn () => $dump($object));
        }
    }
    foreach ($class->getMethods() as $method) {
        if ($method->isAbstract() || !$method->isPublic()) {
            continue;
        }
        $arguments = array_map($argument, $method->getParameters());
        foreach ($make() as $object) {
            foreach ([$arguments, array_slice($arguments, 0, $method->getNumberOfRequiredParameters()), []] as $some) {
                $try(fn () => $method->invokeArgs($method->isStatic() ? null : $object, $some));
                foreach ($dumps as $dump) {
                    $try(fn () => $dump($object));
                }
            }
            unset($object);
        }
    }
    // Throwables, too, end quietly.
    try {
        unset($object);
    } catch (Throwable) {
    }
    gc_collect_cycles();
    echo $tried > 15 ? 'lived' : "tried $tried only";
    exit;
}

foreach ([0, 1] as $symfony) {
    $prefix = $symfony ? 'Symfony\Component\\' : 'Latch\\';
    $php = php_command('-d', "latch.symfony=$symfony", '-d', "latch.symfony_semaphore=$symfony");
    $list = [...$php, '-r',
        'foreach ([...get_declared_classes(), ...get_declared_interfaces()] as $c) {
            if (str_starts_with((new ReflectionClass($c))->name, $argv[1]) && str_starts_with($c, $argv[1])) echo $c, "\n";
        }', '--', $prefix];
    $classes = [];
    $process = proc_open($list, [1 => ['pipe', 'w']], $pipes);
    foreach (explode("\n", trim(stream_get_contents($pipes[1]))) as $class) {
        $classes[] = $class;
    }
    proc_close($process);
    check(count($classes) > 20, "$prefix has its classes: " . count($classes));
    foreach ($classes as $class) {
        if (!class_exists(str_replace([$prefix . 'Lock\\', $prefix], 'Latch\\', $class))) {
            continue; // an interface
        }
        $command = [...$php, __FILE__, $class];
        $process = proc_open($command, [1 => ['pipe', 'w'], 2 => ['pipe', 'w']], $pipes);
        $said = stream_get_contents($pipes[1]) . stream_get_contents($pipes[2]);
        $status = proc_close($process);
        check($status === 0 && $said === 'lived', "$class, latch.symfony=$symfony: status $status, $said");
    }
}
echo "done\n";
--EXPECT--
done
