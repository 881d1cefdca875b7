/**
 * The API specification, sentence by sentence. Each sentence has a test with its id (`conforms('4.2.1', …)`)
 * or the reason why it has no test. `docs/conformance.md` is generated from this list.
 */

export interface SpecSentence {
  /** The section of the specification and the number of the sentence in it. */
  id: string;
  text: string;
  /** The reason why no test covers the sentence. */
  untested?: string;
}

const LIMITS = 'The specification does not say; see [limits and versions](limits.md).';
const SILENT = 'The specification says that it does not say; the answer of the project is in the guides.';

export const SENTENCES: readonly SpecSentence[] = [
  // 1. What the service does
  {
    id: '1.1',
    text: 'Every translation job is asynchronous: creating a job returns a job record at once, and the translated text is available later.',
  },
  {
    id: '1.2',
    text: 'Translation is done by machine translation followed by human editing.',
    untested:
      'The editing is not part of this interface; that a production job waits for an editor after its draft is held by 3.1.4.',
  },
  {
    id: '1.3',
    text: 'A machine-only variant (/mt_translation/) creates jobs that are translated by machine only.',
  },
  { id: '1.4', text: 'Context may be attached to a job: tone, topics, and a brand.' },
  { id: '1.5', text: 'An account has a default brand, which is used when a request names none.' },
  { id: '1.6', text: 'Brands are configured by the operator, not through this interface.' },
  { id: '1.7', text: 'Sandbox: jobs are processed automatically by machine translation with no human work.' },
  {
    id: '1.8',
    text: 'Sandbox: the result is held for 2 minutes and is then posted to the job’s callback URL.',
  },
  { id: '1.9', text: 'Sandbox and production use different base addresses and different API keys.' },
  { id: '1.10', text: 'Data sent to non-GET endpoints is JSON.' },
  { id: '1.11', text: 'All responses are JSON.' },
  { id: '1.12', text: 'Every path ends with a trailing /.' },
  { id: '1.13', text: 'All prices and balances are in USD cents.' },
  // 2. Resources and their fields
  {
    id: '2.1.1',
    text: 'uid: a client may supply it at creation and it must then be unique; otherwise it is assigned.',
  },
  { id: '2.1.2', text: 'text: content to translate, in the declared text_format, UTF-8.' },
  { id: '2.1.3', text: 'source_language: when it is absent the language is auto-detected.' },
  { id: '2.1.4', text: 'target_language must be a shortname listed by the language-pair endpoint.' },
  {
    id: '2.1.5',
    text: 'target_text: an existing translation that is to be post-edited; accepted on /translation/ only.',
  },
  { id: '2.1.6', text: 'text_format: one of text, html, srt, xliff; default text.' },
  { id: '2.1.7', text: 'callback_url: the service POSTs the translation to this URL when it is complete.' },
  { id: '2.1.8', text: 'brand: external identifier of a brand; when omitted the default brand is used.' },
  {
    id: '2.1.9',
    text: 'tone: a tone name from the tone list; when omitted on /translation/, the brand’s value is used.',
  },
  { id: '2.1.10', text: 'topics: topic names from the topic list.' },
  { id: '2.1.11', text: 'price: number, USD cents.' },
  {
    id: '2.1.12',
    text: 'balance and client: account balance in USD cents and account username, returned by the create and detail operations of /translation/.',
  },
  { id: '2.1.13', text: 'translated_text: present once the job is completed, in the same format as text.' },
  {
    id: '2.1.14',
    text: 'order_number: present in the creation response and in list items of /translation/.',
  },
  { id: '2.1.15', text: 'origin: present in the creation response of /mt_translation/.' },
  { id: '2.1.16', text: 'The creation response echoes tone and topics when they were supplied.' },
  { id: '2.1.17', text: 'instructions: free text shown to editors; type and endpoint not shown.' },
  {
    id: '2.2.1',
    text: 'A language pair is { lang_pair: { source_language: { name, shortname }, target_language: { name, shortname } } }.',
  },
  { id: '2.3.1', text: 'A tone is { tone: { name, description } }; known names: Informal, Formal.' },
  {
    id: '2.4.1',
    text: 'A topic is { topic: { name } }; known names: politics, gossip, sex & relationships, crafts, parenting, startups, tech, sports.',
  },
  {
    id: '2.5.1',
    text: 'The list envelope is { meta: { limit, offset, next, previous, total_count }, objects }; the default limit is 20.',
  },
  { id: '2.6.1', text: 'A brand is referenced by its external identifier in the brand field.' },
  {
    id: '2.7.1',
    text: 'xliff: an XLIFF 1.2 document; in a completed job each trans-unit of translated_text also carries a target element.',
  },
  {
    id: '2.7.2',
    text: 'srt: subtitle blocks of a sequence number, a time range and text lines, separated by a blank line.',
  },
  { id: '2.7.3', text: 'After translation the content of every notranslate tag is replaced by its origval.' },
  // 3. States
  { id: '3.1.1', text: 'Status values: new, translating, completed, failed, canceled, accepted, rejected.' },
  { id: '3.1.2', text: 'A machine-only job is created with status machine_translate_in_progress.' },
  {
    id: '3.1.3',
    text: 'The machine-only list filter accepts new, translating, completed, failed, canceled.',
  },
  {
    id: '3.1.4',
    text: 'A job created through /translation/ is returned with status new; read later it may show translating, then completed.',
  },
  { id: '3.1.5', text: 'In the sandbox, completion follows after the 2-minute hold.' },
  { id: '3.1.6', text: 'Transitions: not shown.', untested: SILENT },
  // 4. Endpoints
  { id: '4.0.1', text: 'All endpoints require authentication.' },
  {
    id: '4.1.1',
    text: 'GET /language_pair/ lists all supported language pairs: 200 { objects: [ language pair, … ] }; its shortnames are used as source_language and target_language.',
  },
  {
    id: '4.2.1',
    text: 'POST /translation/ creates a translation job: text, source_language and target_language are required; target_text, text_format, uid, callback_url, brand, tone and topics are optional.',
  },
  {
    id: '4.2.2',
    text: 'Response 201: order_number, price, source_language, status, target_language, text, text_format, uid, plus tone and topics when supplied; balance and client in the sandbox.',
  },
  { id: '4.2.3', text: 'Response 400: invalid request.' },
  {
    id: '4.3.1',
    text: 'GET /translation/ lists jobs; uid filters, with the lookups startswith, endswith, contains.',
  },
  { id: '4.3.2', text: 'status filters by one of the job status values.' },
  {
    id: '4.3.3',
    text: 'source_language and target_language filter, with the lookups in, nin, ne as a double-underscore suffix.',
  },
  {
    id: '4.3.4',
    text: 'Response 200: list envelope of jobs with order_number, price, source_language, status, target_language, text_format, uid. Response 400: invalid request.',
  },
  {
    id: '4.4.1',
    text: 'GET /translation/:uid/ returns one job: balance, client, price, source_language, status, target_language, text, text_format, uid, and translated_text when completed.',
  },
  { id: '4.4.2', text: 'A PATCH operation on jobs is a source of uids.' },
  {
    id: '4.5.1',
    text: 'DELETE /translation/:uid/ cancels a translation request: 200 with an empty body; 400: invalid request.',
  },
  {
    id: '4.6.1',
    text: 'POST /mt_translation/ creates a machine-only job: as 4.2 without target_text; 201 { origin, source_language, status, target_language, text, text_format, uid } with status machine_translate_in_progress; 400.',
  },
  {
    id: '4.7.1',
    text: 'GET /mt_translation/ lists machine-only jobs with the query parameters of 4.3: 200 list envelope, 400.',
  },
  { id: '4.8.1', text: 'GET /mt_translation/:uid/ returns one machine-only job: job fields as in 4.4; 400.' },
  {
    id: '4.9.1',
    text: 'GET /tone/ and GET /topic/ return the lists of tones and topics that tone and topics accept: 200 { objects: […] }.',
  },
  // 4.10 Chat
  {
    id: '4.10.1',
    text: 'Chat: whether a trailing / is required on chat paths is not shown.',
    untested: 'Both are accepted; held by the tests of 4.10.2.',
  },
  {
    id: '4.10.2',
    text: 'POST /v2/chats/messages: chat_external_id, source_language, target_language, text, text_format and external_id are required; callback_url, brand, agent_external_id, is_inbound and author_external_id are not.',
  },
  {
    id: '4.10.3',
    text: 'A new chat_external_id creates a chat; a new external_id within a chat creates a message.',
  },
  {
    id: '4.10.4',
    text: 'New chat and new message: 201. Existing chat and new message: 201. Existing chat and existing message: 200, nothing is created.',
  },
  { id: '4.10.5', text: 'The operation never updates existing chats or messages.' },
  {
    id: '4.10.6',
    text: 'The operation is idempotent; the same call can be repeated to read the current state.',
  },
  { id: '4.10.7', text: 'Response body: { chat: chat object, message: message object }.' },
  {
    id: '4.10.8',
    text: 'GET /v2/chats/:chat_id/messages/:message_id: 200 { chat, message }; 401, 403, 404.',
  },
  {
    id: '4.10.9',
    text: 'POST /chats creates a chat: 200 { chat_id, created_at, external_id, agent_external_id }; 400.',
  },
  {
    id: '4.10.10',
    text: 'GET /chats/:chat_id/messages lists the messages of a chat: { length, messages, index, limit }; limit 50 and index 1 by default; 400.',
  },
  {
    id: '2.8.1',
    text: 'A chat has id, external_id, agent_external_id (or null), brand (or null) and creation_date (ISO 8601).',
  },
  {
    id: '2.9.1',
    text: 'A message has id, chat_id, external_id, author_external_id, callback_url, is_inbound, source_language, target_language, text, text_format, status, creation_date; translated_text, translation_uid and completion_date when translated.',
  },
  { id: '2.9.2', text: 'external_id of a message is unique within a chat.' },
  {
    id: '2.9.3',
    text: 'Direction rule: the source is the language of who writes, the target that of who reads.',
    untested:
      'The request names both languages; the service translates as it is told, whatever is_inbound says.',
  },
  {
    id: '3.2.1',
    text: 'A message is mt_init when created, deliver_init in the payload delivered, deliver_complete in a message read after delivery.',
  },
  // 5. Authentication
  {
    id: '5.1',
    text: 'Every request carries the header Authorization with the scheme ApiKey followed by USERNAME:API_KEY, on both interfaces.',
  },
  { id: '5.2', text: 'Requests with a body carry Content-Type: application/json.' },
  {
    id: '5.3',
    text: 'A sandbox key is valid on the sandbox base address only; a production key is used with the production base address.',
  },
  { id: '5.4', text: 'A missing or wrong credential on the chat interface yields 401.' },
  { id: '5.5', text: 'Key scopes, expiry and rotation: not shown.', untested: SILENT },
  // 6. Events
  {
    id: '6.1',
    text: 'When a job has a callback_url and is complete, the service sends an HTTP POST of the translation to that URL.',
  },
  {
    id: '6.2',
    text: 'When a message translation is complete, the service sends an HTTP POST to the message’s callback_url with the headers content-type, ce-type, ce-time, ce-specversion, ce-source, ce-id and ce-datacontenttype.',
  },
  {
    id: '6.3',
    text: 'The body is { chat, message }; the message carries status deliver_init, translated_text, completion_date and translation_uid.',
  },
  { id: '6.4', text: 'The receiver must answer with a status in the 2xx range.' },
  {
    id: '6.5',
    text: 'Alternative to the webhook: polling the message through the creation endpoint or a read endpoint.',
  },
  { id: '6.6', text: 'Delivery retries and request signing: not shown.', untested: SILENT },
  // 7. Errors
  { id: '7.1', text: 'Translation jobs: 400, request rejected, with a JSON object.' },
  {
    id: '7.2',
    text: 'Chat POST: 400, invalid payload: error code validation_error, the message carries detail.',
  },
  { id: '7.3', text: 'Chat POST: 402, invalid subscription: error code invalid_subscription.' },
  { id: '7.4', text: 'Chat POST: 5xx, server error: error code server_error; retrying is safe.' },
  { id: '7.5', text: 'Chat: 401, missing or incorrect credentials: JSON object with an error text field.' },
  { id: '7.6', text: 'Chat message (GET): 403 and 404 with empty bodies.' },
  // 8. Limits
  {
    id: '8.1',
    text: 'Default page size: 20 for job lists; 50 for chat message lists, with index starting at 1.',
  },
  { id: '8.2', text: 'Sandbox hold time before delivery: 2 minutes.' },
  {
    id: '8.3',
    text: 'uid of a job must be unique; external_id of a message must be unique within its chat.',
  },
  { id: '8.4', text: 'Rate limits and the maximum size of text: not shown.', untested: LIMITS },
  // 9. Versioning
  { id: '9.1', text: 'The translation-job interface is versioned in the path prefix /tapi/v2.' },
  {
    id: '9.2',
    text: 'Chat message endpoints carry /v2; the chat-creation and chat-listing paths carry no version segment; the webhook type string ends in v2.',
  },
  { id: '9.3', text: 'Deprecation and change policy: not shown.', untested: LIMITS },
];
