--TEST--
Latch\Version: numbers of any length, dates and texts; each form of a number is the same version
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sync.inc';

use Latch\Tests\RedisServer;

$server = new RedisServer();
foreach (sync_factories($server) as $name => $factory) {
    $version = $factory->createVersion('user-7');
    check_same(null, $version->get(), "$name: none is known");
    check_same(false, $version->isOutdated(1), "$name: nothing is outdated then");
    check_same(true, $version->advance(120), "$name: the first one");
    check_same(false, $version->advance(120), "$name: the same one is not newer");
    foreach (['120', '+120', '000120'] as $same) {
        check_same(false, $version->advance($same), "$name: $same is the same one");
        check_same(true, $version->advance($same, true), "$name: $same passes where that is wanted");
        check_same('120', $version->get(), "$name: numbers have one form");
    }
    check_same(true, $factory->createVersion('user-7')->isOutdated('0119'), "$name: 119 is outdated");
    check_same(true, $version->advance('9007199254740993') && !$version->advance('9007199254740992'), "$name: beyond 2^53");
    check_same(true, $version->advance(PHP_INT_MAX) && $version->advance('9223372036854775808'), "$name: beyond 2^63");
    check_same(true, $version->isOutdated(PHP_INT_MIN), "$name: negative numbers");
    check_same(true, $version->advance(str_repeat('9', 4096)), "$name: the longest");
    check_same(true, $version->revert(str_repeat('9', 4096)), "$name: is taken back");
    check_same(false, $version->revert('1'), "$name: another is not");
    check_same('9223372036854775808', $version->get(), "$name: the one before it is the newest again");

    $zero = $factory->createVersion('zero');
    check_same([true, false, '0'], [$zero->advance('-000'), $zero->advance(0), $zero->get()], "$name: there is no -0");

    $date = $factory->createVersion('dates');
    $time = new DateTimeImmutable('2024-05-06 07:08:09.000001 UTC');
    check_same(true, $date->advance($time), "$name: a date");
    check_same('1714979289000001', $date->get(), "$name: is its microseconds");
    check_same(false, $date->advance($time->setTimezone(new DateTimeZone('Asia/Tokyo'))), "$name: whatever its zone");
    check_same(true, $date->advance(new DateTime('2024-05-06 07:08:09.000002 UTC')), "$name: a microsecond later");
    check_same(true, $date->isOutdated(new DateTime('1969-12-31 23:59:59.5 UTC')), "$name: before 1970");
    $old = $factory->createVersion('old dates');
    check_same([true, '-500000'], [$old->advance(new DateTime('1969-12-31 23:59:59.5 UTC')), $old->get()], "$name: half a second before 1970");

    $text = $factory->createVersion('texts');
    check($text->advance("2024-01-31T10:00:00Z") && $text->advance("2024-02-01T09:00:00Z") && !$text->advance('2024-01-31'), "$name: texts");
    check_same(true, $text->advance("z\0a") && $text->advance("z\0b"), "$name: any bytes");
    check_same("z\0b", $text->get(), "$name: come back");
}
check_same(0, count(array_filter($server->command('KEYS', '*'), fn (string $key) => $server->command('PTTL', $key) < 1)), 'all keys expire');

$factory = sync_factories($server)['Redis'];
$factory->createVersion('short', 0.02)->advance(5);
wait_until(fn () => $factory->createVersion('short')->get() === null, 'the version is forgotten');
check_same(true, $factory->createVersion('short')->advance(4), 'then any version may come');

/* Two processes: exactly one of them has the newest. */
check_same(true, $factory->createVersion('both')->advance(1), 'one');
check_same(false, sync_factories($server)['Redis']->createVersion('both')->advance(1), 'and no other');
echo "done\n";
?>
--EXPECT--
done
