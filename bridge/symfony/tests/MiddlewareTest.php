<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests;

use Latch\Symfony\DependencyInjection\MessengerPass;
use Latch\Symfony\Messenger\Exception\LockLostException;
use Latch\Symfony\Messenger\Exception\RequeueException;
use Latch\Symfony\Messenger\HandlerLocks;
use Latch\Symfony\Tests\Message\Batched;
use Latch\Symfony\Tests\Message\Locked;
use Latch\Symfony\Tests\Message\Plain;
use Latch\Symfony\Tests\Support\App;
use Latch\Symfony\Tests\Support\AppTestCase;
use Latch\Symfony\Tests\Support\BatchHandler;
use Latch\Symfony\Tests\Support\TestKernel;
use Latch\Symfony\Tests\Support\Transaction;
use PHPUnit\Framework\Attributes\DataProvider;
use Symfony\Component\Config\Definition\Exception\InvalidConfigurationException;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\Messenger\Exception\HandlerFailedException;

final class MiddlewareTest extends AppTestCase
{
    /**
     * @return iterable<string, array{list<string>, list<string>}>
     */
    public static function buses(): iterable
    {
        yield 'Symfony 7.4' => [
            ['add_default_stamps_middleware', 'add_bus_name_stamp_middleware', 'reject_redelivered_message_middleware',
                'dispatch_after_current_bus', 'failed_message_processing_middleware', 'deduplicate_middleware',
                'doctrine_transaction', 'send_message', 'handle_message'],
            ['add_default_stamps_middleware', 'add_bus_name_stamp_middleware', 'reject_redelivered_message_middleware',
                'dispatch_after_current_bus', 'failed_message_processing_middleware', 'deduplicate_middleware',
                'latch.messenger.middleware', 'doctrine_transaction', 'latch.messenger.held_middleware', 'send_message', 'handle_message'],
        ];
        yield 'nothing of the application' => [
            ['dispatch_after_current_bus', 'failed_message_processing_middleware', 'send_message', 'handle_message'],
            ['dispatch_after_current_bus', 'failed_message_processing_middleware', 'latch.messenger.middleware',
                'latch.messenger.held_middleware', 'send_message', 'handle_message'],
        ];
        yield 'none of Symfony\'s' => [
            ['mine', 'handle_message'],
            ['latch.messenger.middleware', 'mine', 'latch.messenger.held_middleware', 'handle_message'],
        ];
        yield 'placed by the application' => [
            ['dispatch_after_current_bus', 'mine', 'latch.messenger.middleware', 'latch.messenger.held_middleware', 'mine', 'send_message'],
            ['dispatch_after_current_bus', 'mine', 'latch.messenger.middleware', 'latch.messenger.held_middleware', 'mine', 'send_message'],
        ];
    }

    /**
     * @param list<string> $before
     * @param list<string> $after
     */
    #[DataProvider('buses')]
    public function testTheirPlaces(array $before, array $after): void
    {
        $ids = static fn (array $middlewares): array => array_column($middlewares, 'id');
        $middlewares = array_map(static fn (string $id): array => ['id' => $id], $before);

        self::assertSame($after, $ids(MessengerPass::place($middlewares)));
    }

    public function testAreInTheBusesThatAreNamed(): void
    {
        $buses = [];
        $kernel = $this->kernel(['messenger' => ['buses' => ['one.bus']]], $buses);
        $kernel->boot();

        self::assertContains('latch.messenger.middleware', $buses['one.bus']);
        self::assertNotContains('latch.messenger.middleware', $buses['two.bus']);
    }

    public function testABusThatDoesNotExistIsRefused(): void
    {
        $buses = [];
        $this->expectException(InvalidConfigurationException::class);
        $this->expectExceptionMessage('latch.messenger.buses: there is no bus "three.bus"; there is "one.bus", "two.bus".');
        $this->kernel(['messenger' => ['buses' => ['three.bus']]], $buses)->boot();
    }

    public function testAreNotThereWhenSwitchedOff(): void
    {
        $buses = [];
        $this->kernel(['messenger' => ['enabled' => false]], $buses)->boot();

        self::assertNotContains('latch.messenger.middleware', $buses['one.bus']);
    }

    public function testLocksOutlastTransactions(): void
    {
        $app = $this->transactional();
        $free = null;
        $this->transaction($app)->atTheEnd = static function () use ($app, &$free): void {
            $free = $app->isFree('item-7');
        };
        $app->bus()->dispatch(new Locked(7));

        self::assertFalse($free);
        self::assertTrue($app->isFree('item-7'));
    }

    public function testAHandlersOwnLockOutlastsTheTransaction(): void
    {
        $app = $this->transactional();
        $app->handler->does[Plain::class] = function (Plain $message) use ($app): void {
            $lock = $app->locks()->createLock("own-$message->id");
            $lock->acquire();
            $app->get(HandlerLocks::class)->releaseAfter($message, $lock);
            if ($message->id === 2) {
                throw new \DomainException('no');
            }
        };
        $free = [];
        foreach ([1, 2] as $id) {
            $this->transaction($app)->atTheEnd = static function () use ($app, &$free, $id): void {
                $free[] = $app->isFree("own-$id");
            };
            try {
                $app->bus()->dispatch(new Plain($id));
            } catch (HandlerFailedException) {
            }
            self::assertTrue($app->isFree("own-$id"));
        }

        self::assertSame([false, false], $free);
        self::assertSame(['commit', 'rollback'], $this->transaction($app)->log);
    }

