<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyApp;

use PHPUnit\Framework\Attributes\DataProvider;

/**
 * framework.lock, with one of its stores each: the DSNs come from the environment, a list of them makes a
 * CombinedStore.
 */
final class LocksTest extends AppTestCase
{
    /** Those whose locks can expire, with the minutes that are left. */
    private const LEFT = ['redis' => ': 30 min', 'quorum' => ': 30 min', 'mixed' => ': 30 min'];

    /**
     * @return iterable<string, array{string, bool, bool}>
     */
    public static function stores(): iterable
    {
        return self::waysOf(['default', 'flock', 'semaphore', 'redis', 'database', 'quorum', 'mixed']);
    }

    /**
     * @return iterable<string, array{string, bool, bool}>
     */
    public static function storesWithReaders(): iterable
    {
        return self::waysOf(['flock', 'redis', 'database', 'quorum', 'mixed']);
    }

    #[DataProvider('stores')]
    public function testOneEditsAndTheOtherIsRefusedUntilItIsThrough(string $store, bool $first, bool $second): void
    {
        $article = bin2hex(random_bytes(6));
        $left = $store === 'default' ? self::LEFT['redis'] : self::LEFT[$store] ?? '';
        $saved = str_replace('30', '60', $left);
        $editor = $this->app->console($first, "app:edit $article --store=$store --ttl=1800");
        self::assertSame("Go on$left.", $editor->hear());

        $refused = $this->app->console($second, "app:edit $article --store=$store --ttl=1800");
        self::assertSame(['Somebody else edits it.', 'exit code 1'], $refused->finish());
        self::assertSame("It is yours$left.", $editor->ask('check'));
        self::assertSame("Saved$saved.", $editor->ask('save'));
        self::assertSame(['Left.'], $editor->finish());

        $next = $this->app->console($second, "app:edit $article --store=$store --ttl=1800");
        self::assertSame("Go on$left.", $next->hear());
        self::assertSame(['Left.'], $next->finish());

        $acquired = [
            "debug: Successfully acquired the \"article-$article\" lock.",
            "debug: Expiration defined for \"article-$article\" lock for \"1800\" seconds.",
        ];
        $released = "debug: Successfully released the \"article-$article\" lock.";
        self::assertSame(
            [...$acquired, "debug: Expiration defined for \"article-$article\" lock for \"3600\" seconds.", $released],
            $editor->log(),
        );
        self::assertSame(
            ["info: Failed to acquire the \"article-$article\" lock. Someone else already acquired the lock."],
            $refused->log(),
        );
        self::assertSame([...$acquired, $released], $next->log());
    }

    #[DataProvider('stores')]
    public function testTheOtherWaitsUntilItIsFree(string $store, bool $first, bool $second): void
    {
        $article = bin2hex(random_bytes(6));
        $editor = $this->app->console($first, "app:edit $article --store=$store");
        self::assertStringStartsWith('Go on', $editor->hear());
        $waiting = $this->app->console($second, "app:edit $article --store=$store --wait");
        self::assertSame('Wait.', $waiting->hear());
        self::assertStringStartsWith('It is yours', $editor->ask('check'));
        self::assertTrue($waiting->isSilent());
        self::assertSame([], $waiting->log());

        self::assertSame(['Left.'], $editor->finish());
        self::assertStringStartsWith('Go on', $waiting->hear());
        self::assertSame(['Left.'], $waiting->finish());
        self::assertSame([
            "debug: Successfully acquired the \"article-$article\" lock.",
            "debug: Successfully released the \"article-$article\" lock.",
        ], $waiting->log());
    }

    #[DataProvider('storesWithReaders')]
    public function testManyReadAndOneMayWriteWhenItIsAlone(string $store, bool $first, bool $second): void
    {
        $article = bin2hex(random_bytes(6));
        $left = self::LEFT[$store] ?? '';
        $one = $this->app->console($first, "app:edit $article --store=$store --read --ttl=1800");
        self::assertSame("Go on$left.", $one->hear());
        $two = $this->app->console($second, "app:edit $article --store=$store --read --ttl=1800");
        self::assertSame("Go on$left.", $two->hear());

        self::assertSame('Somebody else reads it.', $one->ask('write'));
        self::assertSame(['Left.'], $two->finish());
        self::assertSame("Go on$left.", $one->ask('write'));
        $three = $this->app->console($second, "app:edit $article --store=$store --read --ttl=1800");
        self::assertSame(['Somebody else edits it.', 'exit code 1'], $three->finish());
        self::assertSame("Go on$left.", $one->ask('read'));
        $four = $this->app->console($second, "app:edit $article --store=$store --read --ttl=1800");
        self::assertSame("Go on$left.", $four->hear());
        self::assertSame(['Left.'], $four->finish());
        self::assertSame(['Left.'], $one->finish());
    }

