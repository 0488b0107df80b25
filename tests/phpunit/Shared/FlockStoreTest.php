<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Exception\InvalidArgumentException;
use Latch\Exception\LockAcquiringException;
use Latch\Exception\LockConflictedException;
use Latch\Exception\LockStorageException;
use Latch\Exception\UnserializableKeyException;
use Latch\Key;
use Latch\Lock;
use Latch\Store\FlockStore;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;

final class FlockStoreTest extends TestCase
{
    private const NOBODY = 65534;

    public function testWaitingForAFreeLockTakesIt(): void
    {
        $store = new FlockStore($this->directory());
        $reader = new Key('r');
        $other = new Key('r');
        $store->waitAndSaveRead($reader);
        $store->waitAndSaveRead($other);
        self::assertTrue($store->exists($reader));
        self::assertTrue($store->exists($other));
        $store->delete($reader);
        $store->delete($other);

        $store->waitAndSave($reader);
        $this->assertThrows(LockConflictedException::class, '', static fn () => $store->saveRead($other));
    }

    public function testAKeyIsPromotedAndDemoted(): void
    {
        $store = new FlockStore($this->directory());
        $key = new Key('r');
        $other = new Key('r');

        $store->saveRead($key);
        $store->save($key);
        $this->assertThrows(LockConflictedException::class, '', static fn () => $store->saveRead($other));

        $store->saveRead($key);
        $store->saveRead($other);
        self::assertTrue($store->exists($key));
        self::assertTrue($store->exists($other));

        $store->delete($other);
        $store->waitAndSave($key);
        $this->assertThrows(LockConflictedException::class, '', static fn () => $store->saveRead($other));
        $store->waitAndSaveRead($key);
        $store->saveRead($other);
    }

    public function testTheLockEndsWithItsKey(): void
    {
        $store = new FlockStore($this->directory());
        $key = new Key('r');
        $store->save($key);
        unset($key);

        $store->save($next = new Key('r'));
        self::assertTrue($store->exists($next));
    }

    public function testAKeyThatWasStoredIsNotSerialised(): void
    {
        $store = new FlockStore($this->directory());
        $key = new Key('r');
        serialize($key);

        $store->save($key);
        $this->assertThrows(
            UnserializableKeyException::class,
            'The key cannot be serialized.',
            static fn () => serialize($key),
        );
        $store->delete($key);
        $this->assertThrows(UnserializableKeyException::class, null, static fn () => serialize($key));
    }

    /**
     * @return iterable<string, array{string}>
     */
    public static function resources(): iterable
    {
        yield 'ordinary' => ['invoice-42.pdf_2'];
        yield from array_map(static fn (string $resource) => [$resource], Subject::emptyResource());
        yield 'zero' => ['0'];
        yield 'upper case' => ['InVoIcE'];
        yield 'blanks and marks' => ['<?php echo "% hello word ! %" ?>'];
        yield 'a conversion' => ['%s%n%d'];
        yield 'a path' => ['../../etc/passwd'];
        yield 'a NUL byte' => ["nul\0byte"];
        yield 'a line break' => ["a\nb"];
        yield 'UTF-8' => ['Übergröße 東京'];
        yield 'no UTF-8' => ["\xff\xfe\x80"];
        yield 'nothing but odd characters' => ['////'];
        yield 'fifty characters' => [str_repeat('a', 50)];
        yield 'fifty-one characters' => [str_repeat('a', 51)];
        yield 'cut in a run of odd characters' => [str_repeat('a', 49) . '///b'];
        yield 'a megabyte' => [str_repeat("x\0", 1 << 19)];
        for ($i = 0; !str_contains(substr(base64_encode(hash('sha256', "s$i", true)), 0, 7), '/'); ++$i) {
        }
        yield 'a slash in the digest' => ["s$i"];
        for ($i = 0; !str_contains(substr(base64_encode(hash('sha256', "p$i", true)), 0, 7), '+'); ++$i) {
        }
        yield 'a plus in the digest' => ["p$i"];
    }

    #[DataProvider('resources')]
    public function testTheFileIsNamedInTheCommonFormat(string $resource): void
    {
        $store = new FlockStore($this->directory());
        $store->save($key = new Key($resource));

        self::assertSame(
            [basename($this->lockFile($resource))],
            array_values(array_diff((array) scandir($this->directory()), ['.', '..'])),
        );
        self::assertTrue($store->exists($key));

        // The file stays, as others may have it open.
        $store->delete($key);
        self::assertFileExists($this->lockFile($resource));
        $handle = fopen($this->lockFile($resource), 'r');
        self::assertIsResource($handle);
        self::assertTrue(flock($handle, \LOCK_EX | \LOCK_NB));
    }

    public function testOddResourcesDoNotConflict(): void
    {
        $store = new FlockStore($this->directory());
        $keys = [];
        foreach (self::resources() as [$resource]) {
            $store->save($keys[] = new Key($resource));
        }
        foreach ($keys as $key) {
            self::assertTrue($store->exists($key));
        }
    }

    public function testEverybodyMayUseTheFile(): void
    {
        $umask = umask(0077);
        try {
            (new FlockStore($this->directory()))->save($key = new Key('r'));
        } finally {
            umask($umask);
        }

        self::assertSame(0666, fileperms($this->lockFile('r')) & 0777);
        self::assertSame('r', (string) $key);
    }

