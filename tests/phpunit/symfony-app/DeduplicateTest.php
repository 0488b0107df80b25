<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyApp;

use PHPUnit\Framework\Attributes\DataProvider;

/**
 * Messenger's DeduplicateMiddleware: the key of the lock is in a stamp, goes through Redis as the message
 * does, and a worker releases the lock.
 */
final class DeduplicateTest extends AppTestCase
{
    #[DataProvider('ways')]
    public function testAMessageIsSentOnceUntilAWorkerHasHandledIt(bool $first, bool $second): void
    {
        $web = $this->app->web($first);
        self::assertSame('202: Invoice 7 will be sent.', $web->post('/invoices/7/send'));
        self::assertSame('409: Invoice 7 is on its way.', $web->post('/invoices/7/send'));
        self::assertSame('409: Invoice 7 is on its way.', $this->app->web($second)->post('/invoices/7/send'));
        self::assertSame('202: Invoice 8 will be sent.', $web->post('/invoices/8/send'));

        $worker = $this->app->worker($second, 2);
        self::assertSame([], $worker->finish());
        self::assertSame('202: Invoice 7 will be sent.', $web->post('/invoices/7/send'));
        self::assertSame([], $this->app->worker($first)->finish());

        $acquired = static fn (int $invoice): array => [
            "debug: Successfully acquired the \"invoice-$invoice\" lock.",
            "debug: Expiration defined for \"invoice-$invoice\" lock for \"60\" seconds.",
        ];
        $refused = 'info: Failed to acquire the "invoice-7" lock. Someone else already acquired the lock.';
        self::assertSame([...$acquired(7), $refused, ...$acquired(8), ...$acquired(7)], $web->log());
        self::assertSame([
            'invoice 7 is sent',
            'debug: Successfully released the "invoice-7" lock.',
            'invoice 8 is sent',
            'debug: Successfully released the "invoice-8" lock.',
        ], $worker->log());
    }
}
