"""Open the page of a take in a browser, and print its path.

examples:
  risorius view takes/calm
  risorius view takes/calm --print
"""

from __future__ import annotations

import argparse
import os
import sys


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("take", metavar="TAKE")
    parser.add_argument("--print", action="store_true", dest="only_print", help="print the path and open nothing")


def run(arguments: argparse.Namespace) -> None:
    from risorius.app import take

    page = take.page_of(arguments.take).resolve()
    print(page)
    shown = os.name == "nt" or sys.platform == "darwin" or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
    if shown and not arguments.only_print:
        import webbrowser

        webbrowser.open(page.as_uri())