    public function testWorkersReleaseAHandlersOwnLock(): void
    {
        $app = $this->app([Plain::class => 'a']);
        $app->handler->does[Plain::class] = function (Plain $message) use ($app): void {
            $lock = $app->locks()->createLock('own');
            $lock->acquire();
            $app->get(HandlerLocks::class)->releaseAfter($message, $lock);
        };
        $app->bus()->dispatch(new Plain());
        $app->work();

        self::assertTrue($app->isFree('own'));
    }

    public function testAHandlerThatIsRefusedItsLockMaySendItsMessageAgain(): void
    {
        $app = $this->app([Plain::class => 'a']);
        $app->handler->does[Plain::class] = static fn () => throw new RequeueException('The owner is busy.', 'owner-7');
        $app->bus()->dispatch(new Plain());
        for ($i = 0; $i < 5; $i++) {
            $app->work();
            $app->clock->sleep(60);
        }
        $app->handler->does = [];
        $app->workAll();

        self::assertSame([...array_fill(0, 5, 'again Plain x 0'), 'handled Plain x'], $app->events);
    }

    public function testNothingIsCommittedWithoutAHandlersOwnLock(): void
    {
        $app = $this->transactional();
        $app->handler->does[Plain::class] = function (Plain $message) use ($app): void {
            $lock = $app->locks()->createLock('own');
            $lock->acquire();
            $app->get(HandlerLocks::class)->releaseAfter($message, $lock);
            $lock->release();
        };
        $e = $this->assertThrows(LockLostException::class, static fn () => $app->bus()->dispatch(new Plain()));

        self::assertSame('The lock "own" was lost while its message was handled.', $e->getMessage());
        self::assertSame(['rollback'], $this->transaction($app)->log);
    }

    public function testLocksOfABatchLastUntilItIsAcknowledged(): void
    {
        $app = $this->batching();
        $taken = [];
        $app->get(BatchHandler::class)->does = static function () use ($app, &$taken): void {
            $taken[] = [!$app->isFree('item-1'), !$app->isFree('item-2'), !$app->isFree('once.batch-1')];
        };
        $app->bus()->dispatch(new Batched(1));
        $app->bus()->dispatch(new Batched(2));
        $app->work();

        self::assertSame([[true, true, true], [true, true, true]], $taken);
        self::assertTrue($app->isFree('item-1') && $app->isFree('item-2') && $app->isFree('once.batch-1'));
        self::assertSame(['handled Batched 1', 'handled Batched 2'], $app->events);
    }

    public function testLocksOfABatchLastUntilItIsFlushed(): void
    {
        $app = $this->batching();
        $taken = null;
        $app->get(BatchHandler::class)->does = static function () use ($app, &$taken): void {
            $taken = !$app->isFree('item-1');
        };
        $app->bus()->dispatch(new Batched(1));
        $app->work();

        self::assertTrue($taken);
        self::assertTrue($app->isFree('item-1'));
        // This transport hands out again what is not acknowledged.
        self::assertSame(['handled Batched 1'], array_values(array_unique($app->events)));
    }

    public function testARefusedMessageOfABatchIsRetriedAlone(): void
    {
        $app = $this->batching();
        $tries = 0;
        $app->get(BatchHandler::class)->does = static function (int $id) use (&$tries): void {
            if ($id === 1 && ++$tries === 1) {
                throw new \DomainException('no');
            }
        };
        $app->bus()->dispatch(new Batched(1));
        $app->bus()->dispatch(new Batched(2));
        $app->work();
        self::assertTrue($app->isFree('item-1') && $app->isFree('item-2'));
        self::assertFalse($app->isFree('once.batch-1'));
        $app->workAll();

        self::assertSame(['again Batched 1 1', 'handled Batched 2', 'handled Batched 1'], array_values(array_unique($app->events)));
        self::assertTrue($app->isFree('item-1') && $app->isFree('once.batch-1'));
    }

    private function transactional(): App
    {
        return $this->app([], [], [Transaction::class], static function (ContainerBuilder $container): void {
            $container->register(Transaction::class, Transaction::class)->setPublic(true);
        });
    }

    private function transaction(App $app): Transaction
    {
        return $app->get(Transaction::class);
    }

    private function batching(): App
    {
        return $this->app([Batched::class => 'a'], services: static function (ContainerBuilder $container): void {
            $container->register(BatchHandler::class, BatchHandler::class)->setPublic(true)->addTag('messenger.message_handler');
        });
    }

    /**
     * @param array<string, mixed>          $latch
     * @param array<string, list<string>>   $buses ids of their middlewares, once the kernel is booted
     */
    private function kernel(array $latch, array &$buses): TestKernel
    {
        return new TestKernel(
            $latch,
            ['messenger' => ['default_bus' => 'one.bus', 'buses' => ['one.bus' => [], 'two.bus' => []]]],
            static function (ContainerBuilder $container) use (&$buses): void {
                $container->addCompilerPass(new Support\SeenMiddlewares($buses));
            },
        );
    }
}
