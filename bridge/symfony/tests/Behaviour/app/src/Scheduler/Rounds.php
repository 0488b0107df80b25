<?php

declare(strict_types=1);

namespace App\Scheduler;

use App\Message\Round;
use Symfony\Component\Scheduler\Attribute\AsSchedule;
use Symfony\Component\Scheduler\RecurringMessage;
use Symfony\Component\Scheduler\Schedule;
use Symfony\Component\Scheduler\ScheduleProviderInterface;

#[AsSchedule('rounds')]
final class Rounds implements ScheduleProviderInterface
{
    private ?Schedule $schedule = null;

    public function getSchedule(): Schedule
    {
        return $this->schedule ??= (new Schedule())->add(RecurringMessage::trigger(new EveryTick(), new Round('round')));
    }
}
