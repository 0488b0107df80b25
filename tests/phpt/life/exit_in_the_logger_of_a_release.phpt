--TEST--
exit() in the logger of a release is the end, also when synchronized()'s callback threw before
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';

use Latch\{Key, Lock};
use Latch\Store\{FlockStore, InMemoryStore};

class Witness extends DomainException
{
    public function __destruct()
    {
        echo "  what the callback threw is gone\n";
    }
}

$directory = temporary_directory();
foreach (['flock' => new FlockStore($directory), 'memory' => new InMemoryStore(), 'PHP' => new RecordingStore($directory)] as $name => $store) {
    foreach (['throws', 'throws an object with a destructor', 'exits', 'returns'] as $end) {
        echo "$name, the callback $end\n";
        $child = fork(function (ParentLine $parent) use ($store, $end) {
            ini_set('display_errors', '1');
            ini_set('html_errors', '0');
            error_reporting(-1);
            $logger = new Logger();
            $logger->on_line = function (string $level, string $message) {
                if (str_starts_with($message, 'Successfully released')) {
                    exit(7);
                }
            };
            $lock = new Lock(new Key('a'), $store);
            $lock->setLogger($logger);
            $lock->synchronized(fn () => match ($end) {
                'throws' => throw new DomainException('mine'),
                'throws an object with a destructor' => throw new Witness('mine'),
                'exits' => exit(8),
                'returns' => 1,
            });
            echo "  BROKEN: it went on\n";
        });
        $ending = $child->ending();
        echo "  $ending\n";
        check((new Lock(new Key('a'), $store))->acquire(), "$name, $end: free");
    }
}
echo "done\n";
--EXPECT--
flock, the callback throws
  exit 7
flock, the callback throws an object with a destructor
  what the callback threw is gone
  exit 7
flock, the callback exits
  exit 7
flock, the callback returns
  exit 7
memory, the callback throws
  exit 7
memory, the callback throws an object with a destructor
  what the callback threw is gone
  exit 7
memory, the callback exits
  exit 7
memory, the callback returns
  exit 7
PHP, the callback throws
  exit 7
PHP, the callback throws an object with a destructor
  what the callback threw is gone
  exit 7
PHP, the callback exits
  exit 7
PHP, the callback returns
  exit 7
done
