<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests;

use Latch\Symfony\Messenger\Once;
use Latch\Symfony\Messenger\ParkedStamp;
use Latch\Symfony\Messenger\PartsFailedStamp;
use Latch\Symfony\Messenger\Plan;
use Latch\Symfony\Tests\Message\Locked;
use Latch\Symfony\Tests\Message\Plain;
use Latch\Symfony\Tests\Support\App;
use Latch\Symfony\Tests\Support\AppTestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Event\SendMessageToTransportsEvent;
use Symfony\Component\Messenger\Exception\UnrecoverableMessageHandlingException;
use Symfony\Component\Messenger\Stamp\DelayStamp;

/**
 * B10: a plan in one sentence.
 */
final class PlanTest extends AppTestCase
{
    public function testMessagesAreHandledOneAfterTheOther(): void
    {
        $app = $this->plans();
        self::assertTrue($app->get(Plan::class)->addMessage(new Plain(1))->addMessage(new Locked(2))->addMessage(new Plain(3))->send());
        self::assertSame([1, 0], [$app->waiting('a'), $app->waiting('b')]);
        $app->work('a');
        $app->work('b');
        $app->work('a');

        self::assertSame(['Plain 1', 'Locked 2', 'Plain 3'], $app->handler->handled);
    }

    public function testADelayIsThatOfTheFirstOne(): void
    {
        $app = $this->plans();
        $app->get(Plan::class)->delay(2.5)->addMessage(new Plain(1))->addMessage(new Plain(2))->send();
        self::assertSame(2500, $app->transport('a')->getSent()[0]->last(DelayStamp::class)?->getDelay());
        $app->work('a');
        self::assertSame([], $app->handler->handled);
        $app->clock->sleep(3);
        $app->work('a');

        self::assertSame(['Plain 1', 'Plain 2'], $app->handler->handled);
    }

    public function testALockLastsUntilTheLastOneWasHandled(): void
    {
        $app = $this->plans();
        $plan = $app->get(Plan::class);
        $send = static fn (int $id): bool => $plan->key('k')->lock()->addMessage(new Plain($id))->addMessage(new Locked($id))->send();
        self::assertTrue($send(1));
        self::assertFalse($send(2));
        $app->work('a');
        self::assertSame(['Plain 1'], $app->handler->handled);
        self::assertFalse($send(3));
        self::assertTrue($plan->key('other')->lock()->addMessage(new Plain(4))->send());
        $app->work('b');
        self::assertSame(['Plain 1', 'Locked 1'], $app->handler->handled);

        self::assertTrue($app->isFree('once.k'));
        self::assertTrue($send(5));
    }

    public function testALockEndsWithAStepThatHasFailedForGood(): void
    {
        $app = $this->plans();
        $app->get(Plan::class)->key('k')->lock()->addMessage(new Plain(1))->addMessage(new Locked(2))->addMessage(new Plain(3))->send();
        $app->handler->does[Locked::class] = static fn () => throw new UnrecoverableMessageHandlingException('never');
        $app->work('a');
        self::assertFalse($app->isFree('once.k'));
        $app->work('b');

        self::assertTrue($app->isFree('once.k'));
        self::assertSame(['Plain 1', 'Locked 2'], $app->handler->handled);
    }

    public function testALockEndsWithAStepThatIsSkipped(): void
    {
        $app = $this->plans();
        $plan = $app->get(Plan::class);
        $plan->key('k')->lock()->ifNewer(1)->addMessage(new Plain(1))->addMessage(new Locked(2))->addMessage(new Plain(3))->send();
        $app->work('a');
        self::assertTrue($plan->key('k')->ifNewer(2)->addMessage(new Plain(4))->send());
        self::assertFalse($app->isFree('once.k'));
        $app->work('b');

        self::assertSame(['Plain 1'], $app->handler->handled);
        self::assertTrue($app->isFree('once.k'));
    }

