"""Which objects inside of a config the class of transformers that reads it knows.

Found in its sources: to import it takes seconds, and a class would take its defaults in silence for
sizes that lie where it does not look.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

# A class that inherits from transformers' own base alone: all that it reads stands in its body.
_CLASS = re.compile(r"^class \w+\(Pre[Tt]rainedConfig\):\n((?:(?: .*)?\n)*)", re.MULTILINE)
_MODEL_TYPE = re.compile(r'^    model_type(?:: str)? = "([^"]*)"$', re.MULTILINE)
# Not the name of the object that the class itself is in a wrapper.
_OBJECT = re.compile(r'(?<!base_config_key = ")\b\w+_config\b')


def known_objects(model_type: str) -> frozenset[str] | None:
    """`text_config`, `vision_config` and the like; None where no class of the type is found."""
    spec = importlib.util.find_spec("transformers")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for path in sorted(Path(folder).glob("models/*/configuration_*.py")):
            for body in _CLASS.findall(path.read_text(encoding="utf-8", errors="replace")):
                found = _MODEL_TYPE.search(body)
                if found and found[1] == model_type:
                    return frozenset(_OBJECT.findall(body))
    return None
