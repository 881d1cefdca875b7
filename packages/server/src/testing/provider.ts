/**
 * An OpenID Connect provider on the loopback, made with the library `oidc-provider`. It shows no sign-in page: the
 * test decides which user signs in.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Adapter, type AdapterPayload } from 'oidc-provider';

export interface ProviderUser {
  email?: string | undefined;
  /** Providers send other types than booleans too. */
  email_verified?: unknown;
  name?: string;
  groups?: string | string[];
  /** The claims in the ID token. All other claims are in the response of the provider's UserInfo endpoint. */
  token?: { email?: string; email_verified?: boolean };
}

export interface TestProvider {
  issuer: string;
  /** The settings of a server that uses this provider. */
  settings: Record<string, string>;
  /** The users of the provider, by subject. */
  users: Map<string, ProviderUser>;
  /** The subject of the user who signs in next; undefined for a user who cancels. */
  subject: string | undefined;
  /** The addresses of the sign-in requests, the latest last. */
  requests: URL[];
  /** Starts to accept sign-ins for the server with this address. */
  serve(url: string): void;
  /** How many seconds the provider's clock is behind the server's. */
  lagSeconds: number;
  /** Makes the provider answer each request with this status; undefined makes it answer normally again. */
  failWith(status: number | undefined): void;
  close(): Promise<void>;
}

const CLIENT = { client_id: 'dragoman', client_secret: 'secret-of-the-client' };
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

/**
 * How many seconds the clock is behind in code of the provider. In code of the server, which runs in the same process,
 * the clock is right.
 */
const clock = new AsyncLocalStorage<number>();

/** Stores the provider's data. It replaces the library's own adapter in memory, which logs a warning. */
class MemoryAdapter implements Adapter {
  private static readonly stored = new Map<string, AdapterPayload>();
  private readonly kind: string;

  constructor(kind: string) {
    this.kind = kind;
  }

  private keyOf = (id: string) => `${this.kind} ${id}`;

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    MemoryAdapter.stored.set(this.keyOf(id), payload);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return MemoryAdapter.stored.get(this.keyOf(id));
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return [...MemoryAdapter.stored.values()].find((one) => one.uid === uid);
  }

  async findByUserCode(): Promise<undefined> {}

  async consume(id: string): Promise<void> {
    const payload = await this.find(id);
    if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000);
  }

  async destroy(id: string): Promise<void> {
    MemoryAdapter.stored.delete(this.keyOf(id));
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [key, payload] of MemoryAdapter.stored) {
      if (payload.grantId === grantId) MemoryAdapter.stored.delete(key);
    }
  }
}

export async function startProvider(): Promise<TestProvider> {
  const { now } = Date;
  Date.now = () => now() - (clock.getStore() ?? 0) * 1000;
  let provider: Provider | undefined;
  let failure: number | undefined;
  const server = createServer((request, response) => {
    void clock.run(test.lagSeconds, () => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (failure !== undefined || provider === undefined) {
      response.writeHead(failure ?? 503).end();
      return;
    }
    if (request.url?.startsWith('/auth?')) test.requests.push(new URL(request.url, issuer));
    if (request.url?.startsWith('/interaction/')) return interact(provider, request, response);
    await provider.callback()(request, response);
  }

  async function interact(to: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { subject: accountId } = test;
    if (accountId === undefined) {
      return to.interactionFinished(request, response, { error: 'access_denied' });
    }
    const grant = new to.Grant({ accountId, clientId: CLIENT.client_id });
    grant.addOIDCScope('openid email profile');
    const grantId = await grant.save();
    await to.interactionFinished(request, response, { login: { accountId }, consent: { grantId } });
  }

  const test: TestProvider = {
    issuer,
    settings: {
      DRAGOMAN_OIDC_ISSUER: issuer,
      DRAGOMAN_OIDC_CLIENT_ID: CLIENT.client_id,
      DRAGOMAN_OIDC_CLIENT_SECRET: CLIENT.client_secret,
      DRAGOMAN_OIDC_NAME: 'Acme ID',
    },
    users: new Map(),
    subject: undefined,
    lagSeconds: 0,
    requests: [],
    serve(url) {
      provider = new Provider(issuer, {
        clients: [
          {
            ...CLIENT,
            redirect_uris: [`${url}/api/sign-in/provider/callback`],
            post_logout_redirect_uris: [`${url}/app/sign-in`],
          },
        ],
        conformIdTokenClaims: false,
        claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
        cookies: { keys: ['key of the cookies'] },
        features: {
          devInteractions: { enabled: false },
          rpInitiatedLogout: {
            // The library's own page would load a font from another host.
            logoutSource(ctx, form) {
              ctx.body = `<!doctype html><title>Sign out</title>${form}`;
            },
          },
        },
        findAccount: (_, accountId) => ({
          accountId,
          claims(use) {
            const { token, ...claims } = test.users.get(accountId) ?? {};
            return { sub: accountId, ...(use === 'id_token' ? token : claims) };
          },
        }),
        interactions: { url: (_, { uid }) => `/interaction/${uid}` },
        jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
        pkce: { required: () => true },
        ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
        adapter: MemoryAdapter,
      });
    },
    failWith(status) {
      failure = status;
    },
    async close() {
      Date.now = now;
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return test;
}

/** A browser that follows redirects between the server and the provider, and keeps the cookies of both. */
export function createTraveler() {
  const jars = new Map<string, Map<string, string>>();
  return {
    jars,
    /**
     * Opens an address and follows its redirects, at most until an address begins with `until`.
     * @param headers further headers of each request
     * @returns the last address
     */
    async open(url: string, until?: string, headers: Record<string, string> = {}): Promise<URL> {
      for (let at = new URL(url); ; ) {
        if (until !== undefined && at.href.startsWith(until)) return at;
        const jar = jars.get(at.origin) ?? new Map<string, string>();
        jars.set(at.origin, jar);
        const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
        const response = await fetch(at, { redirect: 'manual', headers: { ...headers, cookie } });
        await response.body?.cancel();
        for (const given of response.headers.getSetCookie()) {
          const [, name, value] = /^([^=]+)=([^;]*)/.exec(given)!;
          if (value === '') jar.delete(name!);
          else jar.set(name!, value!);
        }
        const location = response.headers.get('location');
        if (location === null) return at;
        at = new URL(location, at);
      }
    },
  };
}
