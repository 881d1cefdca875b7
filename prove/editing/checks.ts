/** The checks of an editing run: pure, over its history. Each returns what is wrong, one sentence a fault. */
import type { History } from './history.ts';

export type Check = (history: History) => string[];

/** No task was two editors' at once: by the claims' own times, and by what each was told. */
const noDoubleClaim: Check = ({ claims, given }) => {
  const faults: string[] = [];
  for (const [task, of] of Map.groupBy(claims, (claim) => claim.task)) {
    const inOrder = [...of].sort((a, b) => a.from - b.from);
    for (const [index, claim] of inOrder.entries()) {
      const next = inOrder[index + 1];
      if (next !== undefined && (claim.to === undefined || next.from < claim.to)) {
        faults.push(`${task} was claimed by ${next.editor} while ${claim.editor} had it`);
      }
    }
  }
  const known = new Map(claims.map((claim) => [claim.token, claim]));
  for (const { task, token, editor } of given) {
    const claim = known.get(token);
    if (claim?.task !== task || claim.editor !== editor)
      faults.push(`${task} was given to ${editor}, and is not theirs`);
  }
  return faults;
};

/** Nobody saved under a claim after another had saved under the next one. */
const fenced: Check = ({ saves }) => {
  const faults: string[] = [];
  const saved = saves.filter(({ answer }) => answer === 'saved');
  for (const [where, of] of Map.groupBy(saved, ({ uid, position }) => `${uid} ${position}`)) {
    const over = new Set<string>();
    let last: string | undefined;
    for (const { token } of [...of].sort((a, b) => a.revision - b.revision)) {
      if (over.has(token)) faults.push(`${where} was saved by a claim that another had followed`);
      if (last !== undefined && last !== token) over.add(last);
      last = token;
    }
  }
  return faults;
};

/** Every text that was acknowledged is there: the last of its segment, or in its history, or followed by a later one. */
const noLostSave: Check = ({ saves, edits, left }) => {
  const faults: string[] = [];
  const now = new Map(edits.map((edit) => [`${edit.uid} ${edit.position}`, edit]));
  const kept = new Set(left.map(({ uid, position, text }) => `${uid} ${position} ${text}`));
  for (const [where, of] of Map.groupBy(saves, ({ uid, position }) => `${uid} ${position}`)) {
    for (const { answer, text } of of) {
      if (answer === 'history' && !kept.has(`${where} ${text}`))
        faults.push(`${where}: a late text is not in the history`);
    }
    const written = of.filter(({ answer }) => answer === 'saved' || answer === 'draft');
    const revisions = new Set(written.map(({ revision }) => revision));
    if (revisions.size < written.length) faults.push(`${where}: one revision was acknowledged twice`);
    const last = written.reduce<(typeof written)[number] | undefined>(
      (one, other) => (one === undefined || other.revision > one.revision ? other : one),
      undefined,
    );
    const there = now.get(where);
    if (last === undefined) continue;
    if (there === undefined) faults.push(`${where}: nothing is there`);
    else if (there.revision < last.revision) faults.push(`${where}: went back to revision ${there.revision}`);
    else if (there.text !== last.text) {
      // Of a save without an answer nobody knows whether it was made.
      const unknown = of.some(({ answer, text }) => answer === 'unknown' && text === there.text);
      if (!unknown) faults.push(`${where}: has another text than was acknowledged last`);
    }
  }
  return faults;
};

/** Every task is done, every job delivered, and nobody has a place taken by nothing. */
const everythingDone: Check = ({ tasks, jobs, claims, slots, settled }) => [
  ...(settled ? [] : ['the run did not come to its end']),
  ...tasks
    .filter(({ status, kind }) => status !== 'done' && !(kind === 'review' && status === 'canceled'))
    .map(({ task, status }) => `${task} is ${status}`),
  ...jobs.filter(({ status }) => status !== 'completed').map(({ uid, status }) => `${uid} is ${status}`),
  ...claims.filter(({ to }) => to === undefined).map(({ task }) => `${task} is claimed still`),
  ...(slots === 0 ? [] : [`${slots} places are taken`]),
];

/** What was delivered is what was confirmed, segment by segment. */
const deliveredAsConfirmed: Check = ({ jobs, edits }) => {
  const byJob = Map.groupBy(edits, ({ uid }) => uid);
  return jobs.flatMap(({ uid, result }) => {
    const of = [...(byJob.get(uid) ?? [])].sort((a, b) => a.position - b.position);
    const faults = of
      .filter(({ status }) => status !== 'confirmed')
      .map(({ position }) => `${uid} ${position} is not confirmed`);
    const expected = of.map(({ text }) => text).join('\n');
    return result === expected ? faults : [...faults, `${uid} was delivered otherwise than it was confirmed`];
  });
};

export const CHECKS: Record<string, Check> = {
  'claims of one task at the same time': noDoubleClaim,
  'saves under a claim that was over': fenced,
  'acknowledged saves that are lost': noLostSave,
  'tasks and jobs that are not done': everythingDone,
  'jobs delivered otherwise than confirmed': deliveredAsConfirmed,
};
