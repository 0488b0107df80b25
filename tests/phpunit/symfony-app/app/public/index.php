<?php

declare(strict_types=1);

use App\Kernel;
use Symfony\Component\ErrorHandler\Debug;
use Symfony\Component\HttpFoundation\Request;

require dirname(__DIR__) . '/vendor/autoload.php';

$_SERVER += getenv(); // as FPM has it; PHP's own web server leaves the environment out
$debug = ($_SERVER['APP_DEBUG'] ?? '0') === '1';
if ($debug) {
    Debug::enable();
}
$kernel = new Kernel($_SERVER['APP_ENV'] ?? 'prod', $debug);
$request = Request::createFromGlobals();
$response = $kernel->handle($request);
$response->send();
$kernel->terminate($request, $response);
