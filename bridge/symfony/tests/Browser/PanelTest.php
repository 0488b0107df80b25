<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Browser;

use Latch\LockFactory;
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Filesystem\Filesystem;

/**
 * The profiler's panel as Chromium shows it: what is seen, where, and in which colours.
 *
 * @phpstan-type Box array{left: float, top: float, width: float, height: float, text: string, classes: list<string>, colour: string, fill: string, background: string, isVisible: bool}
 * @phpstan-type Row array{outcome: string, row: Box, cells: list<Box>, track: Box, bars: list<Box>}
 */
final class PanelTest extends TestCase
{
    /** Pixels, by which what is rounded may differ. */
    private const TOLERANCE = 2.0;

    private const SHOWN_MS = '/^(\d[\d ]*(?:\.\d+)?) ms$/';

    private static string $directory;

    private static RedisServer $redis;

    private static WebServer $server;

    private static string $token;

    public static function setUpBeforeClass(): void
    {
        self::$directory = sys_get_temp_dir() . '/latch-browser-' . bin2hex(random_bytes(6));
        mkdir(self::$directory);
        self::$redis = new RedisServer();
        self::$server = new WebServer(self::$directory, self::$redis->dsn());
        self::$token = self::request();
    }

    public static function tearDownAfterClass(): void
    {
        self::$server->stop();
        (new Filesystem())->remove(self::$directory);
    }

    /**
     * @return iterable<string, array{string, int}>
     */
    public static function views(): iterable
    {
        yield 'light' => ['theme-light', 1100];
        yield 'dark' => ['theme-dark', 1100];
        yield 'light, narrow' => ['theme-light', 400];
        yield 'dark, narrow' => ['theme-dark', 400];
    }

    #[DataProvider('views')]
    public function testThePanelIsAsItIsMeantToBe(string $theme, int $width): void
    {
        $shown = $this->shown($theme, $width, '/_profiler/' . self::$token . '?panel=latch', 'tr[data-latch]');

        self::assertContains($theme, $shown['theme']);
        self::assertSame($width, $shown['width']);
        self::assertSame($width, $shown['scrollWidth'], 'It is not wider than the window.');
        self::assertSame('Locks', $shown['title']);
        self::assertSame(
            ['10 acquired', '2 refused', '1 lost', '1 held at the end'],
            \array_slice(array_column($shown['metrics'], 'text'), 0, 4),
        );
        self::assertSame([
            'busy released', 'invoice-9 released', 'order-<42> released', 'report released', 'report refused', 'mails acquired',
            'item-7 released', 'api released', 'item-8 released', 'item-8 refused', 'kept held still', 'lost lost',
        ], array_map(static fn (array $row): string => strtok($row['cells'][0]['text'], ' ') . ' ' . $row['cells'][4]['text'], $shown['rows']));
        self::assertStringStartsWith('held by ' . self::$server->pid() . ' on ', $shown['rows'][9]['cells'][1]['text']);
        self::assertSame('The lock "item-8" is taken', $shown['messages'][0][4]['text']);

        $this->assertThePictureIsThatOfTheFigures($shown);
        $this->assertNothingCoversAnother([...$shown['axis'], ...$shown['legend']], $shown);
        foreach ($shown['rows'] as $row) {
            $this->assertNothingCoversAnother($row['cells'], $shown);
            $this->assertContrasts($row);
        }
    }

    public function testTheToolbarShowsTheLocks(): void
    {
        $shown = $this->shown('theme-light', 1100, '/locks', '.sf-toolbar-block-latch');

        self::assertMatchesRegularExpression('/^8 waited \d+ ms$/', $shown['toolbar'][0]['text']);
        self::assertTrue($shown['toolbar'][0]['isVisible']);
    }

    public function testAnErrorOfAPageWouldBeSeen(): void
    {
        $url = 'data:text/html,' . rawurlencode('<script>notThere();</script>');
        $browser = new Chromium($url, self::$directory, self::$directory . '/error.png', 500, 100);

        self::assertCount(1, $browser->console);
        self::assertStringContainsString('notThere is not defined', $browser->console[0]);
    }

    /** A request that waits for a lock that this process has, is refused others, and loses one. */
    private static function request(): string
    {
        $busy = (new LockFactory(new RedisStore(self::$redis->dsn())))->createLock('busy', 60.0);
        self::assertTrue($busy->acquire());
        $answer = self::$server->ask('/contended');
        for ($end = microtime(true) + 60; !file_exists(self::$directory . '/waits'); usleep(5_000)) {
            self::assertLessThan($end, microtime(true), 'The request does not come to its lock: ' . self::$server->log());
        }
        usleep(150_000);
        $busy->release();
        $response = (string) stream_get_contents($answer);
        self::assertMatchesRegularExpression('~^HTTP/1\.\d 200 .*^X-Debug-Token: (\w+)~ms', $response, self::$server->log());
        preg_match('~^X-Debug-Token: (\w+)~m', $response, $token);

        return $token[1] ?? '';
    }