    public function testALockEndsWithAStepThatIsSkippedAtItsDispatch(): void
    {
        $app = $this->plans();
        $plan = $app->get(Plan::class);
        $app->handler->does[Plain::class] = static function (Plain $message) use ($plan): void {
            if ($message->id === 1) {
                $plan->key('k')->ifNewer(2)->addMessage(new Plain(4))->send();
            }
        };
        $plan->key('k')->lock()->ifNewer(1)->addMessage(new Plain(1))->addMessage(new Locked(2))->addMessage(new Plain(3))->send();
        $app->work('a', 1);

        self::assertSame(0, $app->waiting('b'));
        self::assertTrue($app->isFree('once.k'));
    }

    public function testADateIsTheVersionThatItIsInARule(): void
    {
        $app = $this->plans();
        $send = static fn (string $date): bool => $app->get(Plan::class)
            ->key('k')->ifNewer(new \DateTimeImmutable($date))->addMessage(new Plain($date))->send();
        self::assertTrue($send('2026-01-01 00:00:00.000005 UTC'));
        self::assertFalse($send('2026-01-01 00:00:00.000004 UTC'));
        self::assertTrue($send('2026-01-01 00:00:00.000006 UTC'));

        self::assertSame('1767225600000006', $app->sync()->createVersion('k')->get());
    }

    /** The chain has one lock, that of the first step. */
    public function testALockOfAFurtherStepEndsWithTheStep(): void
    {
        $app = $this->plans();
        $second = new Envelope(new Locked(2), [new Once('own', 'chain')]);
        $app->get(Plan::class)->key('k')->lock()->addMessage(new Plain(1), $second, new Plain(3))->send();
        $app->work('a');
        self::assertFalse($app->isFree('once.own'));
        $app->work('b');
        self::assertSame([1, true, false], [$app->waiting('a'), $app->isFree('once.own'), $app->isFree('once.k')]);
        $app->work('a');

        self::assertTrue($app->isFree('once.k'));
    }

    public function testWithoutATransportALockLastsAsLong(): void
    {
        $app = $this->app();
        $free = [];
        $app->handler->does[Plain::class] = static function () use ($app, &$free): void {
            $free[] = $app->isFree('once.k');
        };
        $app->get(Plan::class)->key('k')->lock()->addMessage(new Plain(1))->addMessage(new Plain(2))->addMessage(new Plain(3))->send();

        self::assertSame([false, false, false], $free);
        self::assertTrue($app->isFree('once.k'));
    }

    public function testParallelOnesAreAllSent(): void
    {
        $app = $this->plans();
        $plan = $app->get(Plan::class)->delay(1.0)->parallel();
        foreach ([1, 2, 3] as $id) {
            $plan->addMessage(new Plain($id));
        }
        self::assertTrue($plan->send());

        self::assertSame(3, $app->waiting('a'));
        self::assertSame(1000, $app->transport('a')->getSent()[2]->last(DelayStamp::class)?->getDelay());
    }

    public function testOneComesAfterThem(): void
    {
        $app = $this->plans();
        $plan = $app->get(Plan::class);
        $send = static fn (): bool => $plan->key('k')->lock()->parallel()
            ->addMessage(new Plain(1))->addMessage(new Plain(2))->after(new Locked(3))->send();
        self::assertTrue($send());
        self::assertFalse($send());
        self::assertSame([2, 0], [$app->waiting('a'), $app->waiting('b')]);
        $app->work('a');
        self::assertSame([0, 1], [$app->waiting('a'), $app->waiting('b')]);
        self::assertFalse($send());
        $app->work('b');

        self::assertSame(['Plain 1', 'Plain 2', 'Locked 3'], $app->handler->handled);
        self::assertTrue($send());
    }

    public function testAlsoWhenOneHasFailed(): void
    {
        $app = $this->plans();
        $app->handler->does[Plain::class] = static fn () => throw new UnrecoverableMessageHandlingException('never');
        $app->get(Plan::class)->parallel()->addMessage(new Plain(1))->after(new Locked(3))->allowFailures()->send();
        $app->work('a');

        self::assertSame([0], $app->transport('b')->getSent()[0]->last(PartsFailedStamp::class)?->parts);
    }

