#!/usr/bin/env python3
"""Calls the whole job interface of a Dragoman server.

Needs python3-requests. Reads DRAGOMAN_URL, DRAGOMAN_KEY and DRAGOMAN_SANDBOX_KEY (keys as user:key).
The calls are careless on purpose, to show what the server accepts: paths have no trailing slash, optional fields
without a value are null, and no Content-Type is set. Exits with status 1 at the first unexpected response.
"""
import json
import os
import sys
import time

import requests

URL = os.environ["DRAGOMAN_URL"].rstrip("/")
NOTHING = dict.fromkeys(
    ["target_text", "uid", "callback_url", "brand", "tone", "topics", "instructions", "text_format"]
)


class Client:
    def __init__(self, base, key):
        self.base = base + "/tapi/v2"
        self.session = requests.Session()
        self.session.headers["Authorization"] = "ApiKey " + key

    def call(self, method, path, body=None, expect=200, **query):
        data = None if body is None else json.dumps(body)
        # A redirect would turn a POST into a GET. The server sends no redirects.
        answer = self.session.request(
            method, self.base + path, params=query, data=data, timeout=30, allow_redirects=False
        )
        if answer.status_code != expect:
            sys.exit(f"{method} {path}: {answer.status_code} instead of {expect}: {answer.text}")
        print(f"{method:6} {path:40} {answer.status_code}")
        return answer.json() if answer.text else None


def check(true, what):
    if not true:
        sys.exit("not as expected: " + what)


def wait_for(client, path, status, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        job = client.call("GET", path)
        if job["status"] == status:
            return job
        time.sleep(0.2)
    sys.exit(f"{path} did not become {status}: {job}")


def job(text="The house is big.", **fields):
    return {**NOTHING, "text": text, "source_language": "en", "target_language": "es", **fields}


def main():
    production = Client(URL, os.environ["DRAGOMAN_KEY"])
    sandbox = Client(URL + "/sandbox", os.environ["DRAGOMAN_SANDBOX_KEY"])

    # Read the languages, tones, topics and the account, and count words.
    pairs = production.call("GET", "/language_pair")["objects"]
    names = [(p["lang_pair"]["source_language"]["name"], p["lang_pair"]["target_language"]["name"]) for p in pairs]
    check(("English", "Spanish") in names, "English to Spanish is offered")
    tones = [each["tone"]["name"] for each in production.call("GET", "/tone")["objects"]]
    topics = [each["topic"]["name"] for each in production.call("GET", "/topic")["objects"]]
    account = production.call("GET", "/account")["objects"][0]["account"]
    count = production.call("POST", "/wordcount", {"text": "one two three", "text_format": None}, 201)
    check(count == {"word_count": 3}, "three words")

    # Create a machine job, wait for it and read its result.
    created = production.call("POST", "/mt_translation", job(), 201)
    check(created["status"] == "machine_translate_in_progress", "a machine job begins in progress")
    done = wait_for(production, "/mt_translation/" + created["uid"], "completed")
    check("casa" in done["translated_text"].lower(), "a translation: " + done["translated_text"])

    # Create a job in each format, and one without a source language.
    for text_format, text in {
        "html": '<p>The <b>house</b> is big, <i class="notranslate" origval="{{name}}">Ann</i>.</p>',
        "srt": "1\n00:00:01,000 --> 00:00:02,000\nThe house is big.\n",
        "xliff": '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" '
        'source-language="en" datatype="plaintext"><header/><body><trans-unit id="1"><source>The house is big.'
        "</source></trans-unit></body></file></xliff>",
    }.items():
        made = production.call("POST", "/mt_translation", job(text, text_format=text_format), 201)
        wait_for(production, "/mt_translation/" + made["uid"], "completed")
    sentence = "The weather in the north of the country will be cold and rainy during the whole of next week."
    detected = production.call("POST", "/mt_translation", job(sentence, source_language=None), 201)
    check(detected["source_language"] == "en", "English is detected")

    # Create a human job with instructions, retry without creating a second job, then cancel it.
    uid = "python-" + str(time.time_ns())
    body = job(uid=uid, tone=tones[0], topics=topics[:2], instructions="Keep it short.")
    first = production.call("POST", "/translation", body, 201)
    again = production.call("POST", "/translation", body, 200)
    check(first["order_number"] == again["order_number"], "a retry finds the job")
    production.call("POST", "/translation", {**body, "text": "Another text."}, 400)
    canceled = production.call("DELETE", "/translation/" + uid)
    check(canceled is None, "an empty body")
    check(production.call("GET", "/translation/" + uid)["status"] == "canceled", "canceled")
    production.call("DELETE", "/translation/" + uid, expect=400)

    # Upgrade a completed machine job to a human job.
    upgraded = production.call("PATCH", "/mt_translation/" + done["uid"], {"status": "upgrade", "properties": None}, 202)
    check(upgraded["uid"] == done["uid"], "the same uid")
    production.call("GET", "/translation/" + done["uid"])
    pending = production.call("POST", "/mt_translation", job("To be canceled, perhaps."), 201)
    # The job is canceled (200), or was completed before that (400).
    answer = production.session.delete(production.base + "/mt_translation/" + pending["uid"], timeout=30)
    check(answer.status_code in (200, 400), "canceled or finished")

    # Create several jobs in one request: all of them, or none.
    bulk = [job(f"House number {n}.", uid=f"{uid}-{n}") for n in range(3)]
    made = production.call("PATCH", "/translation", {"objects": bulk}, 202)["objects"]
    check([each["uid"] for each in made] == [each["uid"] for each in bulk], "in order")
    production.call("PATCH", "/translation", {"objects": [job(), job("")]}, 400)
    production.call("PATCH", "/translation", {}, 400)

    # List jobs with filters, in pages.
    found = production.call("GET", "/translation", uid__startswith=uid)
    check(found["meta"]["total_count"] == 4, "the canceled one and three")
    page = production.call("GET", "/translation", uid__contains=uid, limit=2, offset=1)
    check(len(page["objects"]) == 2 and page["meta"]["next"] and page["meta"]["previous"], "a page in the middle")
    production.call("GET", "/translation", uid__endswith="-2", status="new,", expect=400)
    production.call("GET", "/translation", source_language__in="en,fr", target_language__ne="en")
    production.call("GET", "/mt_translation", status="completed", limit=0)

    # Use the sandbox, which has its own address and key, and charges nothing.
    order = sandbox.call("POST", "/translation", job("The order of a human edit."), 201)
    finished = wait_for(sandbox, "/translation/" + order["uid"], "completed", 180)
    check(finished["translated_text"] != "", "a result")
    sandbox.call("GET", "/translation")
    wrong_key = Client(URL, os.environ["DRAGOMAN_SANDBOX_KEY"])
    wrong_key.call("GET", "/translation", expect=401)

    check(production.call("GET", "/account")["objects"][0]["account"]["username"] == account["username"], "the account")
    print("The whole interface answered as expected.")


if __name__ == "__main__":
    main()
