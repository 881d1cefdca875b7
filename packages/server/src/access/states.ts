/**
 * The states of an account and the table of its transitions.
 *
 * | state     | meaning                                                                                  |
 * | --------- | ---------------------------------------------------------------------------------------- |
 * | active    | its keys and users can do everything                                                     |
 * | suspended | its keys are refused, its users can only read, and its jobs, tasks and callbacks wait    |
 *
 * Erasure is not a state of this table, because it cannot be undone (retention/erase.ts).
 */
export const ACCOUNT_STATUSES = ['active', 'suspended'] as const;
export type AccountStatus = (typeof ACCOUNT_STATUSES)[number];

/** Every allowed transition, by its trigger. Only operators trigger them. */
export const ACCOUNT_MOVES = {
  suspend: { from: 'active', to: 'suspended', action: 'account.suspended' },
  resume: { from: 'suspended', to: 'active', action: 'account.resumed' },
} as const satisfies Record<string, { from: AccountStatus; to: AccountStatus; action: string }>;
export type AccountTrigger = keyof typeof ACCOUNT_MOVES;
