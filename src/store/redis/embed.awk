# Turns Lua scripts into C string literals: #define REDIS_LUA_ACQUIRE "…" for acquire.lua. Comments,
# indentation and empty lines stay behind.
FNR == 1 {
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\.lua$/, "", name)
    printf "\n#define REDIS_LUA_%s", toupper(name)
}
/^[ \t]*(--.*)?$/ { next }
{
    sub(/^[ \t]+/, "")
    gsub(/\\/, "&&")
    gsub(/"/, "\\\"")
    printf " \\\n    \"%s\\n\"", $0
}
END { print "" }
