dnl Latch: locks for PHP. See README.md.

PHP_ARG_ENABLE([latch],
  [whether to enable Latch],
  [AS_HELP_STRING([--enable-latch], [Enable Latch: locks])])

dnl LATCH_FIND_LIBRARY(name, NAME, what, library, pkg-config module, with its oldest version if any)
dnl The option --with-latch-name; the library's version in latch_found_name if it is to be used.
AC_DEFUN([LATCH_FIND_LIBRARY], [
  PHP_ARG_WITH([latch-$1],
    [for Latch: $3],
    [AS_HELP_STRING([--with-latch-$1], [Latch: $3, needs $4 (yes, no or auto)])],
    [auto],
    [no])
  latch_found_$1=
  if test "$PHP_LATCH_$2" != no; then
    AC_PATH_PROG([PKG_CONFIG], [pkg-config], [no])
    AC_MSG_CHECKING([for $5])
    if test "$PKG_CONFIG" != no && $PKG_CONFIG --exists "$5"; then
      latch_found_$1=`$PKG_CONFIG --modversion "$5"`
      AC_MSG_RESULT([$latch_found_$1])
    else
      AC_MSG_RESULT([no])
      if test "$PHP_LATCH_$2" = yes; then
        AC_MSG_ERROR([--with-latch-$1 needs $4; install its development package so that pkg-config --exists "$5" succeeds, or leave the option out])
      fi
    fi
  fi
])

