<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

/** What becomes of a message that is refused its lock. */
enum OnConflict: string
{
    /** It is sent to its transport again, as often as it takes. Without a transport: an exception. */
    case Requeue = 'requeue';
    /** It is not handled. */
    case Skip = 'skip';
    /** It fails, as by any exception of a handler. */
    case Fail = 'fail';
}
