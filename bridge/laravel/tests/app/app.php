<?php

/**
 * bootstrap/app.php of the application.
 */

declare(strict_types=1);

use Illuminate\Foundation\Application;

return Application::configure(basePath: dirname(__DIR__))->create();
