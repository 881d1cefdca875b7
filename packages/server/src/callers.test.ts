/**
 * Access rights: every operation of both APIs is called by every kind of caller, and the results are compared
 * with two tables. A new operation fails this test until it has a line in a table.
 *
 * The requests change no data. Rights to segments are tested in `editing/tasks/access.test.ts`, and requests with
 * ids of other accounts in `tenants.test.ts`.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accountNamed } from './access/accounts.ts';
import type { KeyScope } from './base/account.ts';
import { parseBrand } from './brands/brand.ts';
import { saveBrand } from './brands/brands.ts';
import { importEntries } from './memory/memory.ts';
import { describeApp } from './roles/app.ts';
import { orderEdit } from './testing/editors.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  waitForStatus,
} from './testing/harness.ts';

/**
 * The rights in the web app. `in`: allowed; `-`: 404; `out`: 401; `ro`: 403, because only owners may do this.
 * The member belongs to the owner's account. `other` is the owner of another account.
 */
const PEOPLE = `
                                                                        nobody    owner     member    other     editor    reviewer  operator
GET /api/account                                                        out       in        in        in        -         -         -
GET /api/account/brands                                                 out       in        in        in        -         -         -
GET /api/account/brands/{brand}                                         out       in        in        -         -         -         -
GET /api/account/brands/{brand}/proposals                               out       in        in        -         -         -         -
GET /api/account/chats                                                  out       in        in        in        -         -         -
GET /api/account/chats/{chat_id}/messages                               out       in        in        -         -         -         -
GET /api/account/deliveries                                             out       in        in        in        -         -         -
GET /api/account/deliveries/failed                                      out       in        in        in        -         -         -
POST /api/account/deliveries/replay                                     out       in        in        in        -         -         -
POST /api/account/deliveries/test                                       out       in        in        in        -         -         -
GET /api/account/deliveries/{delivery_id}                               out       in        in        -         -         -         -
POST /api/account/deliveries/{delivery_id}/replay                       out       in        in        in        -         -         -
GET /api/account/disagreements                                          out       in        in        in        -         -         -
PUT /api/account/disagreements/{disagreement}/rule                      out       in        in        in        -         -         -
DELETE /api/account/disagreements/{disagreement}/rule                   out       in        in        in        -         -         -
POST /api/account/documents                                             out       in        in        in        -         -         -
GET /api/account/documents/options                                      out       in        in        in        -         -         -
POST /api/account/documents/quote                                       out       in        in        in        -         -         -
POST /api/account/erase                                                 out       in        ro        in        -         -         -
POST /api/account/export                                                out       in        in        in        -         -         -
GET /api/account/jobs                                                   out       in        in        in        -         -         -
GET /api/account/jobs/{uid}                                             out       in        in        -         -         -         -
POST /api/account/jobs/{uid}/accept                                     out       in        in        in        -         -         -
POST /api/account/jobs/{uid}/cancel                                     out       in        in        in        -         -         -
POST /api/account/jobs/{uid}/reject                                     out       in        in        in        -         -         -
GET /api/account/jobs/{uid}/result                                      out       -         -         -         -         -         -
GET /api/account/keys                                                   out       in        in        in        -         -         -
POST /api/account/keys                                                  out       in        in        in        -         -         -
POST /api/account/keys/{key_id}/revoke                                  out       in        in        in        -         -         -
POST /api/account/keys/{key_id}/roll                                    out       in        in        in        -         -         -
GET /api/account/ledger                                                 out       in        in        in        -         -         -
GET /api/account/ledger.csv                                             out       in        in        in        -         -         -
GET /api/account/memory                                                 out       in        in        in        -         -         -
GET /api/account/memory/export                                          out       in        in        in        -         -         -
POST /api/account/memory/import                                         out       in        in        in        -         -         -
GET /api/account/memory/summary                                         out       in        in        in        -         -         -
GET /api/account/memory/{memory_id}                                     out       in        in        -         -         -         -
POST /api/account/memory/{memory_id}/restore                            out       in        in        in        -         -         -
POST /api/account/memory/{memory_id}/withdraw                           out       in        in        in        -         -         -
GET /api/account/origins                                                out       in        in        in        -         -         -
PUT /api/account/origins                                                out       in        in        in        -         -         -
POST /api/account/proposals/{proposal}/decline                          out       in        in        in        -         -         -
POST /api/account/proposals/{proposal}/take                             out       in        in        in        -         -         -
GET /api/account/queries                                                out       in        in        in        -         -         -
POST /api/account/queries/{query}/answer                                out       in        in        in        -         -         -
GET /api/account/retention                                              out       in        in        in        -         -         -
PUT /api/account/retention                                              out       in        ro        in        -         -         -
GET /api/account/team                                                   out       in        in        in        -         -         -
POST /api/account/team                                                  out       in        in        in        -         -         -
POST /api/account/team/{user_id}/disable                                out       in        in        in        -         -         -
POST /api/account/team/{user_id}/enable                                 out       in        in        in        -         -         -
POST /api/account/team/{user_id}/link                                   out       in        in        in        -         -         -
POST /api/account/team/{user_id}/owner                                  out       in        ro        in        -         -         -
GET /api/account/votes                                                  out       in        in        in        -         -         -
POST /api/account/votes/{vote}/undo                                     out       in        in        in        -         -         -
GET /api/account/webhook-endpoints                                      out       in        in        in        -         -         -
POST /api/account/webhook-endpoints                                     out       in        in        in        -         -         -
PATCH /api/account/webhook-endpoints/{endpoint_id}                      out       in        in        in        -         -         -
DELETE /api/account/webhook-endpoints/{endpoint_id}                     out       in        in        in        -         -         -
POST /api/account/webhook-endpoints/{endpoint_id}/roll                  out       in        in        in        -         -         -
GET /api/account/webhook-secrets                                        out       in        in        in        -         -         -
POST /api/account/webhook-secrets/{environment}/roll                    out       in        in        in        -         -         -
GET /api/console/accounts                                               out       -         -         -         -         -         in
POST /api/console/accounts                                              out       -         -         -         -         -         in
GET /api/console/accounts/{username}                                    out       -         -         -         -         -         in
PATCH /api/console/accounts/{username}                                  out       -         -         -         -         -         in
GET /api/console/accounts/{username}/brands                             out       -         -         -         -         -         in
POST /api/console/accounts/{username}/brands                            out       -         -         -         -         -         in
GET /api/console/accounts/{username}/brands/{brand}                     out       -         -         -         -         -         in
DELETE /api/console/accounts/{username}/brands/{brand}                  out       -         -         -         -         -         in
PATCH /api/console/accounts/{username}/brands/{brand}/draft             out       -         -         -         -         -         in
DELETE /api/console/accounts/{username}/brands/{brand}/draft            out       -         -         -         -         -         in
POST /api/console/accounts/{username}/brands/{brand}/import             out       -         -         -         -         -         in
POST /api/console/accounts/{username}/brands/{brand}/preview            out       -         -         -         -         -         in
POST /api/console/accounts/{username}/brands/{brand}/protect            out       -         -         -         -         -         in
POST /api/console/accounts/{username}/brands/{brand}/publish            out       -         -         -         -         -         in
GET /api/console/accounts/{username}/brands/{brand}/terms               out       -         -         -         -         -         in
POST /api/console/accounts/{username}/brands/{brand}/terms              out       -         -         -         -         -         in
GET /api/console/accounts/{username}/disagreements                      out       -         -         -         -         -         in
PUT /api/console/accounts/{username}/disagreements/{disagreement}/rule  out       -         -         -         -         -         in
DELETE /api/console/accounts/{username}/disagreements/{disagreement}/ruleout       -         -         -         -         -         in
GET /api/console/accounts/{username}/jobs/{job}                         out       -         -         -         -         -         in
POST /api/console/accounts/{username}/jobs/{job}/cancel                 out       -         -         -         -         -         in
POST /api/console/accounts/{username}/jobs/{job}/redraft                out       -         -         -         -         -         in
POST /api/console/accounts/{username}/jobs/{job}/retry                  out       -         -         -         -         -         in
POST /api/console/accounts/{username}/keys                              out       -         -         -         -         -         in
DELETE /api/console/accounts/{username}/keys/{key}                      out       -         -         -         -         -         in
GET /api/console/accounts/{username}/memory                             out       -         -         -         -         -         in
GET /api/console/accounts/{username}/memory/export                      out       -         -         -         -         -         in
POST /api/console/accounts/{username}/memory/import                     out       -         -         -         -         -         in
GET /api/console/accounts/{username}/memory/summary                     out       -         -         -         -         -         in
GET /api/console/accounts/{username}/memory/{memory_id}                 out       -         -         -         -         -         in
POST /api/console/accounts/{username}/memory/{memory_id}/restore        out       -         -         -         -         -         in
POST /api/console/accounts/{username}/memory/{memory_id}/withdraw       out       -         -         -         -         -         in
POST /api/console/accounts/{username}/resume                            out       -         -         -         -         -         in
GET /api/console/accounts/{username}/statement                          out       -         -         -         -         -         in
POST /api/console/accounts/{username}/suspend                           out       -         -         -         -         -         in
POST /api/console/accounts/{username}/transfers                         out       -         -         -         -         -         in
GET /api/console/accounts/{username}/votes                              out       -         -         -         -         -         in
POST /api/console/accounts/{username}/votes/{vote}/undo                 out       -         -         -         -         -         in
GET /api/console/accounts/{username}/webhook-endpoints                  out       -         -         -         -         -         in
GET /api/console/audit                                                  out       -         -         -         -         -         in
POST /api/console/comparisons                                           out       -         -         -         -         -         in
GET /api/console/comparisons/{comparison}                               out       -         -         -         -         -         -
DELETE /api/console/comparisons/{comparison}                            out       -         -         -         -         -         in
GET /api/console/deliveries                                             out       -         -         -         -         -         in
POST /api/console/deliveries/replay                                     out       -         -         -         -         -         in
GET /api/console/deliveries/{delivery}                                  out       -         -         -         -         -         in
POST /api/console/deliveries/{delivery}/replay                          out       -         -         -         -         -         in
GET /api/console/effort                                                 out       -         -         -         -         -         in
GET /api/console/engines                                                out       -         -         -         -         -         in
POST /api/console/engines/{engine}/test                                 out       -         -         -         -         -         in
GET /api/console/home                                                   out       -         -         -         -         -         in
GET /api/console/jobs                                                   out       -         -         -         -         -         in
GET /api/console/pairs                                                  out       -         -         -         -         -         in
PUT /api/console/pairs/{source}/{target}                                out       -         -         -         -         -         in
GET /api/console/people                                                 out       -         -         -         -         -         in
POST /api/console/people                                                out       -         -         -         -         -         in
PATCH /api/console/people/{user_id}                                     out       -         -         -         -         -         in
POST /api/console/people/{user_id}/disable                              out       -         -         -         -         -         in
POST /api/console/people/{user_id}/enable                               out       -         -         -         -         -         in
POST /api/console/people/{user_id}/link                                 out       -         -         -         -         -         in
POST /api/console/people/{user_id}/second-factor/reset                  out       -         -         -         -         -         in
GET /api/console/prices                                                 out       -         -         -         -         -         in
POST /api/console/prices                                                out       -         -         -         -         -         in
POST /api/console/prices/end                                            out       -         -         -         -         -         in
GET /api/console/routes                                                 out       -         -         -         -         -         in
PUT /api/console/routes                                                 out       -         -         -         -         -         in
DELETE /api/console/routes                                              out       -         -         -         -         -         in
GET /api/console/sandbox-requests                                       out       -         -         -         -         -         in
POST /api/console/sandbox-requests/{request_id}/grant                   out       -         -         -         -         -         in
POST /api/console/sandbox-requests/{request_id}/refuse                  out       -         -         -         -         -         in
GET /api/console/settings                                               out       -         -         -         -         -         in
GET /api/console/tasks                                                  out       -         -         -         -         -         in
POST /api/console/tasks/{task}/priority                                 out       -         -         -         -         -         in
POST /api/console/tasks/{task}/reassign                                 out       -         -         -         -         -         in
POST /api/console/tasks/{task}/release                                  out       -         -         -         -         -         in
POST /api/editing/claims                                                out       -         -         -         in        in        in
GET /api/editing/queue                                                  out       -         -         -         in        in        in
GET /api/editing/tasks/{task}                                           out       -         -         -         in        in        in
POST /api/editing/tasks/{task}/approve                                  out       -         -         -         in        in        in
POST /api/editing/tasks/{task}/comments                                 out       -         -         -         in        in        in
GET /api/editing/tasks/{task}/concordance                               out       -         -         -         -         -         in
POST /api/editing/tasks/{task}/heartbeat                                out       -         -         -         in        in        in
GET /api/editing/tasks/{task}/inconsistencies                           out       -         -         -         -         -         in
POST /api/editing/tasks/{task}/issues                                   out       -         -         -         in        in        in
DELETE /api/editing/tasks/{task}/issues/{issue}                         out       -         -         -         in        in        in
GET /api/editing/tasks/{task}/preview                                   out       -         -         -         -         -         in
POST /api/editing/tasks/{task}/queries                                  out       -         -         -         in        in        in
DELETE /api/editing/tasks/{task}/queries/{query}                        out       -         -         -         in        in        in
POST /api/editing/tasks/{task}/release                                  out       -         -         -         in        in        in
POST /api/editing/tasks/{task}/report                                   out       -         -         -         in        in        in
POST /api/editing/tasks/{task}/return                                   out       -         -         -         in        in        in
POST /api/editing/tasks/{task}/seen                                     out       -         -         -         in        in        in
PUT /api/editing/tasks/{task}/segments/{position}                       out       -         -         -         in        in        in
GET /api/editing/tasks/{task}/segments/{position}/history               out       -         -         -         -         -         in
POST /api/editing/tasks/{task}/segments/{position}/join                 out       -         -         -         in        in        in
GET /api/editing/tasks/{task}/segments/{position}/matches               out       -         -         -         -         -         in
POST /api/editing/tasks/{task}/segments/{position}/separate             out       -         -         -         in        in        in
POST /api/editing/tasks/{task}/segments/{position}/split                out       -         -         -         in        in        in
POST /api/editing/tasks/{task}/segments/{position}/unsplit              out       -         -         -         in        in        in
PUT /api/editing/tasks/{task}/segments/{position}/unsure                out       -         -         -         in        in        in
POST /api/editing/tasks/{task}/skip                                     out       -         -         -         in        in        in
POST /api/editing/tasks/{task}/submit                                   out       -         -         -         in        in        in
POST /api/editing/tasks/{task}/terms                                    out       -         -         -         in        in        in
DELETE /api/editing/tasks/{task}/terms/{proposal}                       out       -         -         -         in        in        in
GET /api/editing/work                                                   out       -         -         -         in        in        in
GET /api/invitations/{token}                                            -         -         -         -         -         -         -
POST /api/invitations/{token}                                           in        in        in        in        in        in        in
GET /api/live                                                           out       in        in        in        in        in        in
GET /api/me                                                             out       in        in        in        in        in        in
PATCH /api/me                                                           out       in        in        in        in        in        in
POST /api/me/password                                                   out       in        in        in        in        in        in
GET /api/me/second-factor                                               out       in        in        in        in        in        in
POST /api/me/second-factor                                              out       in        in        in        in        in        in
POST /api/me/second-factor/confirm                                      out       in        in        in        in        in        in
POST /api/me/second-factor/disable                                      out       in        in        in        in        in        in
POST /api/me/second-factor/recovery-codes                               out       in        in        in        in        in        in
POST /api/password-resets                                               in        in        in        in        in        in        in
GET /api/sandbox-requests                                               in        in        in        in        in        in        in
POST /api/sandbox-requests                                              in        in        in        in        in        in        in
GET /api/sandbox-requests/{token}                                       -         -         -         -         -         -         -
POST /api/sandbox-requests/{token}                                      in        in        in        in        in        in        in
GET /api/session                                                        out       in        in        in        in        in        in
POST /api/session                                                       in        in        in        in        in        in        in
DELETE /api/session                                                     in        in        in        in        in        in        in
GET /api/sessions                                                       out       in        in        in        in        in        in
DELETE /api/sessions                                                    out       in        in        in        in        in        in
DELETE /api/sessions/{session_id}                                       out       in        in        in        in        in        in
GET /api/sign-in-options                                                in        in        in        in        in        in        in
`;

