<?php

declare(strict_types=1);

namespace App\Scheduler;

use App\Message\BuildDigest;
use Symfony\Component\DependencyInjection\Attribute\Target;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Scheduler\Attribute\AsSchedule;
use Symfony\Component\Scheduler\Generator\MessageContext;
use Symfony\Component\Scheduler\RecurringMessage;
use Symfony\Component\Scheduler\Schedule;
use Symfony\Component\Scheduler\ScheduleProviderInterface;
use Symfony\Component\Scheduler\Trigger\CallbackMessageProvider;
use Symfony\Contracts\Cache\CacheInterface;

/**
 * However many workers there are, each digest is built once, and none is left out.
 */
#[AsSchedule('digests')]
final class Digests implements ScheduleProviderInterface
{
    private ?Schedule $schedule = null;

    public function __construct(
        private readonly LockFactory $factory,
        #[Target('cache.schedule')] private readonly CacheInterface $cache,
    ) {
    }

    public function getSchedule(): Schedule
    {
        return $this->schedule ??= (new Schedule())
            ->add(RecurringMessage::trigger(new EveryTick(), new CallbackMessageProvider(
                static fn (MessageContext $context): array => [new BuildDigest($context->triggeredAt->format('Uv'))],
                'digest',
            )))
            ->stateful($this->cache)
            ->lock($this->factory->createLock('digests', 60.0));
    }
}
