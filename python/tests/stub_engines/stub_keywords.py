"""What an engine was made with, for tests that look at it: STUB_KEYWORDS names the file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def note_keywords(keywords: Mapping[str, Any]) -> None:
    if file := os.environ.get("STUB_KEYWORDS"):
        Path(file).write_text(json.dumps(keywords))
