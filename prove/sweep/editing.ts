/** The editing scenario of the sweep proof: an editor corrects a job, then the translation of a chat message. */
import { setTimeout as wait } from 'node:timers/promises';
import { type Finding, keyOf } from '@dragoman/checks';
import { sendAsEditor } from '../harness/editors.ts';

/** A correct translation, about which no automatic check reports a finding. */
const TARGET = [{ text: 'La casa es grande.' }];
const POLL_MILLISECONDS = 100;

/** Works as one editor on all tasks until `goesOn` returns false. */
export async function edit(url: string, cookie: string, goesOn: () => Promise<boolean>): Promise<void> {
  const send = async (method: string, path: string, body?: object) =>
    (await sendAsEditor({ url, cookie }, method, path, body))!;
  while (await goesOn()) {
    const queue = await send('GET', '/queue');
    const [held] = queue.body.held;
    if (held === undefined && queue.body.open.length === 0) {
      await wait(POLL_MILLISECONDS);
      continue;
    }
    // If the response to a claim was lost, the editor has already claimed the task and claims it again by its id.
    const claimed = await send('POST', '/claims', held === undefined ? {} : { task: held.task });
    if (claimed.status !== 201) continue;
    const { task } = claimed.body;
    const { token } = task.lease;
    for (const segment of task.segments) {
      if (!segment.mine || segment.status === 'confirmed') continue;
      let { revision } = segment;
      let acknowledged: string[] = [];
      for (let saved = false; !saved; ) {
        const answer = await send('PUT', `/tasks/${task.task}/segments/${segment.position}`, {
          token,
          revision,
          target: TARGET,
          status: 'confirmed',
          acknowledged,
        });
        const { code, findings, segment: now } = answer.body.error ?? {};
        if (code === 'checks_failed') acknowledged = findings.map((one: Finding) => keyOf(one));
        else if (code === 'conflict') revision = now.revision;
        else saved = true; // A save fails if the claim has ended. The next round then claims the task again.
      }
    }
    await send('POST', `/tasks/${task.task}/submit`, { token });
  }
}
