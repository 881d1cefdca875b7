/** The lines of a statement as customers read them: one line for each job. The function is pure. */
import type { StatementLine } from './ledger.ts';

/** All transfers of a job in a period, or one transfer without a job. All amounts are in cents. */
export interface StatementEntry extends Pick<StatementLine, 'at' | 'kind' | 'uid' | 'memo' | 'change'> {
  /** The amount that was held in the period and is neither charged nor released. */
  onHold: number;
  /** The charged amount without refunds; negative if a charge of an earlier period was refunded. */
  charged: number;
  /** The discounts in the amount that is held or charged. */
  discounts: StatementLine['discounts'];
  /** Null if nothing is charged, or no editor worked on the job. */
  edited_words: StatementLine['edited_words'];
}

/** The transfers that end a hold or a part of it. */
const ENDS: ReadonlySet<string> = new Set(['capture', 'release', 'void']);
const NOTHING = { memo: null, onHold: 0, charged: 0, change: 0, discounts: [], edited_words: null };

/**
 * Joins the lines of each job. An entry has the time and the kind of its last transfer and the memos of all, and
 * the entries are in the order of these times. The sum of their changes is the sum of the lines' changes.
 */
export function joinByJob(lines: readonly StatementLine[]): StatementEntry[] {
  const entries = new Map<unknown, StatementEntry>();
  for (const line of lines) {
    const { at, kind, uid, memo, amount, change, discounts, edited_words } = line;
    const key = uid ?? line;
    const before = entries.get(key) ?? NOTHING;
    const held = kind === 'hold' ? amount : ENDS.has(kind) ? -amount : 0;
    const charged = kind === 'capture' ? amount : kind === 'refund' ? -amount : 0;
    // At least zero: a capture or void may end a hold of an earlier period, which is not in the lines.
    const onHold = Math.max(0, before.onHold + held);
    const leftCharged = before.charged + charged;
    // Deleting the key first moves the entry to the end of the map, at the time of its last transfer.
    entries.delete(key);
    entries.set(key, {
      at,
      kind,
      uid,
      memo: [before.memo, memo].filter((one) => one !== null).join('; ') || null,
      change: before.change + change,
      onHold,
      charged: leftCharged,
      // A refund has no discounts of its own; those of the rest of the price stay.
      discounts: onHold + leftCharged <= 0 ? [] : discounts.length > 0 ? discounts : before.discounts,
      edited_words: leftCharged <= 0 ? null : (edited_words ?? before.edited_words),
    });
  }
  return [...entries.values()];
}
