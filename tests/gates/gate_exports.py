"""The library exports its three functions and asks the system for nothing that ends the process,
prints, talks to a network, starts another process, reads the environment, or changes process-wide
state. Only a release build is looked at: assert() is no part of it."""
import re, sys
from tree import finish, tool

EXPORTS = {"GetEvalF", "GetEvalD", "EvalLibraryInfo"}

FORBIDDEN = {
    "ends the process": r"_?exit|_Exit|abort|quick_exit|__assert_fail|raise|kill|__(stack_chk|chk)_fail|longjmp",
    "prints": r"v?f?printf|v?dprintf|__v?f?printf_chk|puts|fputs|putc|fputc|putchar|fwrite|perror|psignal|"
              r"stdout|stderr|syslog|vsyslog",
    "talks to a network": r"socket|connect|bind|listen|accept4?|send(to|msg)?|recv(from|msg)?|getaddrinfo|"
                          r"gethostby\w+",
    "starts a process": r"v?fork|system|popen|exec[vl]\w*|posix_spawnp?|clone",
    "reads the environment": r"(secure_|__secure_)?getenv|environ|setenv|putenv|unsetenv",
    "changes process-wide state": r"signal|sigaction|sigprocmask|setlocale|chdir|umask|atexit|on_exit|"
                                  r"__cxa_atexit|srand|fesetround|setrlimit|alarm",
}


def faults(nm):
    """nm: what `nm -D` prints."""
    symbols = [line.split() for line in nm.splitlines() if line.strip()]
    exported = {name.split("@")[0] for *_, kind, name in symbols if kind not in "Uwv"}
    asked = {name.split("@")[0] for *_, kind, name in symbols if kind == "U"}
    found = [f"exported and not public: {name}" for name in sorted(exported - EXPORTS)]
    found += [f"not exported: {name}" for name in sorted(EXPORTS - exported)]
    for why, names in FORBIDDEN.items():
        found += [f"{name}: {why}" for name in sorted(asked) if re.fullmatch(names, name)]
    return found


if __name__ == "__main__":
    finish("exports", faults(tool("nm", "-D", sys.argv[2])))
