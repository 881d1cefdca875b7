/**
 * The addresses that a browser visits to sign in with the OpenID Connect provider: `/api/sign-in/provider…`.
 * They answer with redirects, also when a sign-in is refused: the sign-in page then shows the reason.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type PendingSignIn, ProviderRefusal, type SignInProvider } from '../access/provider.ts';
import { signInWithProvider } from '../access/provider-people.ts';
import type { Vault } from '../access/secrets.ts';
import { clientOf, cookieOf, type SessionAuthOptions, setSessionCookie } from '../access/session-auth.ts';
import { forgiveAttempt, limitAttemptsByNetwork } from '../access/sessions.ts';
import { ApiError, notFound } from '../base/errors.ts';
import { parametersOf, resource } from '../http/http.ts';
import type { Settings } from '../settings/settings.ts';

export type ProviderRouteOptions = SessionAuthOptions & {
  vault: Vault;
  provider: SignInProvider | undefined;
  settings: Pick<Settings, 'oidcDomains' | 'oidcRoleClaim'>;
  /** Returns the public address of the server. */
  root(): string;
};

const PATH = '/api/sign-in/provider';
/** The time that a user has to sign in at the provider. */
const PENDING_SECONDS = 600;
/** The limit of failed sign-ins per client address. Each one costs a request to the provider. */
const BY_ADDRESS = { free: 20, mostSeconds: 300 };
const COOKIE_CONTEXT = 'sign-in at the provider';
const SIGN_IN_PAGE = '/app/sign-in';

interface Pending extends PendingSignIn {
  /** The page of the app that the user wanted to open. */
  next: string | undefined;
  /** The token of the invitation or reset link from whose page the user comes. */
  link: string | undefined;
  /** The time at which this sign-in expires, in milliseconds since 1970. */
  until: number;
}

export function providerRoutes(app: FastifyInstance, options: ProviderRouteOptions): void {
  const { database, vault, settings, root } = options;
  const session = cookieOf(settings);
  const cookie = `${session.name}-provider`;
  const cookieOptions = {
    path: '/',
    httpOnly: true,
    sameSite: 'lax' as const,
    secure: session.secure,
    maxAge: PENDING_SECONDS,
  };
  const redirectUri = () => `${root()}${PATH}/callback`;

  /**
   * Runs a handler and redirects to the URL that it returns. If it throws a refusal, redirects to the sign-in page with
   * the reason.
   */
  const visit =
    (handle: (provider: SignInProvider, request: FastifyRequest, reply: FastifyReply) => Promise<string>) =>
    async (request: FastifyRequest, reply: FastifyReply) => {
      if (options.provider === undefined) throw notFound();
      try {
        return reply.redirect(await handle(options.provider, request, reply), 303);
      } catch (error) {
        const refusal = refusalOf(error);
        if (refusal === undefined) throw error;
        const code = error instanceof ProviderRefusal ? error.code : undefined;
        const line = { request: request.id, reason: refusal, code };
        const isFault = ['clock', 'down', 'failed'].includes(refusal);
        options.log[isFault ? 'warn' : 'info'](line, 'sign-in with the provider was refused');
        return reply.redirect(`${SIGN_IN_PAGE}?refused=${refusal}`, 303);
      }
    };

  /** Reads the cookie of a pending sign-in. @throws ProviderRefusal `expired` */
  function readPending(written: string | undefined): Pending {
    try {
      const opened = vault.open(Buffer.from(written ?? '', 'base64url'), COOKIE_CONTEXT);
      const pending = JSON.parse(opened.toString()) as Pending;
      if (pending.until > Date.now()) return pending;
    } catch {
      // The cookie is missing, altered, or encrypted with another secret key.
    }
    throw new ProviderRefusal('expired');
  }

  resource(app, PATH, {
    GET: visit(async (provider, request, reply) => {
      const { url, pending } = await provider.begin(redirectUri());
      const parameters = parametersOf(request);
      const next = parameters.get('next') ?? undefined;
      // Only the app's own page tells the user which account the link belongs to, so a link from a page of another site
      // is ignored.
      const link = isFromOurPage(request, root()) ? (parameters.get('link') ?? undefined) : undefined;
      const kept: Pending = { ...pending, next, link, until: Date.now() + PENDING_SECONDS * 1000 };
      const sealed = vault.seal(Buffer.from(JSON.stringify(kept)), COOKIE_CONTEXT).toString('base64url');
      reply.setCookie(cookie, sealed, cookieOptions);
      return url.href;
    }),
  });
  resource(app, `${PATH}/callback`, {
    GET: visit(async (provider, request, reply) => {
      const pending = readPending(request.cookies[cookie]);
      reply.clearCookie(cookie, cookieOptions);
      const returned = new URL(`${redirectUri()}?${parametersOf(request)}`);
      // Checked before the attempt is counted, because it costs no request and anybody can make it.
      if (returned.searchParams.get('state') !== pending.state) throw new ProviderRefusal('expired');
      const marks = await limitAttemptsByNetwork(
        database,
        vault,
        'provider',
        request.clientAddress,
        BY_ADDRESS,
      );
      const identity = await provider.finish(returned, pending);
      const client = clientOf(request, session);
      const started = await signInWithProvider(database, settings, identity, client, pending.link);
      for (const mark of marks) await forgiveAttempt(database, mark);
      setSessionCookie(reply, session, started);
      return pageOf(pending.next);
    }),
  });
  resource(app, `${PATH}/sign-out`, {
    GET: visit(async (provider) => {
      const url = await provider.signOutUrl(`${root()}${SIGN_IN_PAGE}`);
      return url?.href ?? SIGN_IN_PAGE;
    }),
  });
}

/** Browsers omit `Sec-Fetch-Site` over plain http. The sign-in button sends the origin of its page in `Referer`. */
function isFromOurPage({ headers }: FastifyRequest, root: string): boolean {
  const { 'sec-fetch-site': site, referer = '' } = headers;
  if (site !== undefined) return site === 'same-origin';
  return URL.canParse(referer) && new URL(referer).origin === new URL(root).origin;
}

function refusalOf(error: unknown): string | undefined {
  if (error instanceof ProviderRefusal) return error.refusal;
  return error instanceof ApiError && error.code === 'too_many_attempts' ? 'too_many' : undefined;
}

/**
 * Returns the address of a page of the app. Another address becomes the home page, because a prepared link must lead a
 * user neither to another site nor, with `..`, to another GET of this server.
 */
function pageOf(next = '/'): string {
  const url = new URL(`/app${next}`, 'http://localhost');
  const isOwn = /^\/(?![/\\])[\x21-\x7e]*$/.test(next) && url.pathname.startsWith('/app/');
  return isOwn ? `${url.pathname}${url.search}${url.hash}` : '/app/';
}
