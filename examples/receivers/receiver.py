"""Receives callbacks. It needs only Python's standard library: `python3 receiver.py`.

    WEBHOOK_SECRET   whsec_..., shown when the account was created; several secrets, separated by spaces, during a
                     rotation
    PORT             the port to listen on (default 8081)

The receiver processes each event once, even if it is delivered several times. It responds as soon as the event is
stored.
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

# The ids of processed events. In your program, use a unique column of the table that stores the events, and write
# both in one transaction.
seen = set()
lock = threading.Lock()


def is_genuine(headers, body):
    """Returns true if the service sent the request and sent it recently.

    The signature covers the received bytes, so the body must not be parsed and serialized before this check.
    """
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
    """Processes an event; replace this with your own code.

    The body is JSON, or a form if the API key has the API format `legacy`.
    """
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
                seen.add(event_id)  # added last: if processing fails, the next attempt retries it
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
