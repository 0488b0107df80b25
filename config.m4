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
      AC_DEFINE_UNQUOTED([LATCH_FOUND_$2], ["$4 $latch_found_$1"], [The library for $3])
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
    latch_backend_flags="$latch_backend_flags -DLATCH_WITH_$2=1"
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
      src/store/redis.c
      src/store/redis_call.c
      src/store/redis_cluster.c
      src/store/redis_connection.c
      src/store/redis_debt.c
      src/store/redis_greeting.c
      src/store/redis_hold.c
      src/store/redis_inspect.c
      src/store/redis_library.c
      src/store/redis_member.c
      src/store/redis_object.c
      src/store/redis_option_table.c
      src/store/redis_options.c
      src/store/redis_record.c
      src/store/redis_reply.c
      src/store/redis_request.c
      src/store/redis_route.c
      src/store/redis_script.c
      src/store/redis_sentinel.c
      src/store/redis_silence.c
      src/store/redis_slot.c
      src/store/redis_subscription.c
      src/store/redis_tls_options.c
      src/store/redis_undo.c
      src/store/redis_wait.c
    ]), [HIREDIS], [redisConnectFd], [libhiredis])
  if test -n "$latch_found_redis"; then
    LATCH_BACKEND([openssl], [OPENSSL], [TLS for Redis], [OpenSSL], [openssl >= 1.1.1], m4_normalize([
        src/store/redis_tls.c
        src/store/redis_tls_context.c
        src/store/redis_tls_library.c
      ]), [OPENSSL], [SSL_new], [libssl])
  fi
  LATCH_BACKEND([pgsql], [PGSQL], [PostgreSQL], [libpq], [libpq], m4_normalize([
      src/store/postgresql.c
      src/store/postgresql_connection.c
      src/store/postgresql_library.c
      src/store/postgresql_options.c
    ]), [LIBPQ], [PQconnectPoll], [libpq])
  LATCH_BACKEND([mysql], [MYSQL], [MySQL and MariaDB], [libmariadb], [libmariadb], m4_normalize([
      src/store/mysql.c
      src/store/mysql_call.c
      src/store/mysql_connection.c
      src/store/mysql_handshake.c
      src/store/mysql_library.c
      src/store/mysql_options.c
      src/store/mysql_statement.c
    ]), [LIBMARIADB], [mysql_init], [libmariadb])

  AC_SEARCH_LIBS([pthread_atfork], [pthread])
  AC_CHECK_FUNCS([ppoll eventfd getrandom pthread_atfork], [], [
    AC_MSG_ERROR([Latch needs Linux: ppoll(), eventfd(), getrandom() and pthread_atfork()])
  ])

  LATCH_CFLAGS="-std=gnu11 -D_GNU_SOURCE -fvisibility=hidden -Wall -Wextra -Wshadow -Wno-unused-parameter"

  dnl Engine and glue are separate files, but one hot path: a third less time when linked as one. GCC's
  dnl linker does it by itself; clang's objects would need another linker than libtool calls.
  AC_MSG_CHECKING([whether $CC links with -flto])
  latch_cflags=$CFLAGS
  CFLAGS="$CFLAGS -flto"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#ifdef __clang__
#error clang
#endif
]])], [
    AC_MSG_RESULT([yes])
    LATCH_CFLAGS="$LATCH_CFLAGS -flto"
  ], [
    AC_MSG_RESULT([no])
  ])
  CFLAGS=$latch_cflags

  PHP_NEW_EXTENSION([latch], m4_normalize([
      ext/call.c
      ext/callback_store.c
      ext/client.c
      ext/combined_leases.c
      ext/combined_log.c
      ext/combined_members.c
      ext/combined_store.c
      ext/deadlock.c
      ext/digest.c
      ext/drop_in.c
      ext/errors.c
      ext/flock_store.c
      ext/holder_note.c
      ext/inspection.c
      ext/interfaces.c
      ext/keep_alive.c
      ext/key.c
      ext/key_forms.c
      ext/latch.c
      ext/lease.c
      ext/lock.c
      ext/lock_factory.c
      ext/lock_life.c
      ext/lock_store.c
      ext/lock_synchronized.c
      ext/log.c
      ext/losses.c
      ext/memory_stores.c
      ext/names.c
      ext/native_store.c
      ext/no_lock.c
      ext/redis_answer.c
      ext/redis_client.c
      ext/redis_store.c
      ext/semaphore_store.c
      ext/signals.c
      ext/sql_runner.c
      ext/sql_stores.c
      ext/statistics.c
      ext/store_factory.c
      ext/strategies.c
      ext/wait.c
      src/dsn.c
      src/engine.c
      src/env.c
      src/findings.c
      src/lease.c
      src/library.c
      src/op.c
      src/renewal.c
      src/renewal_thread.c
      src/renewal_turn.c
      src/renewal_twin.c
      src/resolve.c
      src/settle.c
      src/store/advisory.c
      src/store/advisory_dialect.c
      src/store/advisory_failure.c
      src/store/advisory_hold.c
      src/store/advisory_runner.c
      src/store/advisory_session.c
      src/store/advisory_watch.c
      src/store/callback.c
      src/store/combined.c
      src/store/combined_age.c
      src/store/combined_doubt.c
      src/store/combined_lease.c
      src/store/combined_twin.c
      src/store/flock.c
      src/store/flock_file.c
      src/store/flock_inspect.c
      src/store/flock_queue.c
      src/store/flock_wait.c
      src/store/flock_watch.c
      src/store/memory.c
      src/store/null.c
      src/store/registry.c
      src/store/semaphore.c
      src/store/sql_dsn.c
      src/table.c
    ]) $latch_backend_sources,
    [$ext_shared],,
    [$LATCH_CFLAGS $latch_backend_flags -DZEND_ENABLE_STATIC_TSRMLS_CACHE=1])
  PHP_ADD_BUILD_DIR([$ext_builddir/ext])
  PHP_ADD_BUILD_DIR([$ext_builddir/src])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/store])
  PHP_ADD_INCLUDE([$ext_srcdir])
  PHP_ADD_MAKEFILE_FRAGMENT
  PHP_ADD_LIBRARY([pthread],, [LATCH_SHARED_LIBADD])
  PHP_ADD_LIBRARY([dl],, [LATCH_SHARED_LIBADD])
  PHP_SUBST([LATCH_SHARED_LIBADD])

  AC_CONFIG_COMMANDS([latch-summary], [echo "$latch_summary"], [latch_summary="$latch_summary"])
fi