/**
 * The rights in the API for programs, in production. `ro`: 403, because the key is read-only. `scope`: 403, because the
 * key does not have the scope of the operation. The columns `jobs`, `chat`, `calls` and `account` are keys with one
 * scope each; the key of `calls` has the scope `deliveries`. The column `person` is a user with a session instead of a
 * key.
 */
const PROGRAMS = `
                                                                        nobody    key       reads     jobs      chat      calls     account   sandbox   other     person
POST /api/v1/clock/                                                     out       in        ro        scope     scope     scope     scope     out       in        out
GET /api/v1/deliveries/                                                 out       in        in        scope     scope     in        scope     out       in        out
POST /api/v1/deliveries/replay/                                         out       in        ro        scope     scope     in        scope     out       in        out
GET /api/v1/deliveries/{delivery_id}/                                   out       in        in        scope     scope     in        scope     out       -         out
POST /api/v1/deliveries/{delivery_id}/replay/                           out       in        ro        scope     scope     in        scope     out       in        out
GET /api/v1/events/                                                     out       in        in        scope     scope     in        scope     out       in        out
GET /api/v1/memory/                                                     out       in        in        in        scope     scope     scope     out       in        out
GET /api/v1/queries/                                                    out       in        in        in        scope     scope     scope     out       in        out
POST /api/v1/queries/{query}/answer/                                    out       in        ro        in        scope     scope     scope     out       in        out
POST /api/v1/quote/                                                     out       in        ro        in        scope     scope     scope     out       in        out
GET /api/v1/terms/                                                      out       in        in        in        scope     scope     scope     out       in        out
POST /api/v1/test-event/                                                out       in        ro        scope     scope     in        scope     out       in        out
GET /api/v1/webhook-endpoints/                                          out       in        in        scope     scope     in        scope     out       in        out
POST /api/v1/webhook-endpoints/                                         out       in        ro        scope     scope     in        scope     out       in        out
GET /api/v1/webhook-endpoints/{endpoint_id}/                            out       in        in        scope     scope     in        scope     out       -         out
PATCH /api/v1/webhook-endpoints/{endpoint_id}/                          out       in        ro        scope     scope     in        scope     out       in        out
DELETE /api/v1/webhook-endpoints/{endpoint_id}/                         out       in        ro        scope     scope     in        scope     out       in        out
POST /api/v1/webhook-endpoints/{endpoint_id}/roll/                      out       in        ro        scope     scope     in        scope     out       in        out
POST /chats                                                             out       in        ro        scope     in        scope     scope     out       in        out
GET /chats/{chat_id}/messages                                           out       in        in        scope     in        scope     scope     out       -         out
GET /tapi/v2/account/                                                   out       in        in        scope     scope     scope     in        out       in        out
GET /tapi/v2/language_pair/                                             out       in        in        in        in        in        in        out       in        out
POST /tapi/v2/mt_translation/                                           out       in        ro        in        scope     scope     scope     out       in        out
GET /tapi/v2/mt_translation/                                            out       in        in        in        scope     scope     scope     out       in        out
GET /tapi/v2/mt_translation/{uid}/                                      out       in        in        in        scope     scope     scope     out       -         out
DELETE /tapi/v2/mt_translation/{uid}/                                   out       in        ro        in        scope     scope     scope     out       in        out
PATCH /tapi/v2/mt_translation/{uid}/                                    out       in        ro        in        scope     scope     scope     out       in        out
GET /tapi/v2/tone/                                                      out       in        in        in        in        in        in        out       in        out
GET /tapi/v2/topic/                                                     out       in        in        in        in        in        in        out       in        out
POST /tapi/v2/translation/                                              out       in        ro        in        scope     scope     scope     out       in        out
GET /tapi/v2/translation/                                               out       in        in        in        scope     scope     scope     out       in        out
PATCH /tapi/v2/translation/                                             out       in        ro        in        scope     scope     scope     out       in        out
GET /tapi/v2/translation/{uid}/                                         out       in        in        in        scope     scope     scope     out       -         out
DELETE /tapi/v2/translation/{uid}/                                      out       in        ro        in        scope     scope     scope     out       in        out
POST /tapi/v2/translation/{uid}/accept/                                 out       in        ro        in        scope     scope     scope     out       in        out
POST /tapi/v2/translation/{uid}/reject/                                 out       in        ro        in        scope     scope     scope     out       in        out
POST /tapi/v2/wordcount/                                                out       in        ro        in        scope     scope     scope     out       in        out
POST /v2/chats/messages                                                 out       in        ro        scope     in        scope     scope     out       in        out
GET /v2/chats/{chat_id}/messages/{message_id}                           out       in        in        scope     in        scope     scope     out       -         out
`;