    #[DataProvider('ways')]
    public function testAQuorumIsOneWithAServerDown(bool $first, bool $second): void
    {
        $this->app->quorum[1]->stop();
        try {
            $editor = $this->app->console($first, 'app:edit 7 --store=quorum --ttl=1800');
            self::assertSame('Go on: 30 min.', $editor->hear());
            $refused = $this->app->console($second, 'app:edit 7 --store=quorum --ttl=1800');
            self::assertSame(['Somebody else edits it.', 'exit code 1'], $refused->finish());
            self::assertSame('It is yours: 30 min.', $editor->ask('check'));
            self::assertSame(['Left.'], $editor->finish());
            $next = $this->app->console($second, 'app:edit 7 --store=quorum --ttl=1800');
            self::assertSame('Go on: 30 min.', $next->hear());
            self::assertSame(['Left.'], $next->finish());
        } finally {
            $this->app->quorum[1]->start();
        }
    }

    #[DataProvider('ways')]
    public function testAQuorumIsNoneWithTwoServersDown(bool $first, bool $second): void
    {
        $this->app->quorum[0]->stop();
        $this->app->quorum[2]->stop();
        try {
            foreach ([$first, $second] as $latch) {
                $refused = $this->app->console($latch, 'app:edit 7 --store=quorum --ttl=1800');
                self::assertSame(['Somebody else edits it.', 'exit code 1'], $refused->finish());
            }
        } finally {
            $this->app->quorum[0]->start();
            $this->app->quorum[2]->start();
        }
    }

    /** The kernel and the database free what a process held that was killed; in Redis its time has to run out. */
    #[DataProvider('storesOfProcesses')]
    public function testWhatAKilledProcessHeldIsFree(string $store, bool $first, bool $second): void
    {
        $article = bin2hex(random_bytes(6));
        $editor = $this->app->console($first, "app:edit $article --store=$store");
        self::assertSame('Go on.', $editor->hear());
        $waiting = $this->app->console($second, "app:edit $article --store=$store --wait");
        self::assertSame('Wait.', $waiting->hear());
        self::assertTrue($waiting->isSilent());
        $editor->kill();
        self::assertSame('Go on.', $waiting->hear());
        self::assertSame(['Left.'], $waiting->finish());
    }

    /**
     * @return iterable<string, array{string, bool, bool}>
     */
    public static function storesOfProcesses(): iterable
    {
        return self::waysOf(['flock', 'semaphore', 'database']);
    }

    #[DataProvider('ways')]
    public function testALockThatRanOutIsSomebodyElses(bool $first, bool $second): void
    {
        $editor = $this->app->console($first, 'app:edit 7 --store=redis --ttl=2');
        self::assertSame('Go on: 1 min.', $editor->hear());
        $next = $this->app->console($second, 'app:edit 7 --store=redis --wait');
        self::assertSame('Wait.', $next->hear());
        self::assertStringStartsWith('Go on', $next->hear());
        self::assertSame('It is not yours.', $editor->ask('check'));
        self::assertSame(['Left.'], $editor->finish());
        self::assertSame('It is yours: 5 min.', $next->ask('check'));
        self::assertSame(['Left.'], $next->finish());
    }

    /**
     * @return iterable<string, array{string, bool, bool}>
     */
    public static function servers(): iterable
    {
        return self::waysOf(['redis', 'database']);
    }

    #[DataProvider('servers')]
    public function testWithItsServerDownNothingIsLocked(string $store, bool $first, bool $second): void
    {
        $server = $store === 'redis' ? $this->app->redis : $this->app->database;
        $server->stop();
        try {
            foreach ([$first, $second] as $latch) {
                $editor = $this->app->console($latch, "app:edit 7 --store=$store");
                $said = array_map(trim(...), $editor->finish());
                // Behind Symfony's words Latch says why.
                self::assertNotEmpty(preg_grep('/^Failed to acquire the "article-7" lock[.:]/', $said));
                self::assertSame('exit code 1', end($said));
                self::assertStringStartsWith('notice: Failed to acquire the "article-7" lock.', $editor->log()[0]);
            }
        } finally {
            $server->start();
        }
    }
}
