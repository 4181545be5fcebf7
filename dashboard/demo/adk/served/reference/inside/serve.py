"""Runs `adk` with the words in the environment, so that no password stands in a list of processes."""

import json
import os
import sys

from google.adk.cli import main

VARIABLE = "REFERENCE_ADK_WORDS"

if __name__ == "__main__":
    sys.argv = ["adk", *json.loads(os.environ.pop(VARIABLE))]
    main()