let server: TestServer;
/** The values of path parameters: ids of the owner's account. */
const ids: Record<string, string> = { position: '0', environment: 'production' };
const people: Record<string, TestPerson> = {};
const keys: Record<string, string> = {};

beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_SANDBOX_HOLD: '0' } });
  const account = await server.createAccount({ username: 'acme', chat: true, balanceCents: 100_000 });
  const other = await server.createAccount({ username: 'other', chat: true });
  people.owner = await createPerson(server, { role: 'customer', account });
  people.member = await createPerson(server, { role: 'customer', account });
  people.other = await createPerson(server, { role: 'customer', account: other });
  people.editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  people.reviewer = await createPerson(server, { role: 'editor', languages: ['en:es+review'] });
  people.operator = await createPerson(server, { role: 'operator' });
  const reading = { environment: 'production', name: 'reads', read_only: true };
  const made = await people.owner.call('POST', '/api/account/keys', reading);
  const withScope = async (scope: KeyScope) => {
    const wanted = { environment: 'production', name: scope, scopes: [scope] };
    return (await people.owner!.call('POST', '/api/account/keys', wanted)).body.key;
  };
  Object.assign(keys, {
    key: account.production_key,
    reads: made.body.key,
    jobs: await withScope('jobs'),
    chat: await withScope('chat'),
    calls: await withScope('deliveries'),
    account: await withScope('account'),
    sandbox: account.sandbox_key,
    other: other.production_key,
  });
  await fillAccount(createClient(server.url, account.production_key));
});
afterAll(() => server.stop());

