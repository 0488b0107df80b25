<?php

declare(strict_types=1);

namespace App\Controller;

use App\Message\CountStock;
use App\Message\OpenAccount;
use App\Message\PublishArticle;
use App\Message\SendInvoice;
use App\Messenger\KeyStamp;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpKernel\Attribute\AsController;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Messenger\Exception\HandlerFailedException;
use Symfony\Component\Messenger\MessageBusInterface;
use Symfony\Component\Messenger\Stamp\DeduplicateStamp;
use Symfony\Component\Messenger\Stamp\SentStamp;
use Symfony\Component\Routing\Attribute\Route;

#[AsController]
final class ShopController
{
    public function __construct(
        private readonly MessageBusInterface $bus,
        private readonly LockFactory $factory,
    ) {
    }

    #[Route('/invoices/{invoice}/send', methods: 'POST')]
    public function sendInvoice(string $invoice): Response
    {
        $envelope = $this->bus->dispatch(new SendInvoice($invoice), [new DeduplicateStamp("invoice-$invoice", 60.0)]);

        return $envelope->last(SentStamp::class) === null
            ? new Response("Invoice $invoice is on its way.", Response::HTTP_CONFLICT)
            : new Response("Invoice $invoice will be sent.", Response::HTTP_ACCEPTED);
    }

    #[Route('/articles/{article}/publish', methods: 'POST')]
    public function publish(string $article): Response
    {
        $key = new Key("article-$article");
        if (!$this->factory->createLockFromKey($key, 60.0, false)->acquire()) {
            return new Response("Article $article is being published.", Response::HTTP_LOCKED);
        }
        $this->bus->dispatch(new PublishArticle($article), [new KeyStamp($key)]);

        return new Response("Article $article will be published.", Response::HTTP_ACCEPTED);
    }

    #[Route('/warehouses/{warehouse}/count/{shelves}', methods: 'POST')]
    public function count(string $warehouse, int $shelves): Response
    {
        $this->bus->dispatch(new CountStock($warehouse, $shelves));

        return new Response("Warehouse $warehouse is counted.");
    }

    #[Route('/accounts/{owner}', methods: 'POST')]
    public function open(string $owner): Response
    {
        try {
            $this->bus->dispatch(new OpenAccount($owner));
        } catch (HandlerFailedException $e) {
            return new Response((string) $e->getPrevious()?->getMessage(), Response::HTTP_UNPROCESSABLE_ENTITY);
        }

        return new Response("$owner has an account.", Response::HTTP_CREATED);
    }
}
