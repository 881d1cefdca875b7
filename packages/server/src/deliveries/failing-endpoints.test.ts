/** Tests that webhook endpoints are disabled when their deliveries fail, with an SMTP server. */
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mailFailedEndpoint } from '../accounts/endpoint-mail.ts';
import { createMailer } from '../accounts/mail.ts';
import { createLog } from '../base/log.ts';
import {
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
  waitForStatus,
} from '../testing/harness.ts';
import { type Mailbox, startMailbox } from '../testing/mailbox.ts';
import { disableFailing, MIN_DEAD } from './failing-endpoints.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const ENDPOINTS = '/api/v1/webhook-endpoints/';
const TEXT = { text: 'A house.', source_language: 'en', target_language: 'es' };

let server: TestServer;
let receiver: Receiver;
let mailbox: Mailbox;
let owner: pg.Client;
beforeAll(async () => {
  mailbox = await startMailbox();
  receiver = await startReceiver();
  server = await startTestServer();
  owner = await server.connectOwner();
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
  await mailbox.close();
});

/** Disables failing endpoints as the workers of the server do every hour. */
function disableAll(): Promise<void> {
  const settings = { smtpUrl: mailbox.url, mailFrom: 'dragoman@example.com' };
  const mails = { mailer: createMailer(settings, createLog('silent')), root: () => server.url };
  return disableFailing(server.database, (account, { environment }) =>
    mailFailedEndpoint(server.database, mails, account, environment),
  );
}

async function createEndpoint(path: string) {
  const account = await server.createAccount();
  const call = createClient(server.url, account.production_key);
  const { id } = (await call('POST', ENDPOINTS, { url: `${receiver.url}${path}?token=secret` })).body;
  return {
    account,
    call,
    id,
    status: async () => (await call('GET', `${ENDPOINTS}${id}/`)).body.status,
    /** Answers deliveries with a status, creates jobs, and waits until `ended` deliveries have ended. */
    async deliver(code: 200 | 410, jobs: number, ended = jobs): Promise<void> {
      receiver.answer(() => code);
      for (let n = 0; n < jobs; n++) expect((await call('POST', MACHINE, TEXT)).status).toBe(201);
      const status = code === 200 ? 'delivered' : 'dead';
      const list = `/api/v1/deliveries/?status=${status}&limit=1000`;
      await until(async () => (await call('GET', list)).body.objects.length === ended);
    },
  };
}

it('an endpoint whose deliveries all failed is disabled, its owners get a mail, and one request enables it again', async () => {
  const { account, call, id, status, deliver } = await createEndpoint('/dead');
  const first = await createPerson(server, { role: 'customer', account });
  const member = await createPerson(server, { role: 'customer', account });
  await deliver(410, MIN_DEAD - 1);
  await disableAll();
  expect(await status()).toBe('active');
  await deliver(410, 1, MIN_DEAD);
  // Two workers at the same time disable it once.
  await Promise.all([disableAll(), disableAll()]);
  expect(await status()).toBe('failed');
  const { host } = new URL(receiver.url);
  const operator = await createPerson(server, { role: 'operator' });
  const audit = `/api/console/audit?account=${account.username}&action=endpoint.failed`;
  expect((await operator.call('GET', audit)).body.entries).toMatchObject([
    { actor: 'program', subject: id, detail: { host } },
  ]);
  const mailsTo = (email: string) => mailbox.received.filter(({ to }) => to.includes(email));
  expect(mailsTo(first.email).map(({ text }) => text.includes(host))).toEqual([false]);
  expect(mailsTo(first.email)[0]!.text).toContain('(production)');
  expect(mailsTo(member.email)).toEqual([]);
  const overview = (await first.call('GET', '/api/account')).body;
  expect(overview.failed_endpoints).toEqual({ production: 1, sandbox: 0 });

  // It gets no events, and no request can set this status.
  const before = receiver.received.length;
  const { uid } = (await call('POST', MACHINE, TEXT)).body;
  await waitForStatus(call, `${MACHINE}${uid}/`);
  expect(receiver.received).toHaveLength(before);
  expect((await call('PATCH', `${ENDPOINTS}${id}/`, { status: 'failed' })).status).toBe(400);

  const enabled = await first.call('PATCH', `/api/account/webhook-endpoints/${id}`, { status: 'active' });
  expect(enabled.body.status).toBe('active');
  // Deliveries that died before the endpoint was enabled do not count.
  await disableAll();
  expect(await status()).toBe('active');
});

it('an endpoint stays enabled while a delivery of the last days arrived, and while its account is suspended', async () => {
  const { account, status, deliver } = await createEndpoint('/flaky');
  await deliver(200, 1);
  await deliver(410, MIN_DEAD);
  await disableAll();
  expect(await status()).toBe('active');
  await owner.query(
    "update deliveries set status = 'dead', failure = 'gone' where status = 'delivered' and url like '%/flaky%'",
  );
  const setStatus = (wanted: string) =>
    owner.query('update accounts set status = $1 where username = $2', [wanted, account.username]);
  await setStatus('suspended');
  await disableAll();
  await setStatus('active');
  expect(await status()).toBe('active');
  await disableAll();
  expect(await status()).toBe('failed');
});
