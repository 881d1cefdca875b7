/** The settings of the server: addresses, callbacks, sessions, the sandbox, limits and prices. */
import {
  databaseUrl,
  domain,
  engineName,
  filledListOf,
  folder,
  httpUrl,
  integer,
  issuerUrl,
  listOf,
  network,
  oneOf,
  optional,
  passwordUsers,
  roleByValue,
  secretKey,
  setting,
  smtpUrl,
  text,
} from './checks.ts';

const MEBIBYTE = 1024 * 1024;

/** The setting that names the settings file. The settings file itself cannot contain it. */
export const SETTINGS_FILE = 'DRAGOMAN_SETTINGS';

export const SERVER_SETTINGS = {
  settingsFile: setting(
    SETTINGS_FILE,
    '',
    optional(text),
    'A file with a line NAME=value for each setting. The environment overrides it. Not set: no file.',
  ),
  databaseUrl: setting(
    'DATABASE_URL',
    '',
    optional(databaseUrl),
    'The PostgreSQL server (15 or later), or the servers of a cluster: postgres://USER@HOST,HOST/NAME. Not set: the program runs its own in the data directory.',
  ),
  data: setting(
    'DRAGOMAN_DATA',
    './data',
    folder,
    'The data directory: embedded database, secret key, offline engine.',
  ),
  host: setting('DRAGOMAN_HOST', '127.0.0.1', text, 'The address that the server listens on.'),
  port: setting('DRAGOMAN_PORT', '8080', integer(0, 65_535), 'The port that the server listens on.'),
  publicUrl: setting(
    'DRAGOMAN_PUBLIC_URL',
    '',
    optional(httpUrl),
    'The public address of the server. Not set: http://HOST:PORT.',
  ),
  sandboxUrl: setting(
    'DRAGOMAN_SANDBOX_URL',
    '',
    optional(httpUrl),
    'A separate host name or port for the sandbox. Not set: the public address with /sandbox.',
  ),
  sandboxHoldSeconds: setting(
    'DRAGOMAN_SANDBOX_HOLD',
    '120',
    integer(0, 86_400),
    'Seconds after its creation before a completed sandbox job is delivered.',
  ),
  machineHoldSeconds: setting(
    'DRAGOMAN_MT_HOLD',
    '0',
    integer(0, 86_400),
    'Seconds after its creation before a completed machine job is delivered, in both environments.',
  ),
  allowedNetworks: setting(
    'DRAGOMAN_ALLOWED_NETWORKS',
    '',
    listOf(network),
    'Private networks that callbacks may reach, such as 10.0.0.0/8,127.0.0.0/8.',
  ),
  callbackSchedule: setting(
    'DRAGOMAN_CALLBACK_SCHEDULE',
    '5,30,120,600,1800,3600,7200,14400,28800',
    filledListOf(integer(1, 259_200)),
    'Seconds between the attempts of a delivery; the last one repeats until 72 hours have passed.',
  ),
  callbackTimeoutSeconds: setting(
    'DRAGOMAN_CALLBACK_TIMEOUT',
    '15',
    integer(1, 60),
    'Seconds that a receiver has to answer.',
  ),
  callbackBreaker: setting(
    'DRAGOMAN_CALLBACK_BREAKER',
    '30,60,120,300',
    filledListOf(integer(1, 86_400)),
    'Seconds without attempts to a host after five failures in a row, and after each further one; the last repeats.',
  ),
  vendor: setting(
    'DRAGOMAN_VENDOR',
    'dragoman',
    (written) => {
      if (!/^[a-z0-9-]{1,40}$/.test(written))
        throw new Error('1 to 40 lower-case letters, digits or hyphens');
      return written;
    },
    'The vendor part of event types in chat deliveries.',
  ),
  secretKey: setting(
    'DRAGOMAN_SECRET_KEY',
    '',
    optional(secretKey),
    'The key that encrypts stored secrets: 32 bytes in base64, the same for all processes of one database. Not set: with the embedded database, created once in the data directory.',
  ),
  sessionIdleSeconds: setting(
    'DRAGOMAN_SESSION_IDLE',
    '1800',
    integer(60, 604_800),
    'Seconds without a request after which a user is signed out.',
  ),
  sessionSeconds: setting(
    'DRAGOMAN_SESSION',
    '28800',
    integer(60, 2_592_000),
    'Seconds after which a user must sign in again in any case.',
  ),
  passwordUsers: setting(
    'DRAGOMAN_PASSWORDS',
    'everybody',
    passwordUsers,
    'Who may sign in with a password: everybody, or the e-mail addresses of operators for emergencies.',
  ),
  oidcIssuer: setting(
    'DRAGOMAN_OIDC_ISSUER',
    '',
    optional(issuerUrl),
    'The address of the OpenID Connect provider that users sign in with. Not set: no provider.',
  ),
  oidcClientId: setting('DRAGOMAN_OIDC_CLIENT_ID', '', optional(text), 'The client id at the provider.'),
  oidcClientSecret: setting(
    'DRAGOMAN_OIDC_CLIENT_SECRET',
    '',
    optional(text),
    'The client secret at the provider. Not set: a public client, protected by PKCE alone.',
  ),
  oidcName: setting(
    'DRAGOMAN_OIDC_NAME',
    '',
    optional(text),
    'The name of the provider on the sign-in page. Not set: its host name.',
  ),
  oidcScopes: setting(
    'DRAGOMAN_OIDC_SCOPES',
    'openid email profile',
    text,
    'The scopes that are requested, separated by spaces. Some providers need another one for groups.',
  ),
  oidcDomains: setting(
    'DRAGOMAN_OIDC_DOMAINS',
    '',
    listOf(domain),
    'The domains of e-mail addresses that may sign in with the provider. Not set: all.',
  ),
  oidcRoleClaim: setting(
    'DRAGOMAN_OIDC_ROLE_CLAIM',
    '',
    optional(text),
    'The claim with the groups or roles of a user, such as groups. Not set: users must be invited.',
  ),
  oidcRoles: setting(
    'DRAGOMAN_OIDC_ROLES',
    '',
    roleByValue,
    'The roles by value of that claim, such as dragoman-operators=operator,translators=editor.',
  ),
  operatorSecondFactor: setting(
    'DRAGOMAN_OPERATOR_SECOND_FACTOR',
    'optional',
    oneOf('optional', 'required'),
    'Whether operators must have a second factor. If required, operators without one can only set it up.',
  ),
  trustedProxies: setting(
    'DRAGOMAN_TRUSTED_PROXIES',
    '',
    listOf(network),
    'Networks of reverse proxies whose X-Forwarded-For header is trusted, such as 10.0.0.0/8.',
  ),
  smtpUrl: setting(
    'DRAGOMAN_SMTP_URL',
    '',
    optional(smtpUrl),
    'The SMTP server for mails, such as smtp://user:password@mail.example.com. Not set: links are shown, not mailed.',
  ),
  mailFrom: setting('DRAGOMAN_MAIL_FROM', 'Dragoman <dragoman@localhost>', text, 'The sender of mails.'),
  sandboxRequests: setting(
    'DRAGOMAN_SANDBOX_REQUESTS',
    'off',
    oneOf('off', 'operator', 'at-once'),
    'Whether anybody can request a sandbox account at /api/sandbox-requests, and whether an operator grants it or the program at once.',
  ),
  sandboxWords: setting(
    'DRAGOMAN_SANDBOX_WORDS',
    '2000000',
    integer(0, 1_000_000_000),
    'Words per account and day (UTC) in the sandbox, chat included; 0 means no limit.',
  ),
  sandboxEngines: setting(
    'DRAGOMAN_SANDBOX_ENGINES',
    '',
    listOf(engineName),
    'The engines that may translate texts of the sandbox, such as apertium,deepl. Not set: all that run on this machine.',
  ),
  keyRequests: setting(
    'DRAGOMAN_KEY_REQUESTS',
    '1000',
    integer(0, 100_000),
    'Requests a second that an API key may send to each API process, with bursts of ten times as many; 0 means no limit.',
  ),
  logLevel: setting(
    'DRAGOMAN_LOG_LEVEL',
    'info',
    oneOf('silent', 'error', 'warn', 'info', 'debug'),
    'The log level. Customer texts are never logged.',
  ),
  maxTextBytes: setting(
    'DRAGOMAN_MAX_TEXT_BYTES',
    String(10 * MEBIBYTE),
    integer(1, 10 * MEBIBYTE),
    'The maximum length of a job’s text, in bytes of UTF-8.',
  ),
  maxMessageCharacters: setting(
    'DRAGOMAN_MAX_MESSAGE',
    '20000',
    integer(6_000, 100_000),
    'The maximum length of a chat message, in characters.',
  ),
  humanCentsPerWord: setting(
    'DRAGOMAN_PRICE_HUMAN',
    '3',
    integer(0, 100_000),
    'Price of a word of a human job, in USD cents, unless `pair price` set another.',
  ),
  machineCentsPerWord: setting(
    'DRAGOMAN_PRICE_MACHINE',
    '0',
    integer(0, 100_000),
    'Price of a word of a machine job, in USD cents, unless `pair price` set another.',
  ),
  repeatShare: setting(
    'DRAGOMAN_REPEAT_SHARE',
    '100',
    integer(0, 100),
    'Price of a word in a repeated sentence of the same text, in percent of its price.',
  ),
  exactShare: setting(
    'DRAGOMAN_EXACT_SHARE',
    '50',
    integer(0, 100),
    'Price of a word in a sentence that the account’s translation memory has, in percent of its price.',
  ),
  fuzzy95Share: setting(
    'DRAGOMAN_FUZZY95_SHARE',
    '100',
    integer(0, 100),
    'Price of a word in a sentence that is 95 to 99 % similar to one that an editor confirmed, in percent of its price.',
  ),
  fuzzy85Share: setting(
    'DRAGOMAN_FUZZY85_SHARE',
    '100',
    integer(0, 100),
    'Price of a word in a sentence that is 85 to 94 % similar to one that an editor confirmed, in percent of its price.',
  ),
  fuzzy75Share: setting(
    'DRAGOMAN_FUZZY75_SHARE',
    '100',
    integer(0, 100),
    'Price of a word in a sentence that is 75 to 84 % similar to one that an editor confirmed, in percent of its price.',
  ),
  contextShare: setting(
    'DRAGOMAN_CONTEXT_SHARE',
    '30',
    integer(0, 100),
    'Price of a word in a sentence that the account’s translation memory has between the same neighbors, in percent of its price.',
  ),
  draftFigures: setting(
    'DRAGOMAN_DRAFT_FIGURES',
    'account',
    oneOf('account', 'all'),
    'Whose editing decides whether a similar memory entry is a better draft than the engine’s: of each account apart, or of all accounts together.',
  ),
} as const;
