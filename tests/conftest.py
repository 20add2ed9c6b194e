"""What holds for all tests: a process that was started in the background, where Ctrl-C is ignored, hears it as any other."""

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