    /**
     * @param \Closure(Plan): Plan $plan
     * @param list<string>         $handled
     */
    #[DataProvider('plansOfAVersion')]
    public function testANewerPlanTakesThePlaceOfAnOlderOne(\Closure $plan, array $handled): void
    {
        $app = $this->plans();
        $send = static fn (int $version): bool => $plan($app->get(Plan::class)->key('k')->ifNewer($version))->send();
        self::assertTrue($send(10));
        self::assertFalse($send(10));
        $sent = $app->waiting('a') + $app->waiting('b');
        self::assertTrue($send(11));
        self::assertFalse($send(9));
        self::assertLessThanOrEqual(2 * $sent, $app->waiting('a') + $app->waiting('b'));
        for ($i = 0; $i < 3; $i++) {
            $app->work('a');
            $app->work('b');
        }

        self::assertSame($handled, $app->handler->handled);
    }

    /**
     * @return iterable<string, array{\Closure(Plan): Plan, list<string>}>
     */
    public static function plansOfAVersion(): iterable
    {
        $two = static fn (Plan $plan): Plan => $plan->addMessage(new Plain(1))->addMessage(new Plain(2));
        yield 'one after the other' => [$two, ['Plain 1', 'Plain 2']];
        yield 'in order' => [static fn (Plan $plan): Plan => $two($plan)->ordered(), ['Plain 1', 'Plain 2']];
        yield 'parallel' => [static fn (Plan $plan): Plan => $two($plan)->parallel(), ['Plain 1', 'Plain 2']];
        yield 'with one after them' => [
            static fn (Plan $plan): Plan => $two($plan)->parallel()->after(new Locked(3)),
            ['Plain 1', 'Plain 2', 'Locked 3'],
        ];
    }

    public function testOrderedOnesAreInOrderWithThoseOfOtherPlans(): void
    {
        $app = $this->plans();
        $plan = $app->get(Plan::class);
        $plan->key('k')->ordered()->addMessage(new Plain(1))->addMessage(new Locked(2))->send();
        $plan->key('k')->ordered()->addMessage(new Plain(3))->send();
        self::assertSame([1, 0], [$app->waiting('a'), $app->waiting('b')]);
        $app->work('a');
        $app->work('b');
        $app->work('a');

        self::assertSame(['Plain 1', 'Locked 2', 'Plain 3'], $app->handler->handled);
    }

    public function testKeysAreTemplates(): void
    {
        $app = $this->plans();
        $app->get(Plan::class)->key('plain-{id}')->lock()->addMessage(new Plain(7))->send();

        self::assertFalse($app->isFree('once.plain-7'));
    }

    /**
     * @param \Closure(Plan): mixed $make
     */
    #[DataProvider('mistakes')]
    public function testWhatIsMissingIsNamedAndThePlanForgotten(\Closure $make, string $message): void
    {
        $app = $this->plans();
        $plan = $app->get(Plan::class);
        $make($plan);
        $e = $this->assertThrows(\LogicException::class, static fn () => $plan->send());
        self::assertSame(Plan::class . ": $message", $e->getMessage());
        $e = $this->assertThrows(\LogicException::class, static fn () => $plan->send());

        self::assertSame(Plan::class . ': There is no message: call addMessage() before send().', $e->getMessage());
        self::assertSame(0, $app->waiting('a') + $app->waiting('b'));
    }

    /**
     * @return iterable<string, array{\Closure(Plan): mixed, string}>
     */
    public static function mistakes(): iterable
    {
        $one = static fn (Plan $plan): Plan => $plan->addMessage(new Plain(1));
        $two = static fn (Plan $plan): Plan => $one($plan)->addMessage(new Plain(2));
        yield 'no message' => [static fn (Plan $plan) => $plan->key('k')->lock(), 'There is no message: call addMessage() before send().'];
        yield 'lock' => [static fn (Plan $plan) => $one($plan)->lock(), 'There is no key, which lock() needs: call key() before send().'];
        yield 'version' => [static fn (Plan $plan) => $one($plan)->ifNewer(1), 'There is no key, which ifNewer() needs: call key() before send().'];
        yield 'order' => [static fn (Plan $plan) => $one($plan)->ordered(), 'There is no key, which ordered() needs: call key() before send().'];
        yield 'after one' => [
            static fn (Plan $plan) => $one($plan)->after(new Plain(2)),
            'after() needs parallel(). Without it, add the message as the last one.',
        ];
        yield 'failures' => [static fn (Plan $plan) => $one($plan)->parallel()->allowFailures(), 'allowFailures() needs after().'];
        yield 'order of parallel ones' => [
            static fn (Plan $plan) => $two($plan)->key('k')->parallel()->ordered(),
            'ordered() and parallel() do not go together.',
        ];
        yield 'lock of parallel ones' => [
            static fn (Plan $plan) => $two($plan)->key('k')->parallel()->lock(),
            'lock() with parallel() needs after(), whose end frees the key.',
        ];
        yield 'lock of ordered ones' => [
            static fn (Plan $plan) => $two($plan)->key('k')->ordered()->lock(),
            'lock() with ordered() is for one message.',
        ];
    }

