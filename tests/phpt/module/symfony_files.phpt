--TEST--
Drop-in mode: a file is compiled without its declarations of Latch's classes; all else in it is as ever
--INI--
latch.symfony=1
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_files.inc';

const KEY = 'namespace Symfony\Component\Lock; final class Key { public const THEIRS = true; }';

$directory = temporary_directory();

/** Includes a file with that code; returns what it returns. */
function included(string $code): mixed
{
    static $number = 0;
    global $directory;
    return include php_file($directory, ++$number . '/Key.php', $code);
}

function is_latchs(string $class): bool
{
    return (new ReflectionClass($class))->getExtensionName() === 'latch';
}

/* Every class of Latch's that has a name of Symfony's or psr/log's. */
$names = array_filter([...get_declared_interfaces(), ...get_declared_classes()],
    fn ($name) => preg_match('/^(Symfony|Psr)\\\\/', $name) === 1 && is_latchs($name));
check(count($names) > 30, 'there are classes to try');
foreach ($names as $name) {
    preg_match('/^(.*)\\\\(\w+)$/', $name, $match);
    $kind = interface_exists($name, false) ? 'interface' : 'class';
    check_same(1, included("namespace $match[1]; use Psr\\Log\\LoggerInterface; $kind $match[2] {}"), "including $name");
}

/* As PHP keeps its books. */
$file = php_file($directory, 'LoggerAwareInterface.php', '
declare(strict_types=1);
namespace Psr\Log;
/** Describes a logger-aware instance. */
interface LoggerAwareInterface { public function setLogger(LoggerInterface $logger): void; }');
check_same([1, true], [include_once $file, include_once $file], 'include_once, twice');
check_same([1, 1], [include $file, require $file], 'include and require, once more');
check(in_array($file, get_included_files(), true), 'it is a file that was included');

/* Ways to write it. */
included('NAMESPACE symfony\COMPONENT\lock; FINAL CLASS key {}');
included('namespace Symfony\Component\Lock { final class Key {} } namespace Symfony\Component\Lock { interface LockInterface {} }');
included('namespace Nothing; namespace Symfony\Component\Lock; final class Key {} { class Lock {} }');
included('namespace { } namespace Symfony\Component\Lock { #[\Attribute] abstract class Key extends \NoSuchClass implements \NoSuchInterface {} }');
included('namespace Symfony\Component\Lock; use Psr\Log\{LoggerAwareInterface, LoggerAwareTrait}; class LockFactory implements LoggerAwareInterface { use LoggerAwareTrait; }');
included(KEY . ' __halt_compiler(); no PHP');
check(is_latchs('Symfony\Component\Lock\Key') && !defined('Symfony\Component\Lock\Key::THEIRS'), 'the class stays Latch\'s');

/* Other declarations and other code in the same file. */
check_same('value', included(KEY . ' function helper() { return new Key("a"); } const ANSWER = 42; return "value";'), 'its value');
check_same('a', (string) Symfony\Component\Lock\helper(), 'its function');
check_same(42, Symfony\Component\Lock\ANSWER, 'its constant');
included('namespace App { interface Store extends \Symfony\Component\Lock\PersistingStoreInterface {} class Key {} }
    ' . preg_replace('/;(.*)/', '{$1}', KEY, 1));
check(interface_exists('App\Store', false) && class_exists('App\Key', false), 'others are declared');
check(!is_latchs('App\Key'), 'a class of the same short name is another one');
included('namespace Symfony\Component\Lock; class KeyNormalizer {} trait Locks {} enum State { case On; }');
check(!is_latchs('Symfony\Component\Lock\KeyNormalizer'), 'one that Latch does not have is declared');
check(trait_exists('Symfony\Component\Lock\Locks', false) && enum_exists('Symfony\Component\Lock\State', false), 'of any kind');
check_same('early', included('namespace Symfony\Component\Lock; if (\class_exists(Key::class, false)) { return "early"; } class Key {}'), 'a guard');
check_same(1, included('namespace Symfony\Component\Lock; if (!\class_exists(Key::class)) { class Key {} }'), 'another guard');

/* Where files come from does not matter. */
class Memory
{
    public $context;
    private string $rest = '<?php ' . KEY . ' return "from memory";';
    public function stream_open() { return true; }
    public function stream_read($count) { [$part, $this->rest] = [$this->rest, '']; return $part; }
    public function stream_eof() { return $this->rest === ''; }
    public function stream_stat() { return []; }
    public function stream_set_option() { return false; }
}
stream_wrapper_register('memory', Memory::class);
check_same('from memory', include 'memory://Key.php', 'a stream');

/* PHP's own errors. */
check_same('ParseError: syntax error, unexpected token "function", expecting "{"',
    outcome(fn () => included('namespace Symfony\Component\Lock; final class Key function')), 'a syntax error');
$own = 'declare class Symfony\Component\Lock\Key'; // from 8.4 on: "Cannot redeclare"
foreach ([
    'in a condition' => ['namespace Symfony\Component\Lock; if (true) { class Key {} }', $own],
    'in a function' => ['namespace Symfony\Component\Lock; function f() { class Key {} } f();', $own],
    'by eval()' => ['eval("namespace Symfony\Component\Lock; class Key {}");', $own],
    'of an alias' => ['namespace Latch; class Key {}', 'declare class '], // 8.4 has the class's own name
    'of PHP\'s own' => ['class ArrayObject {}', 'declare class ArrayObject'],
] as $case => [$code, $error]) {
    $said = run_script(true, php_file($directory, 'error.php', $code));
    check(str_contains($said, $error), "$case, PHP's own error, not: $said");
}
check_same('theirs', run_script(true, php_file($directory, 'main.php', KEY . ' echo "theirs";')), 'the main script');
check_same('theirs', run_script(false, php_file($directory, 'main.php', KEY . ' echo Key::THEIRS ? "theirs" : "";')), 'without Latch');
check_same('theirs', run_script(true, php_file($directory, 'main.php', KEY . ' echo Key::THEIRS ? "theirs" : "";'),
    '-d', 'latch.symfony=0'), 'without drop-in mode');
echo "done\n";
--EXPECT--
done
