/** Tests of the list of sources with several confirmed texts, over HTTP. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimTask, confirm, orderEdit, pathOf } from '../testing/editors.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
} from '../testing/harness.ts';

let server: TestServer;
let call: ReturnType<typeof createClient>;
let ann: TestPerson;
let bob: TestPerson;

beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_TASK_WORDS: '8' } });
  [ann, bob] = (await Promise.all(
    ['Ann', 'Bob'].map((name) => createPerson(server, { role: 'editor', languages: ['en:es'], name })),
  )) as [TestPerson, TestPerson];
  const { production_key } = await server.createAccount({ balanceCents: 100_000 });
  call = createClient(server.url, production_key);
});
afterAll(() => server.stop());

const text = (written: string) => [{ text: written }];

it('lists what the editors of two tasks of a document confirmed differently, and nothing else', async () => {
  const [first, second] = [
    '<p>Keep the box.</p><p>Open the old door.</p>',
    '<p>Keep the box.</p><p>Close it.</p>',
  ];
  await orderEdit(call, `${first}${second}`, { text_format: 'html' });
  const [one, two] = [await claimTask(ann), await claimTask(bob)];
  const list = async (person: TestPerson, task: typeof one) =>
    (await person.call('GET', pathOf(task, '/inconsistencies'))).body;
  const [box] = one.segments.filter(({ mine }: { mine: boolean }) => mine);
  expect((await confirm(ann, one, box, { target: text('Guarde la caja.') })).status).toBe(200);
  expect(await list(ann, one)).toEqual({ count: 0, sources: [] });
  const { segments } = (await bob.call('GET', pathOf(two))).body;
  const [repeat] = segments.filter(({ mine }: { mine: boolean }) => mine);
  expect((await confirm(bob, two, repeat, { target: text('Guarde  la caja.') })).status).toBe(200);
  expect(await list(bob, two)).toEqual({ count: 0, sources: [] });
  const now = (await bob.call('GET', pathOf(two))).body.segments.find(
    ({ position }: { position: number }) => position === repeat.position,
  );
  expect((await confirm(bob, two, now, { target: text('Conserve la caja.') })).status).toBe(200);
  const sources = [
    {
      source: text('Keep the box.'),
      texts: [
        { target: text('Guarde la caja.'), positions: [box.position] },
        { target: text('Conserve la caja.'), positions: [repeat.position] },
      ],
    },
  ];
  expect(await list(ann, one)).toEqual({ count: 1, sources });
  expect(await list(bob, two)).toEqual({ count: 1, sources });
});
