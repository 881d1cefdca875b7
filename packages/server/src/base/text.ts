/** Finds forbidden characters and sandbox triggers in texts, and forms plurals for messages. */
import type { Environment } from './account.ts';

/**
 * NUL, and the 66 noncharacters of Unicode: U+FDD0 to U+FDEF, and the last two code points of each of the 17
 * planes. Unicode says in section 23.7 that they "should never be interchanged". The regular expression lists
 * pairs of surrogates, because with the `u` flag the search would take three times as long.
 */
const UNUSABLE =
  /[\0\ufdd0-\ufdef\ufffe\uffff]|[\ud83f\ud87f\ud8bf\ud8ff\ud93f\ud97f\ud9bf\ud9ff\uda3f\uda7f\udabf\udaff\udb3f\udb7f\udbbf\udbff][\udffe\udfff]/;

/**
 * Returns the reason why a text cannot be stored or translated, or undefined. PostgreSQL stores no NUL, UTF-8
 * has no unpaired surrogates, and engines lose noncharacters or fail on them.
 */
export function findUnusable(text: string): string | undefined {
  if (text.isWellFormed() && !UNUSABLE.test(text)) return undefined;
  return 'must not contain NUL characters, noncharacters such as U+FFFF, or half surrogate pairs.';
}

/**
 * Returns a count with its noun, such as `1 attempt` or `2 attempts`. @param plural the default is the
 * singular with an s
 */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}

/** The sandbox triggers, with which customers test how their programs handle failures and delays. */
export type SandboxTrigger = 'fail' | 'fallback' | 'wait' | 'late' | 'twice';

const SANDBOX_TRIGGER = /\[sandbox:(fail|fallback|wait|late|twice)\]/;

/** Returns the first sandbox trigger of a text, such as `[sandbox:fail]`. Triggers have no effect in production. */
export function sandboxTriggerOf(environment: Environment, text = ''): SandboxTrigger | undefined {
  if (environment !== 'sandbox') return undefined;
  return SANDBOX_TRIGGER.exec(text)?.[1] as SandboxTrigger | undefined;
}
