"""Runs a command that can write no file of more than BYTES bytes, as on a full disk.

  limited.py BYTES COMMAND [ARGUMENT...]
"""
import os
import resource
import signal
import sys

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # or it would kill
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
os.execvp(sys.argv[2], sys.argv[2:])
