/*
 * Drop-in mode: files that declare a class which Latch has registered already.
 *
 * A container that Symfony has compiled without Latch (in every dev environment, and in prod with
 * `container.dumper.inline_class_loader`) includes the files of its classes without checking
 * whether they exist. So do preloading scripts. PHP would end with "Cannot declare class …, because
 * the name is already in use".
 *
 * Hook: zend_ast_process, called once for each compiled script, between the parser and the
 * compiler. Removes the declarations of Latch's classes from the tree; the rest of the file is
 * compiled as it is. Parse errors, the file's return value and get_included_files() stay PHP's. Why
 * not zend_compile_file: opcache, phar and debuggers replace that function, some without a call of
 * the earlier one, and it would have to read and parse the file a second time.
 *
 * opcache caches the compiled rest. Its shared memory belongs to one server, which has one php.ini;
 * its file cache has a folder for each system id, which includes the presence of the hook. Latch
 * adds the class names: another version may have other classes.
 */
#include "ext/module/module.h"

#include "ext/key/key.h"

#include "zend_compile.h"
#include "zend_system_id.h"

static zend_ast_process_t ast_process_before;

static bool is_own_class(const zend_class_entry *ce)
{
    return ce->type == ZEND_INTERNAL_CLASS
           && ce->info.internal.module == php_latch_key_ce->info.internal.module;
}

/* Has Latch registered a class of that name in that namespace, which may be NULL? */
static bool is_registered(zend_string *space, zend_string *name)
{
    zend_string *full = space == NULL ? zend_string_copy(name)
                                      : zend_string_concat3(ZSTR_VAL(space), ZSTR_LEN(space), "\\",
                                                            1, ZSTR_VAL(name), ZSTR_LEN(name));
    zend_class_entry *ce = zend_hash_find_ptr_lc(CG(class_table), full);
    /* An alias in Latch's namespace has another name, and no package declares it. */
    bool is_ours = ce != NULL && is_own_class(ce) && zend_string_equals_ci(ce->name, full);

    zend_string_release(full);
    return is_ours;
}

/* `space` is the namespace of what follows: `namespace X;` and its statements are siblings. */
static void remove_declarations(zend_ast *ast, zend_string **space)
{
    zend_ast_list *statements = zend_ast_get_list(ast);

    for (uint32_t at = 0; at < statements->children; at++) {
        zend_ast *statement = statements->child[at];

        if (statement == NULL) {
            continue;
        }
        if (statement->kind == ZEND_AST_NAMESPACE) {
            *space = statement->child[0] == NULL ? NULL : zend_ast_get_str(statement->child[0]);
            if (statement->child[1] != NULL) {
                remove_declarations(statement->child[1], space);
            }
        } else if (statement->kind == ZEND_AST_STMT_LIST) {
            remove_declarations(statement, space);
        } else if (statement->kind == ZEND_AST_CLASS
                   && is_registered(*space, ((zend_ast_decl *) statement)->name)) {
            zend_ast_destroy(statement);
            statements->child[at] = NULL;
        }
    }
}

static void process_ast(zend_ast *ast)
{
    zend_string *space = NULL;

    /* Not for eval(), which is no file: there PHP's own error names the declaration. */
    if (CG(active_op_array)->type == ZEND_USER_FUNCTION) {
        remove_declarations(ast, &space);
    }
    if (ast_process_before != NULL) {
        ast_process_before(ast);
    }
}

void php_latch_drop_in_startup(void)
{
    zend_class_entry *ce;

    if (!LATCH_G(symfony) && !LATCH_G(symfony_semaphore)) {
        return;
    }
    ZEND_HASH_FOREACH_PTR(CG(class_table), ce) {
        /* Fails for dl(), which comes too late: files compiled then must not go into a file
           cache. */
        if (is_own_class(ce)
            && zend_add_system_entropy("latch", "zend_ast_process", ZSTR_VAL(ce->name),
                                       ZSTR_LEN(ce->name))
                   == FAILURE) {
            return;
        }
    }
    ZEND_HASH_FOREACH_END();
    ast_process_before = zend_ast_process;
    zend_ast_process = process_ast;
}

void php_latch_drop_in_shutdown(void)
{
    if (zend_ast_process == process_ast) {
        zend_ast_process = ast_process_before;
    }
}
