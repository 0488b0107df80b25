<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests;

use Latch\Key;
use Latch\Symfony\Profiler\LatchDataCollector;
use Latch\Symfony\Profiler\LockSpan;
use Latch\Symfony\Profiler\LockTrace;
use Latch\Symfony\Profiler\TraceLogger;
use Latch\Symfony\Tests\Support\Log;
use Latch\Symfony\Tests\Support\ProfiledKernel;
use Latch\Symfony\Tests\Support\TestKernel;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Bundle\WebProfilerBundle\WebProfilerBundle;
use Symfony\Component\Filesystem\Filesystem;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpKernel\Profiler\Profiler;

final class ProfilerTest extends TestCase
{
    private static string $directory;

    private static ProfiledKernel $kernel;

    private static ?string $locks = null;

    public static function setUpBeforeClass(): void
    {
        self::assertTrue(class_exists(WebProfilerBundle::class), 'LATCH_APP_VENDOR needs symfony/web-profiler-bundle.');
        self::$directory = sys_get_temp_dir() . '/latch-profiler-' . bin2hex(random_bytes(6));
        mkdir(self::$directory);
        self::$kernel = new ProfiledKernel(self::$directory, ['default' => 'flock://' . self::$directory, 'local' => 'in-memory']);
    }

    public static function tearDownAfterClass(): void
    {
        self::$kernel->shutdown();
        (new Filesystem())->remove(self::$directory);
        restore_exception_handler();
    }

    public function testCollectsTheLocksOfARequest(): void
    {
        $collector = $this->collected();
        $outcomes = array_map(
            static fn (array $span): array => [$span['resource'], $span['kind'], $span['store'], $span['outcome']],
            $collector->getSpans(),
        );

        self::assertSame([
            ['invoice-9', 'lock', 'framework: default', 'released'],
            ['order-<42>', 'lock', 'default', 'released'],
            ['report', 'lock', 'local', 'released'],
            ['report', 'lock', 'local', 'refused'],
            ['mails', 'semaphore', 'local', 'acquired'],
            ['item-7', 'lock', 'default', 'released'],
            ['api', 'semaphore', 'local', 'released'],
            ['item-8', 'lock', 'default', 'released'],
            ['item-8', 'lock', 'default', 'refused'],
            ['kept', 'lock', 'default', 'held'],
        ], $outcomes);
        self::assertSame(8, $collector->getAcquired());
        self::assertSame(2, $collector->count('refused'));
    }

    public function testTellsHowLongALockHasWaitedAndWasHeld(): void
    {
        [, $order, , $refused, $mails] = $this->collected()->getSpans();

        self::assertTrue($order['read']);
        self::assertSame(0.0, $order['waited']);
        self::assertGreaterThanOrEqual(120.0, $order['held']);
        self::assertGreaterThanOrEqual(90.0, $refused['waited']); // of 100, less what passed before the wait was told of
        self::assertSame(0.0, $refused['held']);
        self::assertGreaterThanOrEqual(20.0, $refused['start']);
        self::assertGreaterThanOrEqual($refused['start'] + $refused['waited'], $mails['start']);
    }

    public function testNamesTheHolderOfALockThatIsRefused(): void
    {
        $spans = $this->collected()->getSpans();

        self::assertStringStartsWith('held by ' . getmypid() . ' (', $spans[8]['note']);
    }

    public function testTellsWhatBecameOfMessages(): void
    {
        [$row] = $this->collected()->getMessages();

        self::assertSame(['refused', 'Lock', 'item-{id}', 'The lock "item-8" is taken'], [$row['what'], $row['rule'], $row['key'], $row['text']]);
    }

    public function testShowsThePanel(): void
    {
        $panel = self::page('/_profiler/' . self::locks() . '?panel=latch');

        self::assertSame(200, $panel->getStatusCode());
        $html = new \DOMDocument();
        @$html->loadHTML((string) $panel->getContent());
        $xpath = new \DOMXPath($html);
        $rows = [];
        foreach ($xpath->query('//tr[@data-latch]') ?: [] as $row) {
            self::assertInstanceOf(\DOMElement::class, $row);
            $bars = [];
            foreach ($xpath->query('.//span[contains(@class, "latch-bar")]', $row) ?: [] as $bar) {
                self::assertInstanceOf(\DOMElement::class, $bar);
                $bars[] = substr($bar->getAttribute('class'), \strlen('latch-bar latch-'));
                self::assertMatchesRegularExpression('/^left: min\(\d+\.\d+%, 100% - 3px\); width: \d+\.\d+%$/', $bar->getAttribute('style'));
            }
            $rows[] = [$row->getAttribute('data-latch'), $bars];
        }
        self::assertSame([
            ['released', ['held']],
            ['released', ['held']],
            ['released', ['held']],
            ['refused', ['waited', 'refused']],
            ['acquired', ['held']],
            ['released', ['held']],
            ['released', ['held']],
            ['released', ['held']],
            ['refused', ['refused']],
            ['held', ['held latch-open']],
        ], $rows);
        self::assertSame(1, $xpath->query('//tr[@data-latch-message="refused"]')->length);
        self::assertStringContainsString('order-&lt;42&gt;', (string) $panel->getContent());
        self::assertMatchesRegularExpression('/label-status-warning">\s*<span class="icon">.*?<strong>Locks<\/strong>\s*<span class="count"><span>2</s', (string) $panel->getContent());
    }