    public function testAnExistingFileKeepsItsModeAndContent(): void
    {
        file_put_contents($this->lockFile('r'), 'content');
        chmod($this->lockFile('r'), 0600);
        $store = new FlockStore($this->directory());
        $store->save($key = new Key('r'));
        $store->delete($key);

        self::assertSame(0600, fileperms($this->lockFile('r')) & 0777);
        self::assertSame('content', file_get_contents($this->lockFile('r')));
    }

    public function testTheDirectoryOfTheSystemIsTheDefault(): void
    {
        $resource = 'latch test ' . bin2hex(random_bytes(8));
        $file = $this->lockFile($resource, sys_get_temp_dir());
        try {
            foreach ([new FlockStore(), new FlockStore(null)] as $store) {
                $store->save($key = new Key($resource));
                self::assertFileExists($file);
                $store->delete($key);
            }
        } finally {
            unlink($file);
        }
    }

    public function testAMissingDirectoryIsMade(): void
    {
        $directory = $this->directory() . '/a/b/c';
        $umask = umask(0022);
        try {
            $store = new FlockStore($directory);
        } finally {
            umask($umask);
        }

        self::assertDirectoryExists($directory);
        self::assertSame(0755, fileperms($directory) & 0777);
        $store->save($key = new Key('r'));
        self::assertFileExists($this->lockFile('r', $directory));
        self::assertTrue($store->exists($key));
    }

    public function testADirectoryThatCannotBeMadeIsRefused(): void
    {
        $file = $this->directory() . '/file';
        touch($file);

        foreach (["$file/below", ''] as $directory) {
            $this->assertThrows(
                InvalidArgumentException::class,
                "The FlockStore directory \"$directory\" does not exists and cannot be created.",
                static fn () => new FlockStore($directory),
            );
        }
        // Symfony's says the same of a file, Latch that it is one.
        $this->assertThrows(InvalidArgumentException::class, null, static fn () => new FlockStore($file));
    }

    public function testADirectoryThatCannotBeWrittenIsRefused(): void
    {
        $directory = $this->directory() . '/closed';
        mkdir($directory, 0555);
        $peer = Peer::own($this->directory());
        self::assertTrue($peer->do('become', self::NOBODY));

        $peer->ask('construct', 'FlockStore', $directory);
        self::assertSame(
            "Exception\\InvalidArgumentException: The FlockStore directory \"$directory\" is not writable.",
            $this->thrownBy($peer),
        );
        $peer->ask('construct', 'FlockStore', "$directory/below");
        self::assertSame(
            'Exception\InvalidArgumentException: '
                . "The FlockStore directory \"$directory/below\" does not exists and cannot be created.",
            $this->thrownBy($peer),
        );
    }

    public function testAFileThatCannotBeOpenedIsAnErrorOfTheStore(): void
    {
        $directory = $this->directory() . '/gone';
        $store = new FlockStore($directory);
        rmdir($directory);
        $lock = new Lock($key = new Key('r'), $store);

        $e = $this->assertThrowsWithReason(
            LockAcquiringException::class,
            'Failed to acquire the "r" lock',
            static fn () => $lock->acquire(),
        );
        self::assertInstanceOf(LockStorageException::class, $e->getPrevious());
        self::assertStringContainsString('No such file or directory', $e->getPrevious()->getMessage());
        self::assertStringContainsString($this->lockFile('r', $directory), $e->getPrevious()->getMessage());
        self::assertFalse($store->exists($key));

        mkdir($directory);
        self::assertTrue($lock->acquire());
    }

    public function testAFileOfSomebodyElseWillDo(): void
    {
        if (posix_geteuid() !== 0) {
            self::markTestSkipped('Only root can become somebody else.');
        }
        // In a sticky directory fs.protected_regular refuses to create what exists already.
        $directory = $this->directory() . '/sticky';
        mkdir($directory);
        chmod($directory, 01777);
        $peer = Peer::own($directory);
        $peer->do('become', self::NOBODY);
        $peer->do('lock', 'theirs', 'r');
        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        self::assertSame(self::NOBODY, fileowner($this->lockFile('r', $directory)));

        $lock = new Lock(new Key('r'), new FlockStore($directory));
        self::assertFalse($lock->acquire());
        $peer->do('call', 'theirs', 'release');
        self::assertTrue($lock->acquire());
        self::assertFalse($peer->do('call', 'theirs', 'acquire'));
    }

    public function testAFileThatMayOnlyBeReadWillDo(): void
    {
        chmod($this->directory(), 0777);
        touch($this->lockFile('r'));
        chmod($this->lockFile('r'), 0444);
        $peer = Peer::own($this->directory());
        $peer->do('become', self::NOBODY);
        $peer->do('lock', 'theirs', 'r');

        self::assertTrue($peer->do('call', 'theirs', 'acquire'));
        $lock = new Lock(new Key('r'), new FlockStore($this->directory()));
        self::assertFalse($lock->acquire());
        self::assertTrue($peer->do('call', 'theirs', 'acquireRead'));
        self::assertTrue($lock->acquireRead());
    }

    private function thrownBy(Peer $peer): string
    {
        try {
            $peer->answer();
        } catch (\RuntimeException $e) {
            return $e->getMessage();
        }
        self::fail('The peer should have thrown.');
    }
}