async function fillAccount(call: ReturnType<typeof createClient>): Promise<void> {
  const { ref } = await accountNamed(server.database, 'acme');
  const text = { text: 'The house is big.', source_language: 'en', target_language: 'es' };
  const uid = await orderEdit(call, text.text);
  const machine = { ...text, uid: 'machine', callback_url: 'http://127.0.0.1:9/' };
  expect((await call('POST', '/tapi/v2/mt_translation/', machine)).status).toBe(201);
  await waitForStatus(call, '/tapi/v2/mt_translation/machine/');
  const message = { chat_external_id: 'chat', external_id: 'm1', text_format: 'text', ...text };
  const sent = (await call('POST', '/v2/chats/messages', message)).body;
  const test = await call('POST', '/api/v1/test-event/', { url: 'http://127.0.0.1:9/' });
  const hook = await call('POST', '/api/v1/webhook-endpoints/', { url: 'https://example.com/' });
  await saveBrand(
    server.database,
    'command',
    ref,
    parseBrand('brand', { external_id: 'brand', name: 'B', languages: {} }),
    false,
  );
  await importEntries(server.database, ref, { from: 'en', to: 'es', brand: undefined }, [
    { source: [{ text: 'The door.' }], target: [{ text: 'La puerta.' }] },
  ]);
  const memory = (await people.owner!.call('GET', '/api/account/memory')).body;
  const tasks = (await people.operator!.call('GET', '/api/console/tasks')).body;
  const jobs = (await people.operator!.call('GET', '/api/console/jobs')).body;
  Object.assign(ids, {
    uid,
    username: 'acme',
    brand: 'brand',
    user_id: people.owner!.userId,
    task: tasks.tasks[0].task,
    vote: tasks.tasks[0].task,
    chat_id: sent.chat.id,
    message_id: sent.message.id,
    delivery_id: test.body.id,
    delivery: test.body.id,
    endpoint_id: hook.body.id,
    memory_id: memory.entries[0].memory_id,
    job: jobs.jobs[0].job,
  });
}

