#!/usr/bin/env bash
# Calls the whole job interface of a Dragoman server with curl. The calls are careless on purpose, to show what the
# server accepts: paths have no trailing slash, the Content-Type is a form (curl's -d sets it), unknown fields are null.
# Reads DRAGOMAN_URL, DRAGOMAN_KEY and DRAGOMAN_SANDBOX_KEY (keys as user:key). Needs curl and grep.
set -euo pipefail
root="${DRAGOMAN_URL%/}"
key="$DRAGOMAN_KEY"
base="$root/tapi/v2"

# call EXPECTED_STATUS METHOD PATH [BODY]: sends a request and prints the response body. Exits if the status differs.
call() {
  local expected=$1 method=$2 path=$3 answer status
  shift 3
  local data=()
  [ $# -gt 0 ] && data=(-d "$1")
  answer=$(curl -sS -g -X "$method" -H "Authorization: ApiKey $key" -w $'\n%{http_code}' "${data[@]}" "$base$path")
  status=${answer##*$'\n'}
  echo "$method $path: $status" >&2
  if [ "$status" != "$expected" ]; then
    echo "instead of $expected: ${answer%$'\n'*}" >&2
    exit 1
  fi
  printf '%s' "${answer%$'\n'*}"
}

# field NAME: prints a text field of the JSON on standard input.
field() { grep -o "\"$1\":\"[^\"]*\"" | head -1 | cut -d'"' -f4; }

# wait_for PATH STATUS: polls until the job has this status.
wait_for() {
  for _ in $(seq 600); do
    [ "$(call 200 GET "$1" 2>/dev/null | field status)" = "$2" ] && return
    sleep 0.2
  done
  echo "$1 did not become $2" >&2
  exit 1
}

nothing='"target_text":null,"callback_url":null,"brand":null,"tone":null,"topics":[],"instructions":null'
job() { printf '{"text":"%s","source_language":"en","target_language":"es",%s%s}' "$1" "$nothing" "${2:-}"; }
uid="curl-$(date +%s%N)"

call 200 GET /language_pair | grep -q '"shortname":"en"'
call 200 GET /tone | grep -q Formal
call 200 GET /topic | grep -q 'sex & relationships'
call 200 GET /account | grep -q '"balance":'
[ "$(call 201 POST /wordcount '{"text":"one two three","text_format":null}')" = '{"word_count":3}' ]

call 201 POST /mt_translation "$(job 'The house is big.' ",\"uid\":\"$uid-m\"")" | grep -q machine_translate_in_progress
wait_for "/mt_translation/$uid-m" completed
call 200 GET "/mt_translation/$uid-m" | field translated_text
echo

call 201 POST /translation "$(job 'The house is big.' ",\"uid\":\"$uid\"")" | grep -q '"status":"new"'
call 200 POST /translation "$(job 'The house is big.' ",\"uid\":\"$uid\"")" > /dev/null
call 400 POST /translation "$(job 'Another text.' ",\"uid\":\"$uid\"")" | grep -q 'uid: already exists'
[ -z "$(call 200 DELETE "/translation/$uid")" ]
call 400 DELETE "/translation/$uid" > /dev/null
call 202 PATCH "/mt_translation/$uid-m" '{"status":"upgrade","properties":null}' | grep -q "$uid-m"

call 202 PATCH /translation "{\"objects\":[$(job One ",\"uid\":\"$uid-1\""),$(job Two ",\"uid\":\"$uid-2\"")]}" > /dev/null
call 400 PATCH /translation "{\"objects\":[$(job One),$(job '')]}" | grep -q 'objects\[1\].text'
call 200 GET "/translation?uid__startswith=$uid&limit=2" | grep -q '"total_count":4'
call 200 GET "/translation?uid__endswith=-2&target_language__in=es,fr" > /dev/null
call 200 GET '/translation?source_language__nin=["fr","it"]&target_language__ne=en' > /dev/null
call 200 GET '/mt_translation?status=completed&limit=0' > /dev/null
call 400 GET '/translation?status=done' | grep -q accepted
call 404 GET /translation/unknown > /dev/null
call 405 PUT /translation '{}' > /dev/null

key="$DRAGOMAN_SANDBOX_KEY"
call 401 GET /translation > /dev/null
base="$root/sandbox/tapi/v2"
call 201 POST /translation "$(job 'The order of a human edit.' ",\"uid\":\"$uid\"")" > /dev/null
wait_for "/translation/$uid" completed
call 200 GET "/translation/$uid" | grep -q translated_text
echo 'The whole interface answered as expected.'