dnl LATCH_FIND_FILE(NAME, library, pkg-config module, function, name of the file without ".so")
dnl The file that is opened at run time, in -DLATCH_<NAME>_FILE: the soname that the linker finds, with the folder before
dnl it that was named to the linker (-L), unless it is a system's own: the program would not search it.
AC_DEFUN([LATCH_FIND_FILE], [
  AC_CHECK_TOOLS([LATCH_READELF], [readelf llvm-readelf eu-readelf objdump])
  AC_MSG_CHECKING([for the shared library of $2])
  latch_libs=`$PKG_CONFIG --libs "$3"`
  latch_file=
  latch_saved_libs=$LIBS
  LIBS="$latch_libs $LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[char $4(void);]], [[return $4();]])], [
    case $LATCH_READELF in
      *objdump) latch_needed=`$LATCH_READELF -p conftest$ac_exeext`;;
      *readelf) latch_needed=`$LATCH_READELF -d conftest$ac_exeext`;;
    esac
    latch_file=`echo "$latch_needed" | $SED -n ['s/^.*NEEDED.*[[ ]\($5\.so[^] ]*\).*$/\1/p'] | head -n 1`
  ])
  LIBS=$latch_saved_libs
  if test -z "$latch_file"; then
    AC_MSG_RESULT([no])
    AC_MSG_ERROR([$2 was found by pkg-config --exists "$3", but config.log tells that no program can be linked with its shared library, or that there is no readelf (binutils) to read its name; mend that, or build Latch without it])
  fi
  for latch_flag in $latch_libs $LDFLAGS; do
    case $latch_flag in
      -L?*)
        latch_folder=`echo "$latch_flag" | $SED 's/^-L//'`
        latch_folder=`cd "$latch_folder" 2>/dev/null && pwd`
        if test -n "$latch_folder" && test -e "$latch_folder/$latch_file"; then
          case $latch_folder in
            /lib|/lib64|/usr/lib|/usr/lib64|/lib/*-linux-*|/usr/lib/*-linux-*) ;;
            *) latch_file=$latch_folder/$latch_file;;
          esac
          break
        fi
        ;;
    esac
  done
  AC_MSG_RESULT([$latch_file])
  latch_backend_flags="$latch_backend_flags -DLATCH_$1_FILE='\"$latch_file\"'"
])

dnl LATCH_BACKEND(name, NAME, what, library, pkg-config module, sources, FILE, function, file)
dnl A back end whose library is optional: "auto" takes it where it is found, "yes" insists, "no" does
dnl without. The last three go to LATCH_FIND_FILE.
AC_DEFUN([LATCH_BACKEND], [
  LATCH_FIND_LIBRARY([$1], [$2], [$3], [$4], [$5])
  if test "$PHP_LATCH_$2" = no; then
    latch_summary="$latch_summary
    $1: switched off"
  elif test -n "$latch_found_$1"; then
    latch_summary="$latch_summary
    $1: yes ($4 $latch_found_$1)"
    latch_backend_flags="$latch_backend_flags -DLATCH_WITH_$2=1 -DLATCH_$7_VERSION='\"$latch_found_$1\"'"
    latch_backend_sources="$latch_backend_sources $6"
    PHP_EVAL_INCLINE([`$PKG_CONFIG --cflags-only-I "$5"`])
    LATCH_FIND_FILE([$7], [$4], [$5], [$8], [$9])
  else
    latch_summary="$latch_summary
    $1: no, as $4 was not found (the development package of it, and pkg-config)"
  fi
])

if test "$PHP_LATCH" != no; then
  latch_summary="
  Latch's stores:
    flock: yes
    in-memory: yes
    null: yes
    semaphore: yes"

  LATCH_BACKEND([redis], [REDIS], [Redis], [hiredis], [hiredis], m4_normalize([
      src/store/redis/function/function.c
      src/store/redis/lock/client_object.c
      src/store/redis/lock/inspect.c
      src/store/redis/lock/pending_release.c
      src/store/redis/lock/quorum_probe.c
      src/store/redis/lock/request.c
      src/store/redis/lock/rollback.c
      src/store/redis/lock/store.c
      src/store/redis/lock/subscription.c
      src/store/redis/lock/token.c
      src/store/redis/lock/wait.c
      src/store/redis/options/options.c
      src/store/redis/options/slot.c
      src/store/redis/options/table.c
      src/store/redis/options/tls.c
      src/store/redis/script/errors.c
      src/store/redis/script/function.c
      src/store/redis/script/holder_record.c
      src/store/redis/script/keys.c
      src/store/redis/script/layout.c
      src/store/redis/script/reply.c
      src/store/redis/script/report.c
      src/store/redis/script/script.c
      src/store/redis/topology/breaker.c
      src/store/redis/topology/cluster.c
      src/store/redis/topology/route.c
      src/store/redis/topology/sentinel.c
      src/store/redis/topology/server.c
      src/store/redis/wire/connection.c
      src/store/redis/wire/handshake.c
      src/store/redis/wire/library.c
      src/store/redis/wire/pipeline.c
    ]), [HIREDIS], [redisConnectFd], [libhiredis])
  if test -n "$latch_found_redis"; then
    LATCH_BACKEND([openssl], [OPENSSL], [TLS for Redis], [OpenSSL], [openssl >= 1.1.1], m4_normalize([
        src/store/redis/wire/tls.c
        src/store/redis/wire/tls_context.c
        src/store/redis/wire/tls_library.c
      ]), [OPENSSL], [SSL_new], [libssl])
  fi
  LATCH_BACKEND([pgsql], [PGSQL], [PostgreSQL], [libpq], [libpq], m4_normalize([
      src/store/sql/postgresql/connection.c
      src/store/sql/postgresql/driver.c
      src/store/sql/postgresql/library.c
      src/store/sql/postgresql/options.c
      src/store/sql/postgresql/prepared.c
    ]), [LIBPQ], [PQconnectPoll], [libpq])
  LATCH_BACKEND([mysql], [MYSQL], [MySQL and MariaDB], [libmariadb], [libmariadb], m4_normalize([
      src/store/sql/mysql/call.c
      src/store/sql/mysql/connection.c
      src/store/sql/mysql/driver.c
      src/store/sql/mysql/library.c
      src/store/sql/mysql/options.c
      src/store/sql/mysql/prepared.c
      src/store/sql/mysql/tls_handshake.c
    ]), [LIBMARIADB], [mysql_init], [libmariadb])
  LATCH_BACKEND([sqlite], [SQLITE], [SQLite], [libsqlite3], [sqlite3 >= 3.24.0], m4_normalize([
      src/store/sql/sqlite/database.c
      src/store/sql/sqlite/driver.c
      src/store/sql/sqlite/failure.c
      src/store/sql/sqlite/library.c
      src/store/sql/sqlite/options.c
    ]), [SQLITE], [sqlite3_open_v2], [libsqlite3])

  AC_SEARCH_LIBS([pthread_atfork], [pthread])
  AC_CHECK_FUNCS([ppoll eventfd getrandom pthread_atfork], [], [
    AC_MSG_ERROR([Latch needs Linux: ppoll(), eventfd(), getrandom() and pthread_atfork()])
  ])

  dnl -MP: a header that is renamed stops no build in a tree that was built before.
  LATCH_CFLAGS="-std=gnu11 -MP -D_GNU_SOURCE -fvisibility=hidden -Wall -Wextra -Wshadow -Wno-unused-parameter"

  dnl Engine and glue are separate files, but one hot path: a third less time when linked as one. GCC's
  dnl linker does it by itself; clang's objects would need another linker than libtool calls.
  AC_MSG_CHECKING([whether $CC links with -flto])
  dnl Developers say -fno-lto in CFLAGS (tools/dev).
  latch_cflags=$CFLAGS
  CFLAGS="$CFLAGS -flto"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#ifdef __clang__
#error clang
#endif
]])], [latch_lto=yes], [latch_lto=no])
  case " $latch_cflags " in
    *" -fno-lto "*) latch_lto=no;;
  esac
  AC_MSG_RESULT([$latch_lto])
  if test $latch_lto = yes; then
    LATCH_CFLAGS="$LATCH_CFLAGS -flto"
  fi
  CFLAGS=$latch_cflags

  PHP_NEW_EXTENSION([latch], m4_normalize([
      ext/key/backend.c
      ext/key/forms.c
      ext/key/key.c
      ext/key/lease.c
      ext/key/mailbox.c
      ext/key/permits.c
      ext/key/renewed_lease.c
      ext/lock/deadlock.c
      ext/lock/keep_alive.c
      ext/lock/lifecycle.c
      ext/lock/lock.c
      ext/lock/lock_factory.c
      ext/lock/lock_store.c
      ext/lock/lost_locks.c
      ext/lock/multi_acquire.c
      ext/lock/multi_lock.c
      ext/lock/no_lock.c
      ext/lock/synchronized.c
      ext/module/drop_in.c
      ext/module/holder_info.c
      ext/module/latch.c
      ext/module/signals.c
      ext/module/stores.c
      ext/php/call.c
      ext/php/client_object.c
      ext/php/digest.c
      ext/php/errors.c
      ext/php/globals.c
      ext/php/interfaces.c
      ext/php/log.c
      ext/php/names.c
      ext/php/poll_loop.c
      ext/php/primitive.c
      ext/php/statistics.c
      ext/semaphore/lock_store.c
      ext/semaphore/semaphore.c
      ext/semaphore/semaphore_exceptions.c
      ext/semaphore/semaphore_key.c
      ext/semaphore/semaphore_stores.c
      ext/semaphore/slot_locks.c
      ext/store/callback_store.c
      ext/store/combined/combined_store.c
      ext/store/combined/leases.c
      ext/store/combined/log.c
      ext/store/combined/members.c
      ext/store/combined/strategies.c
      ext/store/composer_stores.c
      ext/store/engine_store.c
      ext/store/flock_store.c
      ext/store/inspection.c
      ext/store/memory_stores.c
      ext/store/redis/answer.c
      ext/store/redis/client.c
      ext/store/redis/redis_store.c
      ext/store/redis/redis_string_store.c
      ext/store/semaphore_store.c
      ext/store/shared_memory_store.c
      ext/store/sql/connection.c
      ext/store/sql/dbal.c
      ext/store/sql/pdo.c
      ext/store/sql/runner.c
      ext/store/sql/settings.c
      ext/store/sql/stores.c
      ext/store/sql/table_names.c
      ext/store/sql/table_place.c
      ext/store/sql/table_requests.c
      ext/store/sql/table_session.c
      ext/store/sql/table_stores.c
      ext/store/sql/trouble.c
      ext/store/store_factory.c
      ext/store/store_methods.c
      ext/store/unknown_dsn.c
      ext/sync/count_down.c
      ext/sync/debounce.c
      ext/sync/sequence.c
      ext/sync/sync.c
      ext/sync/sync_factory.c
      ext/sync/throttle.c
      ext/sync/version.c
      src/base/base64.c
      src/base/clock.c
      src/base/context.c
      src/base/descriptor.c
      src/base/dsn.c
      src/base/env.c
      src/base/error.c
      src/base/fork_hook.c
      src/base/hash.c
      src/base/library.c
      src/base/resolve.c
      src/base/thread.c
      src/engine.c
      src/engine/answer.c
      src/engine/breaker.c
      src/engine/detached.c
      src/engine/inspection.c
      src/engine/lease.c
      src/engine/op.c
      src/engine/settle.c
      src/engine/store.c
      src/registry.c
      src/renewal/renewal.c
      src/renewal/store_clone.c
      src/renewal/thread.c
      src/renewal/tick.c
      src/store/combined/clone.c
      src/store/combined/combined.c
      src/store/combined/lease.c
      src/store/combined/server_age.c
      src/store/combined/uncertain.c
      src/store/flock/call.c
      src/store/flock/file.c
      src/store/flock/flock.c
      src/store/flock/inspect.c
      src/store/flock/path.c
      src/store/flock/queue.c
      src/store/flock/record.c
      src/store/flock/turn.c
      src/store/flock/wait.c
      src/store/flock/watch.c
      src/store/local/callback.c
      src/store/local/database.c
      src/store/local/memory.c
      src/store/local/memory_calls.c
      src/store/local/memory_count_down.c
      src/store/local/memory_debounce.c
      src/store/local/memory_permits.c
      src/store/local/memory_sequence.c
      src/store/local/memory_text.c
      src/store/local/null.c
      src/store/redis/lock/absent.c
      src/store/semaphore/permit_set.c
      src/store/semaphore/permits.c
      src/store/semaphore/semaphore.c
      src/store/semaphore/semaphore_set.c
      src/store/shm/acquire.c
      src/store/shm/attachment.c
      src/store/shm/deadlock.c
      src/store/shm/digest.c
      src/store/shm/file.c
      src/store/shm/header.c
      src/store/shm/inspect.c
      src/store/shm/life.c
      src/store/shm/options.c
      src/store/shm/protocol/futex.c
      src/store/shm/protocol/grant.c
      src/store/shm/protocol/identity.c
      src/store/shm/protocol/lock.c
      src/store/shm/protocol/table.c
      src/store/shm/protocol/wait.c
      src/store/shm/store.c
      src/store/slots/course.c
      src/store/slots/slot.c
      src/store/slots/slots.c
      src/store/slots/watch.c
      src/store/sql/advisory/advisory.c
      src/store/sql/advisory/failure.c
      src/store/sql/advisory/hold.c
      src/store/sql/advisory/mysql.c
      src/store/sql/advisory/postgresql.c
      src/store/sql/advisory/statement.c
      src/store/sql/dsn.c
      src/store/sql/session/liveness.c
      src/store/sql/session/runner.c
      src/store/sql/session/session.c
      src/store/sql/table/conclusion.c
      src/store/sql/table/inspect.c
      src/store/sql/table/mysql.c
      src/store/sql/table/name.c
      src/store/sql/table/options.c
      src/store/sql/table/postgresql.c
      src/store/sql/table/queue.c
      src/store/sql/table/request.c
      src/store/sql/table/sqlite.c
      src/store/sql/table/statement.c
      src/store/sql/table/store.c
      src/store/sql/table/token.c
    ]) $latch_backend_sources,
    [$ext_shared],,
    [$LATCH_CFLAGS $latch_backend_flags -DZEND_ENABLE_STATIC_TSRMLS_CACHE=1])
  PHP_ADD_BUILD_DIR([$ext_builddir/ext/key])
  PHP_ADD_BUILD_DIR([$ext_builddir/ext/lock])
  PHP_ADD_BUILD_DIR([$ext_builddir/ext/module])
  PHP_ADD_BUILD_DIR([$ext_builddir/ext/php])
  PHP_ADD_BUILD_DIR([$ext_builddir/ext/semaphore])
  PHP_ADD_BUILD_DIR([$ext_builddir/ext/store])
  PHP_ADD_BUILD_DIR([$ext_builddir/ext/store/combined])
  PHP_ADD_BUILD_DIR([$ext_builddir/ext/store/redis])
  PHP_ADD_BUILD_DIR([$ext_builddir/ext/store/sql])
  PHP_ADD_BUILD_DIR([$ext_builddir/ext/sync])
  PHP_ADD_BUILD_DIR([$ext_builddir/src])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/base])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/engine])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/renewal])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store/combined])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store/flock])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store/local])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store/redis/function])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store/redis/lock])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store/redis/options])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store/redis/script])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store/redis/topology])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store/redis/wire])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store/semaphore])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store/shm])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store/shm/protocol])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store/slots])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store/sql])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store/sql/advisory])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store/sql/mysql])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store/sql/postgresql])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store/sql/session])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store/sql/sqlite])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store/sql/table])
  PHP_ADD_INCLUDE([$ext_srcdir])
  PHP_ADD_MAKEFILE_FRAGMENT
  PHP_ADD_LIBRARY([pthread],, [LATCH_SHARED_LIBADD])
  PHP_ADD_LIBRARY([dl],, [LATCH_SHARED_LIBADD])
  PHP_SUBST([LATCH_SHARED_LIBADD])

  AC_CONFIG_COMMANDS([latch-summary], [echo "$latch_summary"], [latch_summary="$latch_summary"])
fi