interface Probe {
  operation: string;
  path: string;
  method: string;
  body?: string;
}

/**
 * Returns for every operation a request that changes nothing. A body of invalid JSON is refused after
 * authentication, before the operation runs. An operation without a body gets an unsupported method, which is
 * answered with 405 after the same checks.
 */
async function probes(which?: 'web'): Promise<Probe[]> {
  const { paths } = await describeApp(which);
  const sorted = Object.entries(paths).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return sorted.flatMap(([path, methods]) => {
    const untaken = ['PATCH', 'PUT', 'POST', 'DELETE'].find((one) => !(one.toLowerCase() in methods))!;
    return Object.entries(methods).map(([name, operation]): Probe => {
      const method = name.toUpperCase();
      const common = { operation: `${method} ${path}`, path };
      if (method === 'GET') return { ...common, method };
      return operation?.requestBody === undefined
        ? { ...common, method: untaken }
        : { ...common, method, body: '{' };
    });
  });
}

type Sent = Record<string, string>;

/** Sends a request. @returns the outcome as the tables of this test name it, such as `in`, `out` or `scope` */
async function ask({ method, path, body }: Probe, sent: Sent): Promise<string> {
  const at = path.replace(/\{(\w+)\}/g, (_, name) => ids[name] ?? '00000000-0000-7000-8000-000000000000');
  const uid = at.replace(/mt_translation\/[^/]+/, 'mt_translation/machine');
  const query = path.endsWith('/concordance') ? '?q=house' : '';
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const headers = { ...sent, ...type, 'sec-fetch-site': 'same-origin' };
  const init = { method, headers, redirect: 'manual' as const, ...(body === undefined ? {} : { body }) };
  const response = await fetch(`${server.url}${uid}${query}`, init);
  await response.body?.cancel();
  const isOutOfScope = response.headers.get('www-authenticate')?.includes('insufficient_scope');
  return isOutOfScope ? 'scope' : wordOf(response.status);
}

