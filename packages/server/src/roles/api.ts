/** The API process: it answers HTTP requests. It keeps no state, so any number of API processes can run. */
import type { FastifyInstance } from 'fastify';
import { KEYS_CHANNEL } from '../access/accounts.ts';
import { createApiKeyAuthenticator } from '../access/api-keys.ts';
import { createSignInProvider } from '../access/provider.ts';
import { cookieOf } from '../access/session-auth.ts';
import { createMailer } from '../accounts/mail.ts';
import { createSandboxQuota } from '../accounts/sandbox-words.ts';
import { createMessageCreator } from '../chats/create.ts';
import { createJobCreator } from '../jobs/create/create.ts';
import { createPriceList } from '../ledger/price-list.ts';
import { createApp } from './app.ts';
import { type Context, REQUEST_MILLISECONDS } from './context.ts';
import { CHANNELS } from './hints.ts';

export interface Api {
  app: FastifyInstance;
  /** Resolves when the background work of all answered requests is done. */
  idle(): Promise<void>;
}

/** Creates the app with all routes. The app does not listen yet. */
export async function startApi(context: Context): Promise<Api> {
  const { languages, guard, settings, scanner, metrics, log, hints, worker } = context;
  const database = context.database.limited(REQUEST_MILLISECONDS);
  const authenticator = createApiKeyAuthenticator(database);
  const quota = createSandboxQuota(database, settings, metrics.quota);
  const creator = createJobCreator({
    database,
    languages,
    prices: createPriceList(database, settings),
    scanner,
    guard,
    settings,
    quota,
    worker: () => worker()?.translation,
    created(count, waiting) {
      metrics.jobsCreated(count);
      if (waiting === 0) return;
      worker()?.translation.wake();
      hints?.send(CHANNELS.jobs);
    },
  });
  const messages = createMessageCreator({
    database,
    languages,
    scanner,
    guard,
    settings,
    quota,
    worker: () => worker()?.chat,
    created(count, waiting) {
      metrics.messagesCreated(count);
      if (waiting === 0) return;
      worker()?.chat.wake();
      hints?.send(CHANNELS.messages);
    },
  });
  const { jobHooks, reopen } = context.editing;
  const app = createApp({
    ...context,
    database,
    vault: context.store.vault,
    mailer: createMailer(settings, log),
    provider: createSignInProvider(settings),
    authenticator,
    creator,
    messages,
    hooks: jobHooks,
    reopen,
    deliveryDue: () => worker()?.sender.wake(),
  });
  await database.listen(KEYS_CHANNEL, () => authenticator.clearCache());
  if (!cookieOf(settings).secure) {
    log.warn(
      'users sign in over plain http, so passwords can be read on the way; set DRAGOMAN_PUBLIC_URL to https',
    );
  }
  return {
    app,
    async idle() {
      await Promise.all([creator.idle(), messages.idle()]);
    },
  };
}