    public function testShowsLocksInTheToolbar(): void
    {
        $toolbar = (string) self::page('/_wdt/' . self::locks())->getContent();

        self::assertMatchesRegularExpression('/sf-toolbar-block-latch sf-toolbar-status-yellow.*<span class="sf-toolbar-value">8<\/span>/s', $toolbar);
    }

    public function testARequestWithoutLocksHasNoneOfThoseBefore(): void
    {
        self::locks();
        $token = self::token('/nothing');

        self::assertStringContainsString('No lock was asked for.', (string) self::page("/_profiler/$token?panel=latch")->getContent());
        self::assertStringNotContainsString('sf-toolbar-block-latch', (string) self::page("/_wdt/$token")->getContent());
    }

    public function testWithoutAProfilerNothingIsTraced(): void
    {
        $kernel = new TestKernel(['stores' => ['default' => 'in-memory']]);
        $kernel->boot();

        self::assertFalse($kernel->getContainer()->has(LatchDataCollector::class));
    }

    /**
     * @param list<array{string, string, array<mixed>}> $lines
     */
    #[DataProvider('stories')]
    public function testReadsWhatLocksSay(array $lines, string $outcome, string $note): void
    {
        $trace = new LockTrace();
        $log = new Log();
        $logger = new TraceLogger($trace, 'lock', 'default', null, $log);
        $key = new Key('order');
        foreach ($lines as [$level, $line, $context]) {
            $logger->log($level, $line, ['resource' => $key] + $context);
        }

        self::assertCount(1, $trace->spans);
        self::assertSame('order', $trace->spans[0]->resource);
        self::assertSame($outcome, $trace->spans[0]->outcome);
        self::assertSame($note, $trace->spans[0]->note);
        self::assertSame($outcome === LockSpan::HELD, $trace->spans[0]->end === null);
        self::assertCount(\count($lines), $log->lines, 'The logger of the application has them, too.');
    }

    /**
     * @return iterable<string, array{list<array{string, string, array<mixed>}>, string, string}>
     */
    public static function stories(): iterable
    {
        $acquired = ['debug', 'Successfully acquired the "{resource}" lock.', []];
        $released = ['debug', 'Successfully released the "{resource}" lock.', []];
        $lost = ['notice', 'The "{resource}" lock was lost.', ['reason' => 'its time is over']];
        yield 'held' => [[$acquired], LockSpan::HELD, ''];
        yield 'promoted' => [[['debug', 'Successfully acquired the "{resource}" lock for reading.', []], $acquired, $released], LockSpan::RELEASED, ''];
        yield 'lost, known by its thread' => [[$acquired, $lost, ['notice', 'Released the "{resource}" lock, which had been lost before.', []]], LockSpan::LOST, 'its time is over'];
        yield 'lost, known by its renewal' => [[$acquired, ['notice', 'Failed to define an expiration for the "{resource}" lock, someone else acquired the lock.', []]], LockSpan::LOST, ''];
        yield 'lost, known at its end' => [[$acquired, ['notice', 'Released the "{resource}" lock, which had been lost before.', []]], LockSpan::LOST, ''];
        yield 'refused' => [[['info', 'Failed to acquire the "{resource}" lock. Someone else already acquired the lock.', []]], LockSpan::REFUSED, ''];
        yield 'the store is away' => [[['notice', 'Failed to acquire the "{resource}" lock.', ['exception' => new \RuntimeException('no server')]]], LockSpan::FAILED, 'no server'];
    }

    private function collected(): LatchDataCollector
    {
        $token = self::locks();
        $profiler = self::$kernel->getContainer()->get('profiler');
        self::assertInstanceOf(Profiler::class, $profiler);
        $collector = $profiler->loadProfile($token)?->getCollector('latch');
        self::assertInstanceOf(LatchDataCollector::class, $collector);

        return $collector;
    }

    /** The token of a request with locks: one for all tests. */
    private static function locks(): string
    {
        return self::$locks ??= self::token('/locks');
    }

    private static function token(string $path): string
    {
        $response = self::page($path);
        self::assertSame(200, $response->getStatusCode());

        return (string) $response->headers->get('X-Debug-Token');
    }

    private static function page(string $path): Response
    {
        self::$kernel->boot();
        $request = Request::create($path);
        $response = self::$kernel->handle($request);
        self::$kernel->terminate($request, $response);
        // As between two requests of one process.
        self::$kernel->getContainer()->get('services_resetter')?->reset();

        return $response;
    }
}
