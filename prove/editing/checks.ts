/** The history of an editing run, and the invariants that it must satisfy. */
import type { Check, Checks } from '../harness/run.ts';

/** A save of a segment, as recorded by the simulated editor that sent it. */
export interface Save {
  uid: string;
  position: number;
  task: string;
  token: string;
  text: string;
  /** The last response to the save. `unknown` means that no response came before the end of the run. */
  answer: 'saved' | 'draft' | 'history' | 'refused' | 'unknown';
  /** The new revision of the segment. If the claim had already ended, the revision that the save would have created. */
  revision: number;
}

export interface GivenClaim {
  task: string;
  token: string;
  editor: string;
}

export interface EditingHistory {
  saves: Save[];
  given: GivenClaim[];
  kills: number;
  /** The milliseconds from the request for a claim to the response. */
  claimMilliseconds: number[];
  seconds: number;
  /** The number of actions of each kind. */
  moves: Record<string, number>;
  tasks: { task: string; kind: 'edit' | 'review'; status: string }[];
  claims: {
    task: string;
    token: string;
    editor: string;
    /** The start of the claim in Unix milliseconds, by the database's clock. */
    from: number;
    /** The end of the claim. Null if the claim has not ended. */
    to: number | null;
  }[];
  edits: { uid: string; position: number; text: string; revision: number; status: string }[];
  /** Texts that editors saved after their claim had ended, as stored in the history of the segments. */
  late: { uid: string; position: number; text: string }[];
  jobs: { uid: string; status: string; result: string | null }[];
  /** The number of claims that still count towards the editors' claim limits when all work is done. */
  slots: number;
  /** True if every job was completed in time. */
  settled: boolean;
}

type EditingCheck = Check<EditingHistory>;

/**
 * Checks that no two claims of a task overlap, and that every claim that the server confirmed to an editor is stored.
 */
const noDoubleClaim: EditingCheck = ({ claims, given }) => {
  const faults: string[] = [];
  for (const [task, of] of Map.groupBy(claims, (claim) => claim.task)) {
    const inOrder = of.toSorted((one, other) => one.from - other.from);
    for (const [index, claim] of inOrder.entries()) {
      const next = inOrder[index + 1];
      if (next !== undefined && (claim.to === null || next.from < claim.to)) {
        faults.push(`${task} was claimed by ${next.editor} while ${claim.editor} held it`);
      }
    }
  }
  const known = new Map(claims.map((claim) => [claim.token, claim]));
  for (const { task, token, editor } of given) {
    const claim = known.get(token);
    if (claim?.task !== task || claim.editor !== editor)
      faults.push(`${task} was given to ${editor}, and the claim is not stored`);
  }
  return faults;
};

/** Checks that no save under a claim was accepted after a save under a later claim of the same task. */
const fenced: EditingCheck = ({ saves }) => {
  const faults: string[] = [];
  const saved = saves.filter(({ answer }) => answer === 'saved');
  for (const [where, of] of Map.groupBy(saved, ({ uid, position }) => `${uid} ${position}`)) {
    const over = new Set<string>();
    let last: string | undefined;
    for (const { token } of of.toSorted((one, other) => one.revision - other.revision)) {
      if (over.has(token)) faults.push(`${where} was saved under a claim after a save under the next one`);
      if (last !== undefined && last !== token) over.add(last);
      last = token;
    }
  }
  return faults;
};

/**
 * Checks that every acknowledged text is stored: as the segment's text, in its history, or replaced by a later text.
 */
const noLostSave: EditingCheck = ({ saves, edits, late }) => {
  const faults: string[] = [];
  const now = new Map(edits.map((edit) => [`${edit.uid} ${edit.position}`, edit]));
  const kept = new Set(late.map(({ uid, position, text }) => `${uid} ${position} ${text}`));
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
    const stored = now.get(where);
    if (last === undefined) continue;
    if (stored === undefined) faults.push(`${where}: is not stored`);
    else if (stored.revision < last.revision)
      faults.push(`${where}: went back to revision ${stored.revision}`);
    else if (stored.text !== last.text) {
      // A save without a response may still have been stored.
      const unknown = of.some(({ answer, text }) => answer === 'unknown' && text === stored.text);
      if (!unknown) faults.push(`${where}: has another text than was acknowledged last`);
    }
  }
  return faults;
};

/** Checks that every task is done, every job is completed, and no claim is left. */
const everythingDone: EditingCheck = ({ tasks, jobs, claims, slots, settled }) => [
  ...(settled ? [] : ['not every job was completed in time']),
  ...tasks
    .filter(({ status, kind }) => status !== 'done' && !(kind === 'review' && status === 'canceled'))
    .map(({ task, status }) => `${task} is ${status}`),
  ...jobs.filter(({ status }) => status !== 'completed').map(({ uid, status }) => `${uid} is ${status}`),
  ...claims.filter(({ to }) => to === null).map(({ task }) => `${task} is still claimed`),
  ...(slots === 0 ? [] : [`${slots} slots are taken`]),
];

/** Checks that every result consists of the confirmed segments. */
const deliveredAsConfirmed: EditingCheck = ({ jobs, edits }) => {
  const byJob = Map.groupBy(edits, ({ uid }) => uid);
  return jobs.flatMap(({ uid, result }) => {
    const of = (byJob.get(uid) ?? []).toSorted((one, other) => one.position - other.position);
    const faults = of
      .filter(({ status }) => status !== 'confirmed')
      .map(({ position }) => `${uid} ${position} is not confirmed`);
    const expected = of.map(({ text }) => text).join('\n');
    return result === expected
      ? faults
      : [...faults, `${uid} was delivered with other texts than were confirmed`];
  });
};

export const CHECKS = {
  'claims of one task at the same time': noDoubleClaim,
  'saves under a claim that was over': fenced,
  'acknowledged saves that are lost': noLostSave,
  'tasks and jobs that are not done': everythingDone,
  'jobs delivered otherwise than confirmed': deliveredAsConfirmed,
} satisfies Checks<EditingHistory>;
