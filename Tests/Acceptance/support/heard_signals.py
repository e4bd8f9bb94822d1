"""Lets the commands that the checks start hear signals, whoever runs the checks: a shell that starts something in the
background has it ignore SIGINT, and a test runner may hold signals back."""

import signal


def hear_signals():
    """For a new process, before it runs a program."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
