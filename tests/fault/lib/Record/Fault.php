<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Record;

/**
 * What is done to workers and to their server; the values are the words of the records.
 */
enum Fault: string
{
    case Kill = 'kill';
    case Stop = 'stop';
    case Continue = 'continue';
    case ScriptFlush = 'script-flush';
    case ClientKill = 'client-kill';
    case ClientPause = 'client-pause';

    public function text(): string
    {
        return match ($this) {
            self::Kill => 'SIGKILL of a worker',
            self::Stop => 'SIGSTOP of a worker',
            self::Continue => 'SIGCONT of a worker',
            self::ScriptFlush => 'SCRIPT FLUSH',
            self::ClientKill => 'CLIENT KILL',
            self::ClientPause => 'CLIENT PAUSE',
        };
    }
}
