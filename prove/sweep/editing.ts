/** The editing scenario of the sweep: an editor corrects a job, and then the answer of a chat. */
import { setTimeout as wait } from 'node:timers/promises';
import { type Finding, keyOf } from '@dragoman/checks';
import { setAccount } from '../../packages/server/src/accounts/accounts.ts';
import { cookieOf } from '../../packages/server/src/accounts/door.ts';
import { createPerson } from '../../packages/server/src/accounts/people.ts';
import { beginSession } from '../../packages/server/src/accounts/sessions.ts';
import type { Database } from '../../packages/server/src/database/database.ts';
import type { Settings } from '../../packages/server/src/settings.ts';

/** What the editor makes of everything: no check has anything against it. */
const TARGET = [{ text: 'La casa es grande.' }];
const LOOK_MILLISECONDS = 100;

/** Wants the account's chats corrected, and makes an editor whom nobody reviews. @returns their cookie */
export async function prepareEditing(
  database: Database,
  settings: Settings,
  username: string,
): Promise<string> {
  await setAccount(database, username, { chatCorrection: true, environment: 'production' });
  const userId = await createPerson(database, 'program', {
    email: 'editor@example.com',
    role: 'editor',
    reviewShare: 0,
    languages: [{ source_language: 'en', target_language: 'es', review: false }],
  });
  const visitor = { address: '127.0.0.1', userAgent: undefined, token: undefined };
  const { token } = await beginSession(database, settings, { userId, passwordHash: null }, visitor);
  return `${cookieOf(settings).name}=${token}`;
}

/** One editor, who does whatever waits until nothing is left or nobody wants them to go on. */
export async function edit(url: string, cookie: string, goOn: () => Promise<boolean>): Promise<void> {
  // biome-ignore lint/suspicious/noExplicitAny: bodies as the interface gives them
  const ask = async (method: string, path: string, body?: object): Promise<{ status: number; body: any }> => {
    for (;;) {
      const response = await fetch(`${url}/api/editing${path}`, {
        method,
        headers: { cookie, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (response.status < 500)
        return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
      await wait(LOOK_MILLISECONDS);
    }
  };
  while (await goOn()) {
    const queue = await ask('GET', '/queue');
    const [held] = queue.body.held;
    if (held === undefined && queue.body.open.length === 0) {
      await wait(LOOK_MILLISECONDS);
      continue;
    }
    // A claim whose answer was lost is held: it is claimed again by its name.
    const claimed = await ask('POST', '/claims', held === undefined ? {} : { task: held.task });
    if (claimed.status !== 201) continue;
    const { task } = claimed.body;
    const { token } = task.lease;
    for (const segment of task.segments) {
      if (!segment.mine || segment.status === 'confirmed') continue;
      let { revision } = segment;
      let acknowledged: string[] = [];
      for (let saved = false; !saved; ) {
        const answer = await ask('PUT', `/tasks/${task.task}/segments/${segment.position}`, {
          ...{ token, revision, target: TARGET, status: 'confirmed', acknowledged },
        });
        const { code, findings, segment: now } = answer.body.error ?? {};
        if (code === 'checks_failed') acknowledged = findings.map((one: Finding) => keyOf(one));
        else if (code === 'conflict') revision = now.revision;
        else saved = true; // or the claim is over, which the next round finds
      }
    }
    await ask('POST', `/tasks/${task.task}/submit`, { token });
  }
}
