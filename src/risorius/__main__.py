"""`python -m risorius` is the `risorius` command."""

import sys

from risorius.cli.main import main

sys.exit(main())
