"""Writes names.json: the names of the array API standard 2025.12, read off the package array-api-strict.

Run in a virtual environment outside the repository with array-api-strict 2.6.1:
    python __test__/array-api/names.py > __test__/array-api/names.json
"""

import json

import array_api_strict as xp

OWN = {"set_array_api_strict_flags", "get_array_api_strict_flags", "reset_array_api_strict_flags", "ArrayAPIStrictFlags"}
info = xp.__array_namespace_info__()
print(json.dumps({
    "version": xp.__array_api_version__,
    "root": sorted(n for n in xp.__all__ if not n.startswith("_") and n not in OWN and n not in xp.__dict__.get("_modules", ())),
    "linalg": sorted(xp.linalg.__all__),
    "fft": sorted(xp.fft.__all__),
    "array": sorted(n for n in dir(xp.asarray(1.0)) if not n.startswith("_")),
    "info": sorted(n for n in dir(info) if not n.startswith("_")),
}, indent=1))
