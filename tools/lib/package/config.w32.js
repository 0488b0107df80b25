// Runs config.w32 after this file, in place of what PHP's configure.js of Windows offers to it: prints
// what it does, a line for each call. (Real Windows ends at an ERROR; here it goes on, to see the rest.)

var PHP_LATCH = "yes", configure_module_dirname = ".";

function ARG_ENABLE(name, help, value) {
    print("ARG_ENABLE", name, value);
}

function ERROR(message) {
    print("ERROR", message);
}

function EXTENSION(name, files, shared, flags) {
    ADD_SOURCES(configure_module_dirname, files, name);
}

function ADD_SOURCES(folder, files, target) {
    var names = files.split(" ");
    for (var i in names) {
        print("SOURCE", target, folder.replace(/^\.\\/, "").replace(/\\/g, "/") + "/" + names[i]);
    }
}
