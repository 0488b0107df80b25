<?php

declare(strict_types=1);

namespace Latch\Tests\OwnNames\Documents;

use Latch\Tests\PostgreSqlServer;
use Latch\Tests\Support\DocumentTestCase;
use Latch\Tests\Support\PostgreSql;

final class TablesTest extends DocumentTestCase
{
    private PostgreSqlServer $server;

    protected static function page(): string
    {
        return 'docs/tables.md';
    }

    protected function substitutes(): array
    {
        return [
            'pgsql:host=db.example.com;dbname=shop' => "pgsql:host=127.0.0.1;port={$this->server->port};dbname=latch",
            "'shop'" => "'latch'",
        ];
    }

    protected function setUp(): void
    {
        $this->server = PostgreSql::server();
        parent::setUp();
    }

    public function testAnInvoiceIsSentUnderTheLock(): void
    {
        self::assertSame('invoice 42: 1 lock, 0 locks', $this->said(
            '$pdo = ' . var_export($this->server->pdoDsn(), true) . ';' . <<<'PHP'
            $password = 'never-told-8642';
            function locks(): int
            {
                $pdo = new PDO($GLOBALS['pdo'], 'latch', $GLOBALS['password']);
                return (int) $pdo->query('SELECT count(*) FROM lock_keys')->fetchColumn();
            }
            function sendInvoice(int $number): void
            {
                echo "invoice $number: ", locks(), ' lock, ';
            }
            require example('locks-in-database-tables-1.php');
            echo locks(), ' locks';
            PHP,
        ));
    }
}
