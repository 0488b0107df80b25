# The Lua scripts of the Redis store, as C, in the folder in which the compiler is called: no other build
# shall find it.
LATCH_LUA = $(srcdir)/src/store/redis

$(builddir)/redis_scripts.h: $(LATCH_LUA)/embed.awk $(LATCH_LUA)/acquire.lua \
    $(LATCH_LUA)/acquire_shared.lua $(LATCH_LUA)/clock.lua $(LATCH_LUA)/holders.lua $(LATCH_LUA)/probe.lua \
    $(LATCH_LUA)/queue.lua $(LATCH_LUA)/refresh.lua $(LATCH_LUA)/release.lua \
    $(LATCH_LUA)/wait.lua
	@$(AWK) -f $(LATCH_LUA)/embed.awk $(LATCH_LUA)/*.lua > $@.new && mv $@.new $@

src/store/redis_script.lo: $(builddir)/redis_scripts.h
