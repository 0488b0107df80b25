<?php

/** @generate-class-entries */

namespace Latch;

/**
 * The signals that were ignored when PHP was started: bit N - 1 for signal N, as the kernel's SigIgn.
 *
 * PHP puts handlers of its own in their place, so that pcntl cannot tell. A program that starts
 * another one and wants it to find what it found itself (nohup) ignores these again before.
 *
 * @var int
 * @cvalue ignored_signals()
 */
const IGNORED_SIGNALS = UNKNOWN;
