/**
 * Sign-in with an OpenID Connect provider: the authorization code flow with PKCE, state and nonce. This file
 * speaks the protocol; `provider-people.ts` decides which user signs in.
 */
import * as openid from 'openid-client';
import type { PersonRole } from '../base/account.ts';
import { SettingError, type Settings } from '../settings/settings.ts';

/** Why a sign-in with the provider was refused. The sign-in page has a sentence for each. */
export const REFUSALS = [
  'canceled',
  'clock',
  'disabled',
  'domain',
  'down',
  'expired',
  'failed',
  'linked',
  'no_email',
  'no_role',
  'not_invited',
  'second_factor',
  'too_many',
  'unverified',
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** A refused sign-in. */
export class ProviderRefusal extends Error {
  override name = 'ProviderRefusal';
  readonly refusal: Refusal;
  /** The code of the error at the provider; undefined if the provider authenticated the user. */
  readonly code: string | undefined;
  constructor(refusal: Refusal, code?: string) {
    super(`sign-in refused: ${refusal}`);
    this.refusal = refusal;
    this.code = code;
  }
}

/** The state of an unfinished sign-in, which the browser keeps in an encrypted cookie. */
export interface PendingSignIn {
  state: string;
  nonce: string;
  verifier: string;
}

/** A user as the provider describes them. */
export interface Identity {
  issuer: string;
  subject: string;
  email: string | undefined;
  emailVerified: boolean;
  name: string | undefined;
  /** The role that the claim gives; undefined if the claim has no value with a role. */
  role: Exclude<PersonRole, 'customer'> | undefined;
}

export interface SignInProvider {
  /** The name of the provider on the sign-in page. */
  name: string;
  /** Returns the address of the provider's sign-in page. @throws ProviderRefusal */
  begin(redirectUri: string): Promise<{ url: URL; pending: PendingSignIn }>;
  /** Exchanges the code in `returned`, the address to which the provider sent the browser. @throws ProviderRefusal */
  finish(returned: URL, pending: PendingSignIn): Promise<Identity>;
  /** Returns the address at which the provider signs the user out, if it has one. @throws ProviderRefusal */
  signOutUrl(returnTo: string): Promise<URL | undefined>;
}

export type ProviderSettings = Pick<
  Settings,
  | 'oidcIssuer'
  | 'oidcClientId'
  | 'oidcClientSecret'
  | 'oidcName'
  | 'oidcScopes'
  | 'oidcDomains'
  | 'oidcTrustEmails'
  | 'oidcRoleClaim'
  | 'oidcRoles'
  | 'passwordUsers'
>;

const TIMEOUT_SECONDS = 10;
/** The tolerated difference between the clocks of the provider and the server, in seconds. */
const CLOCK_TOLERANCE_SECONDS = 60;
/**
 * The time after which the provider's discovery document and keys are read again. The keys are also read again when a
 * token names an unknown key.
 */
const DISCOVERY_MILLISECONDS = 3_600_000;

/**
 * Creates a client for the provider that the settings name. It contacts the provider at the first sign-in, so the
 * server also starts while the provider is down.
 * @throws SettingError when the settings contradict each other
 */
export function createSignInProvider(settings: ProviderSettings): SignInProvider | undefined {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcRoleClaim, oidcRoles } = settings;
  if (issuer === undefined) {
    if (settings.passwordUsers !== 'everybody') {
      throw new SettingError('DRAGOMAN_PASSWORDS must be everybody unless DRAGOMAN_OIDC_ISSUER is set.');
    }
    return undefined;
  }
  if (clientId === undefined) {
    throw new SettingError('DRAGOMAN_OIDC_CLIENT_ID must be set when DRAGOMAN_OIDC_ISSUER is set.');
  }
  if ((oidcRoleClaim === undefined) !== (Object.keys(oidcRoles).length === 0)) {
    throw new SettingError('DRAGOMAN_OIDC_ROLE_CLAIM and DRAGOMAN_OIDC_ROLES must be set together.');
  }
  if (isEveryTenant(issuer) && (settings.oidcDomains.length === 0 || settings.oidcTrustEmails === 'true')) {
    throw new SettingError(
      'DRAGOMAN_OIDC_ISSUER names the tenants of all customers of Microsoft: name your own tenant, or set DRAGOMAN_OIDC_DOMAINS without DRAGOMAN_OIDC_TRUST_EMAILS.',
    );
  }
  const configuration = createDiscovery(issuer, clientId, settings.oidcClientSecret);

  /** Runs a call to the provider. Keeps the codes of its errors for the log, because messages may quote tokens. */
  async function asking<T>(ask: (config: openid.Configuration) => Promise<T>): Promise<T> {
    try {
      return await ask(await configuration());
    } catch (error) {
      const { code, cause } = error as { code?: string; cause?: { code?: string } };
      throw new ProviderRefusal(refusalOf(error), code ?? cause?.code);
    }
  }

  return {
    name: settings.oidcName ?? new URL(issuer).host,
    begin: (redirectUri) =>
      asking(async (config) => {
        const pending = {
          state: openid.randomState(),
          nonce: openid.randomNonce(),
          verifier: openid.randomPKCECodeVerifier(),
        };
        const url = openid.buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope: settings.oidcScopes,
          state: pending.state,
          nonce: pending.nonce,
          code_challenge: await openid.calculatePKCECodeChallenge(pending.verifier),
          code_challenge_method: 'S256',
        });
        return { url, pending };
      }),
    finish: (returned, { state, nonce, verifier }) =>
      asking(async (config) => {
        const tokens = await openid.authorizationCodeGrant(config, returned, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims()!;
        // OpenID Connect Core 1.0 §2: at most 255 ASCII characters.
        if (!/^[\x20-\x7e]{1,255}$/.test(claims.sub)) throw new Error('the subject is not valid');
        const all: Record<string, unknown> = { ...claims };
        const wanted = ['email', 'email_verified', ...(oidcRoleClaim === undefined ? [] : [oidcRoleClaim])];
        // Some providers leave these claims out of the ID token and return them only from their userinfo endpoint.
        if (wanted.some((name) => all[name] === undefined) && config.serverMetadata().userinfo_endpoint) {
          const more = await openid.fetchUserInfo(config, tokens.access_token, claims.sub);
          // `email` and `email_verified` must come from the same answer.
          const { email, email_verified } = claims.email === undefined ? more : claims;
          Object.assign(all, more, { email, email_verified });
        }
        return {
          issuer: claims.iss,
          subject: claims.sub,
          email: typeof all.email === 'string' ? all.email : undefined,
          // Some providers, such as Amazon Cognito, send the text.
          emailVerified:
            settings.oidcTrustEmails === 'true' ||
            all.email_verified === true ||
            all.email_verified === 'true',
          name: typeof all.name === 'string' ? all.name : undefined,
          role: oidcRoleClaim === undefined ? undefined : roleOf(all[oidcRoleClaim], oidcRoles),
        };
      }),
    signOutUrl: (returnTo) =>
      asking(async (config) => {
        if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
        return openid.buildEndSessionUrl(config, { post_logout_redirect_uri: returnTo });
      }),
  };
}

