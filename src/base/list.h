/* Intrusive circular lists, for the engine and its callers. */
#ifndef LATCH_LINKED_LIST_H
#define LATCH_LINKED_LIST_H

#include <stddef.h>

/* An element's link, or a list's head. */
typedef struct latch_link {
    struct latch_link *previous, *next;
} latch_link;

static inline void latch_list_init(latch_link *head)
{
    head->previous = head->next = head;
}

static inline void latch_list_append(latch_link *head, latch_link *link)
{
    link->previous = head->previous;
    link->next = head;
    head->previous->next = link;
    head->previous = link;
}

static inline void latch_list_remove(latch_link *link)
{
    link->previous->next = link->next;
    link->next->previous = link->previous;
}

#define LATCH_CONTAINER(pointer, type, member)                                                     \
    ((type *) (void *) ((char *) (pointer) -offsetof(type, member)))

#endif