    public function testThePlanIsForgottenWhenItCannotBeSent(): void
    {
        $app = $this->plans();
        $plan = $app->get(Plan::class);
        $refuse = static fn () => throw new \RuntimeException('The transport is away.');
        $app->dispatcher()->addListener(SendMessageToTransportsEvent::class, $refuse);
        $this->assertThrows(
            \RuntimeException::class,
            static fn () => $plan->key('k')->lock()->ifNewer(5)->delay(9.0)->addMessage(new Plain(1))->addMessage(new Plain(2))->send(),
        );
        $app->dispatcher()->removeListener(SendMessageToTransportsEvent::class, $refuse);
        self::assertTrue($app->isFree('once.k'));
        self::assertTrue($plan->addMessage(new Plain(3))->send());
        $app->work('a');

        self::assertSame(['Plain 3'], $app->handler->handled);
    }

    public function testAHandlerMayMakeAPlanWhileOneIsSent(): void
    {
        $app = $this->app([Locked::class => 'b']);
        $plan = $app->get(Plan::class);
        $app->handler->does[Plain::class] = static fn () => $plan->addMessage(new Locked(9))->send();
        $plan->parallel()->addMessage(new Plain(1))->addMessage(new Plain(2))->send();

        self::assertSame(['Plain 1', 'Plain 2'], $app->handler->handled);
        self::assertSame(2, $app->waiting('b'));
    }

    public function testMessagesMayHaveStamps(): void
    {
        $app = $this->plans();
        $app->get(Plan::class)->parallel()->addMessage(new Envelope(new Plain(1), [new DelayStamp(700)]))->send();

        self::assertSame(700, $app->transport('a')->getSent()[0]->last(DelayStamp::class)?->getDelay());
    }

    public function testTheExamplesOfItsPageWork(): void
    {
        preg_match('/^```php\n(.*?)^```/ms', (string) file_get_contents(\dirname(__DIR__) . '/docs/plan.md'), $block);
        $namespace = __NAMESPACE__ . '\\PlanPage';
        eval("namespace $namespace;\n$block[1]");
        $app = $this->plans();
        $plan = $app->get(Plan::class);
        $call = static fn (string $function, mixed ...$arguments): bool => ("$namespace\\$function")($plan, ...$arguments);
        self::assertTrue($call('import', 7, [new Plain(1), new Plain(2)], new Locked('report')));
        self::assertFalse($call('import', 7, [new Plain(1), new Plain(2)], new Locked('report')));
        self::assertTrue($call('ship', 7, new Plain('pack'), new Plain('label'), new Locked('hand')));
        self::assertTrue($call('rename', 7, 10, new Plain('name')));
        self::assertFalse($call('rename', 7, 10, new Plain('name')));
        self::assertTrue($call('change', 7, new Plain('change'), new Plain('index')));
        $app->workAll('a');
        $app->workAll('b');

        self::assertSame(
            ['Plain 1', 'Plain 2', 'Plain pack', 'Plain change', 'Plain label', 'Plain index', 'Plain name', 'Locked report', 'Locked hand'],
            $app->handler->handled,
        );
    }

    private function plans(): App
    {
        return $this->app([Plain::class => 'a', Locked::class => 'b']);
    }
}
