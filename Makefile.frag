# The Lua scripts of the Redis store, as C, in the folder in which the compiler is called: no other build
# shall find it.
LATCH_LUA = $(srcdir)/src/store/redis/script/lua

$(builddir)/redis_scripts.h: $(LATCH_LUA)/embed.awk $(wildcard $(LATCH_LUA)/*.lua $(LATCH_LUA)/calls/*.lua)
	@$(AWK) -f $^ > $@.new && mv $@.new $@

src/store/redis/script/script.lo src/store/redis/script/function.lo: $(builddir)/redis_scripts.h

# "sudo make install enable" has this PHP load Latch: extension=latch is written where "php --ini" says that
# further settings are read from. Debian has a folder of its own for such files, from which phpenmod enables them
# for PHP-FPM and Apache, too. A file that is there already stays as it is: it may have settings.
enable: install
	@unset PHP_INI_SCAN_DIR; PATH=$$PATH:/usr/sbin; \
	folder=`$(PHP_EXECUTABLE) --ini | sed -n 's/^Scan for additional .ini files in: *\([^:]*\).*/\1/p'`; \
	version=`expr "$$folder" : '/etc/php/\([0-9.]*\)/.*/conf\.d$$'`; \
	if test -n "$$version" && command -v phpenmod > /dev/null; then \
		folder=/etc/php/$$version/mods-available; \
	else \
		version=; \
	fi; \
	if test ! -d "$$folder"; then \
		echo 'This PHP reads no folder of .ini files. Put the line extension=latch into the php.ini of' >&2; \
		$(PHP_EXECUTABLE) --ini | head -n 2 >&2; \
		exit 1; \
	elif test -e "$$folder/latch.ini"; then \
		echo "Enabled already, by:             $$folder/latch.ini"; \
	else \
		echo extension=latch > "$$folder/latch.ini" || exit; \
		echo "Enabled by:                      $$folder/latch.ini"; \
	fi; \
	test -z "$$version" || phpenmod -v "$$version" latch

.PHONY: enable