/**
 * Returns whether an issuer of Microsoft stands for the tenants of all organisations. Each tenant decides which e-mail
 * addresses its tokens contain.
 */
function isEveryTenant(issuer: string): boolean {
  const { hostname, pathname } = new URL(issuer);
  return (
    /(?:^|\.)(?:microsoftonline\.(?:com|us)|partner\.microsoftonline\.cn)$/.test(hostname) &&
    /^\/+(?:common|organizations|consumers)(?:\/|$)/i.test(pathname)
  );
}

/** Returns a function that reads the provider's discovery document, and caches it for an hour. */
function createDiscovery(
  issuer: string,
  clientId: string,
  clientSecret: string | undefined,
): () => Promise<openid.Configuration> {
  const metadata = { client_secret: clientSecret, [openid.clockTolerance]: CLOCK_TOLERANCE_SECONDS };
  let known: { at: number; config: Promise<openid.Configuration> } | undefined;
  return () => {
    if (known !== undefined && Date.now() - known.at < DISCOVERY_MILLISECONDS) return known.config;
    const config = openid.discovery(
      new URL(issuer),
      clientId,
      metadata as Partial<openid.ClientMetadata>,
      clientSecret === undefined ? openid.None() : undefined,
      {
        timeout: TIMEOUT_SECONDS,
        // According to the settings, only a provider on this machine may use http.
        ...(issuer.startsWith('http:') ? { execute: [openid.allowInsecureRequests] } : {}),
      },
    );
    const asked = { at: Date.now(), config };
    known = asked;
    config.catch(() => {
      if (known === asked) known = undefined;
    });
    return config;
  };
}

/** The codes of errors that mean that the provider cannot be reached or does not work. */
const DOWN = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
]);

function refusalOf(error: unknown): Refusal {
  if (error instanceof openid.AuthorizationResponseError) {
    return error.error === 'access_denied' ? 'canceled' : 'failed';
  }
  const { code } = error as { code?: string };
  if (code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED') return 'clock';
  // `fetch` throws a TypeError without a code when there is no connection.
  return DOWN.has(code ?? '') || (error instanceof TypeError && code === undefined) ? 'down' : 'failed';
}

/** Returns the role for the values of a claim; `operator` if they include values for both roles. */
function roleOf(claim: unknown, roles: ProviderSettings['oidcRoles']): Identity['role'] {
  const values = Array.isArray(claim) ? claim : [claim];
  const given = values.map((value) =>
    typeof value === 'string' && Object.hasOwn(roles, value) ? roles[value] : undefined,
  );
  return given.find((role) => role === 'operator') ?? given.find((role) => role !== undefined);
}