    /**
     * @param string $awaited selector of what the page is to have
     *
     * @return array{theme: list<string>, width: int, scrollWidth: int, title: string|null, toolbar: list<Box>, metrics: list<Box>, axis: list<Box>, legend: list<Box>, rows: list<Row>, messages: list<list<Box>>}
     */
    private function shown(string $theme, int $width, string $path, string $awaited): array
    {
        $query = http_build_query(['theme' => $theme, 'width' => $width, 'path' => $path, 'awaited' => $awaited]);
        $pictures = getenv('LATCH_BROWSER_PICTURES') ?: self::$directory;
        $name = strtr(trim((string) strtok($path, '?'), '/'), ['/' => '-', self::$token => 'panel']);
        // No window is as narrow as a frame in it.
        $browser = new Chromium(self::$server->url . "/frame.html?$query", self::$directory, "$pictures/$name-$theme-$width.png", max($width, 500), 1600);
        self::assertSame([], $browser->console, 'The console is empty.');
        self::assertSame([], preg_grep('/^200 /', self::$server->requests(), \PREG_GREP_INVERT), 'All that the page asks for is there.');
        preg_match('~<pre id="measured">(.*?)</pre>~s', $browser->dom, $measured);
        self::assertNotSame('', $measured[1] ?? '', 'The page was shown, and measured: ' . self::$server->log());

        return json_decode(html_entity_decode($measured[1], \ENT_QUOTES | \ENT_HTML5), true, 64, \JSON_THROW_ON_ERROR);
    }

    /**
     * @param array{axis: list<Box>, rows: list<Row>} $shown
     */
    private function assertThePictureIsThatOfTheFigures(array $shown): void
    {
        [$begin, , $end] = array_map(fn (array $label): float => $this->ms($label['text']), $shown['axis']);
        $last = null;
        foreach ($shown['rows'] as $row) {
            $track = $row['track'];
            self::assertGreaterThan(150.0, $track['width']);
            $pixels = fn (string $text): float => $this->ms($text) * $track['width'] / ($end - $begin);
            $x = $last;
            foreach ($row['bars'] as $bar) {
                $about = $row['cells'][0]['text'] . ', ' . implode(' ', $bar['classes']);
                self::assertTrue($bar['isVisible'], $about);
                self::assertGreaterThanOrEqual($track['left'] - 0.1, $bar['left'], $about);
                self::assertLessThanOrEqual($track['left'] + $track['width'] + 0.1, $bar['left'] + $bar['width'], $about);
                $figure = $row['cells'][\in_array('latch-waited', $bar['classes'], true) ? 2 : 3]['text'];
                $isMark = array_intersect($bar['classes'], ['latch-refused', 'latch-lost']) !== [] || $figure === '–';
                self::assertEqualsWithDelta($isMark ? 3.0 : max(3.0, $pixels($figure)), $bar['width'], self::TOLERANCE, $about);
                if ($bar !== $row['bars'][0]) {
                    self::assertEqualsWithDelta($x, $bar['left'], self::TOLERANCE, "$about begins where the one before ends");
                }
                $x = $bar['left'] + $bar['width'];
            }
        }
        self::assertGreaterThanOrEqual(100.0, $this->ms($shown['rows'][0]['cells'][2]['text']), 'It has waited.');
        [$busy, $invoice] = [$shown['rows'][0]['bars'][1], $shown['rows'][1]['bars'][0]];
        self::assertGreaterThanOrEqual($busy['left'] + $busy['width'] - self::TOLERANCE, $invoice['left']);
        $kept = $shown['rows'][10];
        self::assertEqualsWithDelta($kept['track']['left'] + $kept['track']['width'], $kept['bars'][0]['left'] + $kept['bars'][0]['width'], self::TOLERANCE);
        self::assertEqualsWithDelta($shown['rows'][0]['track']['left'], $shown['rows'][0]['bars'][0]['left'], self::TOLERANCE, 'The first one begins the picture.');
    }

    /**
     * @param list<Box>         $boxes
     * @param array{width: int} $shown
     */
    private function assertNothingCoversAnother(array $boxes, array $shown): void
    {
        foreach ($boxes as $i => $one) {
            self::assertTrue($one['isVisible'], $one['text']);
            self::assertLessThanOrEqual($shown['width'], $one['left'] + $one['width'], $one['text']);
            foreach (\array_slice($boxes, $i + 1) as $other) {
                self::assertFalse(
                    min($one['left'] + $one['width'], $other['left'] + $other['width']) - max($one['left'], $other['left']) > 0.5
                    && min($one['top'] + $one['height'], $other['top'] + $other['height']) - max($one['top'], $other['top']) > 0.5,
                    "\"$one[text]\" and \"$other[text]\"",
                );
            }
        }
    }

    /**
     * Contrasts of WCAG 2.1 for text, and for what is no text.
     *
     * @param Row $row
     */
    private function assertContrasts(array $row): void
    {
        foreach ($row['cells'] as $cell) {
            self::assertGreaterThanOrEqual(4.5, $this->contrast($cell['colour'], $cell['background']), $cell['text']);
        }
        foreach ($row['bars'] as $bar) {
            self::assertGreaterThanOrEqual(3.0, $this->contrast($bar['fill'], $row['row']['background']), implode(' ', $bar['classes']));
        }
    }

    private function contrast(string $one, string $other): float
    {
        $light = [$this->luminance($one), $this->luminance($other)];

        return (max($light) + 0.05) / (min($light) + 0.05);
    }

    private function luminance(string $colour): float
    {
        self::assertSame(1, preg_match('/^rgb\((\d+), (\d+), (\d+)\)$/', $colour, $parts), $colour);
        [$red, $green, $blue] = array_map(
            static fn (string $part): float => $part / 255 <= 0.04045 ? $part / 255 / 12.92 : (($part / 255 + 0.055) / 1.055) ** 2.4,
            \array_slice($parts, 1),
        );

        return 0.2126 * $red + 0.7152 * $green + 0.0722 * $blue;
    }

    private function ms(string $text): float
    {
        self::assertSame(1, preg_match(self::SHOWN_MS, $text, $number), $text);

        return (float) strtr($number[1], [' ' => '']);
    }
}
