/* Answers of Redis client objects, in the form of the engine. */
#include "ext/store/redis/call.h"

void php_latch_copy_text(char *copy, size_t size, const zval *text)
{
    snprintf(copy, size, "%s", Z_TYPE_P(text) == IS_STRING ? Z_STRVAL_P(text) : "");
}

void php_latch_redis_call_typed(zend_object *object, const char *method, zval *argument, int type,
                                zval *answer)
{
    php_latch_call_method(object, method, answer, argument != NULL ? 1 : 0, argument);
    if (Z_TYPE_P(answer) != type) {
        zval_ptr_dtor(answer);
        ZVAL_UNDEF(answer);
    }
}

bool php_latch_is_a(zend_object *object, const char *lower_name)
{
    zend_class_entry *ce = php_latch_find_class(lower_name);

    return ce != NULL && instanceof_function(object->ce, ce);
}

bool php_latch_is_predis_error(zend_object *object)
{
    return php_latch_is_a(object, "predis\\response\\errorinterface");
}

void php_latch_redis_set_error(latch_redis_answer *answer, const zval *text)
{
    answer->kind = LATCH_REDIS_ERROR;
    php_latch_copy_text(answer->text, sizeof(answer->text), text);
}

/* A list of byte strings, as of versions, throttles and count-downs. */
static void parse_texts(latch_redis_answer *answer, HashTable *list)
{
    zval *text;
    size_t bytes = 0;

    ZEND_HASH_FOREACH_VAL(list, text)
    {
        if (Z_TYPE_P(text) != IS_STRING) {
            return;
        }
        bytes += Z_STRLEN_P(text);
    }
    ZEND_HASH_FOREACH_END();
    answer->list = latch_answer_make(php_latch_engine, zend_hash_num_elements(list), bytes);
    if (answer->list == NULL) {
        return;
    }
    ZEND_HASH_FOREACH_VAL(list, text)
    {
        latch_answer_add(answer->list, Z_STRVAL_P(text), Z_STRLEN_P(text));
    }
    ZEND_HASH_FOREACH_END();
    answer->kind = LATCH_REDIS_LIST;
}

static void parse_list(latch_redis_answer *answer, HashTable *list)
{
    const zval *first = zend_hash_index_find(list, 0);

    answer->kind = LATCH_REDIS_UNEXPECTED;
    if (first == NULL || Z_TYPE_P(first) == IS_STRING) {
        parse_texts(answer, list);
        return;
    }
    answer->kind = zend_hash_num_elements(list) == 2 ? LATCH_REDIS_PAIR : LATCH_REDIS_UNEXPECTED;
    for (size_t at = 0; at < 2; at++) {
        const zval *number = zend_hash_index_find(list, at);

        if (number != NULL && Z_TYPE_P(number) == IS_LONG) {
            answer->integers[at] = Z_LVAL_P(number);
        } else {
            answer->kind = LATCH_REDIS_UNEXPECTED;
        }
    }
}

/* Predis's: errors where it was told not to throw them, and "QUEUED". */
static void parse_object(php_latch_redis_call *call, zend_object *object)
{
    zval text;

    if (php_latch_is_predis_error(object)) {
        php_latch_redis_call_typed(object, "getmessage", NULL, IS_STRING, &text);
        php_latch_redis_set_error(call->answer, &text);
        zval_ptr_dtor(&text);
    } else {
        call->is_queued = php_latch_is_a(object, "predis\\response\\status");
    }
}

void php_latch_redis_parse_answer(php_latch_redis_call *call, const zval *value)
{
    latch_redis_answer *answer = call->answer;

    answer->kind = LATCH_REDIS_UNEXPECTED;
    switch (Z_TYPE_P(value)) {
        case IS_NULL:
        case IS_FALSE:
            answer->kind = LATCH_REDIS_NIL;
            break;
        case IS_LONG:
            answer->kind = LATCH_REDIS_INTEGER;
            answer->integers[0] = Z_LVAL_P(value);
            break;
        case IS_STRING:
            answer->kind = LATCH_REDIS_TEXT;
            php_latch_copy_text(answer->text, sizeof(answer->text), value);
            break;
        case IS_ARRAY:
            parse_list(answer, Z_ARRVAL_P(value));
            break;
        case IS_OBJECT:
            parse_object(call, Z_OBJ_P(value));
            break;
        case IS_TRUE: /* phpredis: a status. No script of ours answers with one. */
            call->is_queued = true;
            break;
        default:
            break;
    }
}

/* Servers begin with a code: "ERR no such key"; phpredis has errors of its own, too: "Connection
 * refused". */
static bool is_servers(const char *text)
{
    size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

    return length > 1 && text[length] == ' ';
}

bool php_latch_redis_read_last_error(php_latch_redis_call *call)
{
    zval text;

    php_latch_redis_call_typed(call->node, "getlasterror", NULL, IS_STRING, &text);
    if (Z_ISUNDEF(text)) {
        return false;
    }
    if (is_servers(Z_STRVAL(text))) {
        php_latch_redis_set_error(call->answer, &text);
    } else {
        php_latch_copy_text(call->failure, sizeof(call->failure), &text);
    }
    zval_ptr_dtor(&text);
    return true;
}
