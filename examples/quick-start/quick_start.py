"""Creates a job, waits until it is translated, and prints the translation.

It needs only Python's standard library: `python3 quick_start.py`.

    DRAGOMAN_URL   the address of the server; with /sandbox at its end, the sandbox
    DRAGOMAN_KEY   the API key, as user:key
"""

import json
import os
import time
import urllib.error
import urllib.request
import uuid

JOBS = os.environ["DRAGOMAN_URL"] + "/tapi/v2/mt_translation/"
HEADERS = {"Authorization": "ApiKey " + os.environ["DRAGOMAN_KEY"], "Content-Type": "application/json"}


def call(method, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, HEADERS, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{error.code}: {error.read().decode()}")


# With a uid of your own, you can repeat a request that got no response: the job is created only once.
uid = str(uuid.uuid4())
text = {"text": "The house is big.", "source_language": "en", "target_language": "es"}
job = call("POST", JOBS, {"uid": uid, **text})
while job["status"] not in ("completed", "failed", "canceled"):
    time.sleep(0.5)
    job = call("GET", f"{JOBS}{uid}/")
if job["status"] != "completed":
    raise SystemExit(f"the job is {job['status']}: {job.get('failure')}")
print(job["translated_text"])
