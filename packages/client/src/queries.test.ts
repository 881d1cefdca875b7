/** Tests the questions of editors in the client with the real server. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimTask, orderEdit, pathOf } from '../../server/src/testing/editors.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestServer,
} from '../../server/src/testing/harness.ts';
import { createDragoman, DragomanError } from './client.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

it('client: queries can be listed and answered', async () => {
  const { production_key: key } = await server.createAccount({ balanceCents: 1000 });
  const dragoman = createDragoman({ baseUrl: server.url, key });
  expect(await dragoman.queries.list()).toEqual([]);
  const uid = await orderEdit(createClient(server.url, key), 'The bank is closed.');
  const editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  const task = await claimTask(editor);
  const asked = { token: task.lease.token, position: 0, question: 'Which bank?' };
  expect((await editor.call('POST', pathOf(task, '/queries'), asked)).status).toBe(201);
  const [open] = await dragoman.queries.list();
  expect(open).toMatchObject({ uid, question: 'Which bank?', status: 'open' });
  for (let times = 0; times < 2; times += 1) {
    const answered = await dragoman.queries.answer(open!.query, 'The one for money.');
    expect(answered).toMatchObject([{ status: 'answered', answer: 'The one for money.' }]);
  }
  expect(await dragoman.queries.list()).toEqual([]);
  expect(await dragoman.queries.list({ uid })).toHaveLength(1);
  const late = dragoman.queries.answer(open!.query, 'Another one.');
  await expect(late).rejects.toMatchObject({ status: 404 });
  await expect(late).rejects.toBeInstanceOf(DragomanError);
});
