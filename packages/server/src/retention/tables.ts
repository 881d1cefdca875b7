/**
 * All tables with data of an account. The list determines what an export contains and what erasure deletes. A
 * test compares the list with the schema, so a new table must be added here.
 */

/** The types of the key columns. An export reads a table in pages, in the order of its key. */
type KeyType = 'uuid' | 'text' | 'integer';

export interface Table {
  name: string;
  /** The columns that identify a row within the account. Undefined if the table is not exported. */
  key?: Record<string, KeyType>;
  /** The columns that an export omits: secrets, and values that are derived from other columns. */
  hidden?: readonly string[];
  /** The binary column (`bytea`) whose bytes are a text, if there is one. An export decodes it. */
  text?: string;
  /**
   * `delivered`: an export contains only the rows of delivered jobs, because a customer may still cancel any other job
   * and pay nothing for its texts. `result`: this applies to the results among the rows; `entry`, `lesson`: to entries of
   * the memory and to what they come from.
   */
  only?: 'delivered' | 'result' | 'entry' | 'lesson';
  /** `delete`: the rows are deleted with the account. `keep`: the rows stay without personal data. */
  erase: 'delete' | 'keep';
}

/** The tables in the order of deletion: referencing tables before the tables that they refer to. */
export const TABLES: readonly Table[] = [
  {
    name: 'attempts',
    key: { delivery_id: 'uuid', attempt: 'integer' },
    hidden: ['detail'], // The outcome in words. It may name an address of the operator's network.
    erase: 'delete',
  },
  { name: 'deliveries', key: { delivery_id: 'uuid' }, text: 'body', erase: 'delete' },
  { name: 'breakers', key: { host: 'text' }, erase: 'delete' },
  { name: 'events', key: { event_id: 'uuid' }, erase: 'delete' },
  { name: 'feeds', erase: 'delete' },
  // Before the memory, because a confirmation under a claim teaches it.
  { name: 'editor_slots', erase: 'delete' },
  { name: 'claims', erase: 'delete' },
  {
    name: 'memory_uses',
    key: { memory_id: 'uuid', job_id: 'uuid', position: 'integer', how: 'text' },
    erase: 'delete',
  },
  {
    name: 'memory_lessons',
    key: { job_id: 'uuid', position: 'integer', memory_id: 'uuid' },
    hidden: ['editor_id', 'context_hash'],
    only: 'lesson',
    erase: 'delete',
  },
  // The next table is not exported, because its data is derived from the edits.
  { name: 'memory_efforts', erase: 'delete' },
  {
    name: 'memory',
    key: { memory_id: 'uuid' },
    hidden: ['source_hash', 'target_hash', 'sketch', 'searched', 'delivered'],
    only: 'entry',
    erase: 'delete',
  },
  { name: 'message_corrections', key: { message_id: 'uuid' }, erase: 'delete' },
  { name: 'messages', key: { message_id: 'uuid' }, erase: 'delete' },
  { name: 'chats', key: { chat_id: 'uuid' }, erase: 'delete' },
  { name: 'document_settings', key: { hash: 'text' }, erase: 'delete' },
  { name: 'issues', key: { issue_id: 'uuid' }, hidden: ['reviewer_id', 'editor_id'], erase: 'delete' },
  { name: 'comments', key: { comment_id: 'uuid' }, hidden: ['user_id'], erase: 'delete' },
  { name: 'looks', erase: 'delete' },
  { name: 'unsure_marks', erase: 'delete' },
  {
    name: 'edit_history',
    key: { history_id: 'uuid' },
    hidden: ['editor_id'],
    only: 'delivered',
    erase: 'delete',
  },
  {
    name: 'edits',
    key: { job_id: 'uuid', position: 'integer' },
    hidden: ['editor_id'],
    only: 'delivered',
    erase: 'delete',
  },
  {
    name: 'fills',
    key: { job_id: 'uuid', position: 'integer' },
    hidden: ['target_hash', 'under_rule'],
    only: 'delivered',
    erase: 'delete',
  },
  {
    name: 'votes',
    key: { vote_id: 'uuid' },
    hidden: ['reading', 'target_hash', 'editor_id'],
    only: 'delivered',
    erase: 'delete',
  },
  {
    name: 'disagreements',
    key: { disagreement_id: 'uuid' },
    hidden: ['reading', 'target_hash', 'editor_id'],
    erase: 'delete',
  },
  // The next two tables are not exported, because their data is derived from the segments.
  { name: 'readings', erase: 'delete' },
  { name: 'propagations', erase: 'delete' },
  { name: 'queries', key: { query_id: 'uuid' }, hidden: ['user_id'], erase: 'delete' },
  { name: 'task_skips', erase: 'delete' },
  { name: 'task_reports', erase: 'delete' },
  { name: 'tasks', erase: 'delete' },
  { name: 'edited_jobs', erase: 'delete' },
  {
    name: 'segments',
    key: { job_id: 'uuid', position: 'integer' },
    only: 'delivered',
    erase: 'delete',
  },
  { name: 'job_texts', key: { job_id: 'uuid', kind: 'text' }, only: 'result', erase: 'delete' },
  { name: 'idempotency', erase: 'delete' },
  { name: 'term_proposals', key: { proposal_id: 'uuid' }, hidden: ['user_id'], erase: 'delete' },
  { name: 'brand_drafts', key: { external_id: 'text' }, erase: 'delete' },
  {
    name: 'terms',
    key: { external_id: 'text', language: 'text', position: 'integer' },
    erase: 'delete',
  },
  { name: 'brand_languages', key: { external_id: 'text', language: 'text' }, erase: 'delete' },
  { name: 'brands', key: { external_id: 'text' }, erase: 'delete' },
  { name: 'money_requests', erase: 'delete' },
  { name: 'webhook_secrets', key: { secret_id: 'uuid' }, hidden: ['sealed'], erase: 'delete' },
  { name: 'webhook_endpoints', key: { endpoint_id: 'uuid' }, erase: 'delete' },
  { name: 'keys', key: { key_id: 'text' }, hidden: ['secret_hash', 'made_by'], erase: 'delete' },
  {
    name: 'users',
    key: { user_id: 'uuid' },
    hidden: ['password_hash', 'issuer', 'subject'],
    erase: 'delete',
  },
  { name: 'sandbox_requests', key: { request_id: 'uuid' }, hidden: ['token_hash'], erase: 'keep' },
  { name: 'prices', key: { price_id: 'uuid' }, erase: 'keep' },
  { name: 'job_events', key: { event_id: 'uuid' }, erase: 'keep' },
  { name: 'transfers', key: { transfer_id: 'uuid' }, erase: 'keep' },
  {
    name: 'jobs',
    key: { job_id: 'uuid' },
    hidden: ['request_hash', 'upgrade_hash', 'lease_token', 'mail_to', 'mail_at'],
    erase: 'keep',
  },
  { name: 'job_counts', erase: 'keep' },
  { name: 'job_numbers', erase: 'keep' },
  { name: 'sandbox_words', erase: 'delete' },
  { name: 'balances', key: { environment: 'text' }, erase: 'keep' },
  { name: 'audit', key: { audit_id: 'uuid' }, erase: 'keep' },
  { name: 'accounts', key: { account_id: 'uuid' }, erase: 'keep' },
];
