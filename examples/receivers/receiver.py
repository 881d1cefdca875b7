"""A receiver of deliveries, with Python's standard library alone: `python3 receiver.py`.

    WEBHOOK_SECRET   whsec_..., as shown when the account was made; several, separated by spaces, while one is replaced
    PORT             where to listen (8081)

It takes each event once, however often it is delivered, and answers as soon as it has it.
"""

import base64
import hashlib
import hmac
import json
import os
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl

TOLERANCE_SECONDS = 300
MAX_BYTES = 64 * 1024 * 1024

SECRETS = [
    base64.b64decode(secret[len("whsec_"):])
    for secret in os.environ.get("WEBHOOK_SECRET", "").split()
    if secret.startswith("whsec_")
]
if not SECRETS:
    raise SystemExit("WEBHOOK_SECRET must be set")

# In your program: a unique column of the table that the event is written to, in the same transaction.
seen = set()
lock = threading.Lock()


def is_genuine(headers, body):
    """Whether the request is ours and fresh. It works on the bytes: a body parsed and written anew differs."""
    event_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return False
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = f"{event_id}.{timestamp}.".encode() + body
    given = [entry[3:] for entry in headers.get("webhook-signature", "").split(" ") if entry.startswith("v1,")]
    for secret in SECRETS:
        expected = base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()
        if any(hmac.compare_digest(expected.encode(), entry.encode()) for entry in given):
            return True
    return False


def take(event_id, content_type, body):
    """What you do with an event. A job's is JSON, or a form for keys of the legacy dialect."""
    if content_type.startswith("application/x-www-form-urlencoded"):
        event = dict(parse_qsl(body.decode(), keep_blank_values=True))
    else:
        event = json.loads(body)
    message = event.get("message") or {}
    what = event.get("uid") or message.get("id") or event.get("type")
    status = event.get("status") or message.get("status")
    print(json.dumps({"id": event_id, "what": what, "status": status}), flush=True)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_POST(self):
        length = int(self.headers.get("content-length", "0"))
        if length > MAX_BYTES:
            self.close_connection = True
            return self.answer(413)
        body = self.rfile.read(length)
        if not is_genuine(self.headers, body):
            return self.answer(401)
        event_id = self.headers["webhook-id"]
        with lock:
            if event_id not in seen:
                take(event_id, self.headers.get("content-type", ""), body)
                seen.add(event_id)  # after it was taken: if that fails, the next try brings it again
        return self.answer(204)

    def answer(self, status):
        self.send_response(status)
        if status != 204:
            self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8081"))), Receiver)
print(f"listening on {server.server_address[1]}", flush=True)
server.serve_forever()
