<?php

declare(strict_types=1);

namespace Latch\Tests\OwnNames\Documents;

use Latch\Tests\Support\DocumentTestCase;
use Latch\Tests\Support\Examples;
use PHPUnit\Framework\TestCase;

/**
 * Every fenced block of the README and the documents is run: each page with such blocks has its test here, which uses
 * all of them (DocumentTestCase::testEveryExampleIsRun).
 */
final class CompletenessTest extends TestCase
{
    public function testEveryPageHasItsTest(): void
    {
        $tested = [];
        foreach (glob(__DIR__ . '/*Test.php') ?: [] as $file) {
            $class = __NAMESPACE__ . '\\' . basename($file, '.php');
            if (is_subclass_of($class, DocumentTestCase::class)) {
                $tested[] = (new \ReflectionMethod($class, 'page'))->invoke(null);
            }
        }

        self::assertContains('README.md', Examples::pages());
        self::assertEqualsCanonicalizing(Examples::pages(), $tested);
    }
}
