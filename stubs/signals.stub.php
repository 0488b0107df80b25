<?php

/** @generate-class-entries */

namespace Latch;

/**
 * The signals that were ignored when PHP was started: bit N - 1 for signal N, as the kernel's SigIgn.
 *
 * PHP replaces them by handlers of its own, so that pcntl cannot tell. A program that passes its signal
 * settings (nohup) on to a program that it starts ignores these signals again before.
 *
 * @var int
 * @cvalue ignored_signals()
 */
const IGNORED_SIGNALS = UNKNOWN;
