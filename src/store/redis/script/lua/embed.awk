# Turns Lua scripts into C string literals: #define REDIS_LUA_ACQUIRE "…" for acquire.lua. Comments,
# indentation and empty lines stay behind; "-- include NAME.lua" is replaced by that file.
function embed(line) {
    if (line ~ /^[ \t]*(--.*)?$/) {
        return
    }
    sub(/^[ \t]+/, "", line)
    gsub(/\\/, "&&", line)
    gsub(/"/, "\\\"", line)
    printf " \\\n    \"%s\\n\"", line
}
FNR == 1 {
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\.lua$/, "", name)
    folder = substr(FILENAME, 1, length(FILENAME) - length(name ".lua"))
    printf "\n#define REDIS_LUA_%s", toupper(name)
}
/^[ \t]*-- include / {
    while ((status = (getline line < (folder $3))) > 0) {
        embed(line)
    }
    if (status < 0) {
        print "cannot read " folder $3 > "/dev/stderr"
        exit 1
    }
    close(folder $3)
    next
}
{ embed($0) }
END { print "" }