/** Signs in and returns the cookie. */
async function cookieOf({ email, password }: TestPerson): Promise<Sent> {
  const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
  const body = JSON.stringify({ email, password });
  const response = await fetch(`${server.url}/api/session`, { method: 'POST', headers, body });
  return { cookie: response.headers.getSetCookie()[0]!.split(';')[0]! };
}

function wordOf(status: number): string {
  const words: Record<number, string> = { 400: 'in', 401: 'out', 403: 'ro', 404: '-', 405: 'in' };
  return words[status] ?? (status < 300 ? 'in' : String(status));
}

async function tableOf(which: 'web' | undefined, callers: ReadonlyMap<string, Sent>): Promise<string> {
  const lines: string[] = [];
  for (const probe of await probes(which)) {
    const cells: string[] = [];
    for (const sent of callers.values()) cells.push(await ask(probe, sent));
    lines.push(lineOf(probe.operation, cells));
  }
  return `\n${[lineOf('', [...callers.keys()]), ...lines].join('\n')}\n`;
}

const lineOf = (name: string, cells: readonly string[]) =>
  `${name.padEnd(72)}${cells.map((cell) => cell.padEnd(10)).join('')}`.trimEnd();

it('users have exactly the rights that this test lists at every operation of the web app', async () => {
  const callers = new Map<string, Sent>([['nobody', {}]]);
  for (const [name, person] of Object.entries(people)) callers.set(name, await cookieOf(person));
  expect(await tableOf('web', callers)).toBe(PEOPLE);
});

it('API keys have exactly the rights that this test lists at every operation of the API', async () => {
  const callers = new Map<string, Sent>([['nobody', {}]]);
  for (const [name, key] of Object.entries(keys)) callers.set(name, { authorization: `ApiKey ${key}` });
  callers.set('person', await cookieOf(people.owner!));
  expect(await tableOf(undefined, callers)).toBe(PROGRAMS);
});

it.each([
  ['PUT', '/api/account/retention'],
  ['POST', '/api/account/export'],
  ['POST', '/api/account/erase'],
  ['POST', '/api/account/team/{user_id}/owner'],
])('users who are not owners get 403 for %s %s', async (method, path) => {
  const at = path.replace(/\{\w+\}/, people.owner!.userId);
  const refused = await people.member!.call(method, at, {});
  expect([refused.status, refused.body.error.code]).toEqual([403, 'owner_only']);
});
