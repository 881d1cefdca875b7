import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  describeSettings,
  effectiveSettings,
  loadSettings,
  SettingError,
  warnOfUnknownSettings,
} from './settings.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'dragoman-settings-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

function file(content: string): string {
  const path = join(directory, 'settings.env');
  writeFileSync(path, content);
  return path;
}

function refusal(environment: Record<string, string>): string {
  try {
    loadSettings(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(SettingError);
    return (error as Error).message;
  }
  throw new Error(`accepted ${JSON.stringify(environment)}`);
}

describe('loadSettings', () => {
  it('uses the default of every setting that is not set', () => {
    const written = describeSettings().map(({ name, default: fallback }) => [name, fallback]);
    expect(loadSettings({})).toEqual(loadSettings(Object.fromEntries(written)));
  });

  it('has the documented defaults', () => {
    expect(loadSettings({})).toMatchObject({
      databaseUrl: undefined,
      data: './data',
      host: '127.0.0.1',
      port: 8080,
      sandboxHoldSeconds: 120,
      machineHoldSeconds: 0,
      allowedNetworks: [],
      callbackSchedule: [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800],
      callbackTimeoutSeconds: 15,
      vendor: 'dragoman',
      logLevel: 'info',
      maxMessageCharacters: 20_000,
      maxTextBytes: 10 * 1024 * 1024,
      humanCentsPerWord: 3,
      machineCentsPerWord: 0,
      engines: ['bergamot', 'apertium'],
      leaseSeconds: 30,
    });
  });

  it.each([
    'https://example.com/translate',
    'https://example.com/translate/',
    'https://example.com/?a=b',
    'https://example.com/#a',
    'https://user@example.com',
  ])('refuse %s as an address of the server, because it needs a host name of its own', (address) => {
    for (const name of ['DRAGOMAN_PUBLIC_URL', 'DRAGOMAN_SANDBOX_URL']) {
      expect(() => loadSettings({ [name]: address })).toThrow(
        `${name} must be an http or https URL without a path, because Dragoman needs a host name of its own.`,
      );
    }
  });

  it('converts values to the type of the setting', () => {
    const key = Buffer.alloc(32, 7);
    const settings = loadSettings({
      DATABASE_URL: 'postgresql://localhost/dragoman',
      DRAGOMAN_PORT: '0',
      DRAGOMAN_PUBLIC_URL: 'https://translate.example//',
      DRAGOMAN_ALLOWED_NETWORKS: '10.0.0.0/8, ::1/128',
      DRAGOMAN_CALLBACK_SCHEDULE: '1, 2',
      DRAGOMAN_SECRET_KEY: key.toString('base64'),
      DRAGOMAN_METRICS_TOKEN: 'open sesame',
    });
    expect(settings).toMatchObject({
      databaseUrl: 'postgresql://localhost/dragoman',
      port: 0,
      publicUrl: 'https://translate.example',
      allowedNetworks: ['10.0.0.0/8', '::1/128'],
      callbackSchedule: [1, 2],
      secretKey: key,
      metricsToken: 'open sesame',
    });
  });

  it.each([
    ['DATABASE_URL', 'mysql://localhost/x', 'a URL that starts with postgres://'],
    ['DRAGOMAN_PORT', '65536', 'a whole number from 0 to 65535'],
    ['DRAGOMAN_PORT', '-1', 'a whole number from 0 to 65535'],
    ['DRAGOMAN_PORT', '80.5', 'a whole number from 0 to 65535'],
    ['DRAGOMAN_PORT', '0x50', 'a whole number from 0 to 65535'],
    ['DRAGOMAN_PORT', ' 80', 'a whole number from 0 to 65535'],
    ['DRAGOMAN_PORT', '', 'a whole number from 0 to 65535'],
    ['DRAGOMAN_PUBLIC_URL', 'translate.example', 'an http or https URL'],
    ['DRAGOMAN_SANDBOX_URL', 'ftp://translate.example', 'an http or https URL'],
    ['DRAGOMAN_SANDBOX_HOLD', '86401', 'a whole number from 0 to 86400'],
    ['DRAGOMAN_MT_HOLD', 'soon', 'a whole number from 0 to 86400'],
    [
      'DRAGOMAN_ALLOWED_NETWORKS',
      '10.0.0.0/8,10.0.0.1',
      'a comma-separated list of networks such as 10.0.0.0/8',
    ],
    ['DRAGOMAN_ALLOWED_NETWORKS', '10.0.0.0/33', 'a comma-separated list of networks such as 10.0.0.0/8'],
    ['DRAGOMAN_CALLBACK_SCHEDULE', '5,0', 'a whole number from 1 to 259200'],
    ['DRAGOMAN_CALLBACK_SCHEDULE', '5;30', 'a whole number from 1 to 259200'],
    ['DRAGOMAN_VENDOR', 'Dragoman', '1 to 40 lower-case letters, digits or hyphens'],
    ['DRAGOMAN_SECRET_KEY', Buffer.alloc(31).toString('base64'), '32 bytes in base64'],
    ['DRAGOMAN_LOG_LEVEL', 'loud', 'one of silent, error, warn, info, debug'],
    ['DRAGOMAN_MAX_TEXT_BYTES', '0', 'a whole number from 1 to 10485760'],
    ['DRAGOMAN_PRICE_HUMAN', '0.5', 'a whole number from 0 to 100000'],
    ['DRAGOMAN_PRICE_MACHINE', '1e3', 'a whole number from 0 to 100000'],
    ['DRAGOMAN_APERTIUM_MEMORY', '255', 'a whole number from 256 to 1048576'],
    ['DRAGOMAN_APERTIUM_PIPELINES', '0', 'a whole number from 1 to 64'],
    [
      'DRAGOMAN_ENGINES',
      'llm:',
      'one of apertium, bergamot, deepl, libretranslate, google, azure, llm, llm:NAME (NAME: up to 20 lower-case letters and digits, a letter first)',
    ],
    ['DRAGOMAN_LLM_PARAMETERS', '[1]', 'a JSON object such as {"temperature":null}'],
    ['DRAGOMAN_LLM_PARAMETERS', '{', 'a JSON object such as {"temperature":null}'],
    ['DRAGOMAN_LLM_LICENSE', 'yes', 'one of accepted'],
    ['DRAGOMAN_LEASE', '1', 'a whole number from 2 to 3600'],
    ['DRAGOMAN_WORKER_JOBS', '0', 'a whole number from 1 to 10000'],
    ['DRAGOMAN_SENDER_DELIVERIES', '10001', 'a whole number from 1 to 10000'],
  ])('refuses %s=%s with a sentence that names the setting', (name, written, meaning) => {
    expect(refusal({ [name]: written })).toBe(`${name} must be ${meaning}.`);
  });

  it('never quotes an invalid value, because the value could be a misplaced secret', () => {
    // `DRAGOMAN_SETTINGS` is not tested: its value is the path of a file, which is not secret.
    for (const { name } of describeSettings().filter(({ name }) => name !== 'DRAGOMAN_SETTINGS')) {
      let message = '';
      try {
        loadSettings({ [name]: 'canary-value-1/2' });
      } catch (error) {
        message = (error as Error).message;
      }
      expect(message, name).not.toContain('canary-value');
    }
  });

  it('reads the settings file, and the environment overrides the file', () => {
    const path = file('# a comment\nDRAGOMAN_PORT=1234\nDRAGOMAN_HOST="0.0.0.0"\n');
    expect(loadSettings({ DRAGOMAN_SETTINGS: path })).toMatchObject({ port: 1234, host: '0.0.0.0' });
    expect(loadSettings({ DRAGOMAN_SETTINGS: path, DRAGOMAN_PORT: '99' })).toMatchObject({
      port: 99,
      host: '0.0.0.0',
    });
  });

  it('checks the values of the settings file', () => {
    const path = file('DRAGOMAN_LEASE=0\n');
    expect(refusal({ DRAGOMAN_SETTINGS: path })).toBe(
      'DRAGOMAN_LEASE must be a whole number from 2 to 3600.',
    );
  });

  it('refuses a settings file that cannot be read', () => {
    const path = join(directory, 'nothing.env');
    expect(refusal({ DRAGOMAN_SETTINGS: path })).toMatch(
      /^DRAGOMAN_SETTINGS must name a file that can be read: /,
    );
  });

  it('reads no file when DRAGOMAN_SETTINGS is empty', () => {
    expect(loadSettings({ DRAGOMAN_SETTINGS: '' }).port).toBe(8080);
  });
});

describe('a secret in a file of its own', () => {
  /** A valid value of each secret. A new secret needs a line here. */
  const SECRETS: [string, string][] = [
    ['DATABASE_URL', 'postgres://dragoman:secret@db/dragoman'],
    ['DATABASE_READ_URL', 'postgres://dragoman:secret@standby/dragoman'],
    ['DRAGOMAN_SECRET_KEY', Buffer.alloc(32, 7).toString('base64')],
    ['DRAGOMAN_SECRET_KEY_PREVIOUS', Buffer.alloc(32, 8).toString('base64')],
    ['DRAGOMAN_OIDC_CLIENT_SECRET', 'secret'],
    ['DRAGOMAN_SMTP_URL', 'smtp://user:secret@mail.example.com'],
    ['DRAGOMAN_DEEPL_KEY', 'secret'],
    ['DRAGOMAN_LIBRETRANSLATE_KEY', 'secret'],
    ['DRAGOMAN_GOOGLE_KEY', 'secret'],
    ['DRAGOMAN_AZURE_KEY', 'secret'],
    ['DRAGOMAN_LLM_KEY', 'secret'],
    ['DRAGOMAN_METRICS_TOKEN', 'secret'],
  ];
  /** Settings with a name or a meaning like that of a secret. */
  const NO_SECRETS = [
    'DRAGOMAN_DATA',
    'DRAGOMAN_DEEPL_URL',
    'DRAGOMAN_GOOGLE_PROJECT',
    'DRAGOMAN_GOOGLE_TOKEN_FILE',
    'DRAGOMAN_KEY_REQUESTS',
    'DRAGOMAN_LLM_CONTEXT',
    'DRAGOMAN_PASSWORDS',
  ];
  const secretFile = (content: string) => {
    const path = join(directory, 'secret');
    writeFileSync(path, content);
    return path;
  };

  it('is possible for every setting that is a secret', () => {
    const described = describeSettings();
    const secrets = described.filter(({ secret }) => secret).map(({ name }) => name);
    expect(secrets.sort()).toEqual(SECRETS.map(([name]) => name).sort());
    const alike = described.filter(({ name, meaning }) =>
      /key|token|secret|password|:\/\/USER/i.test(`${name} ${meaning}`),
    );
    const others = alike.map(({ name }) => name).filter((name) => !secrets.includes(name));
    expect(others.sort()).toEqual(NO_SECRETS);
  });

  it.each(SECRETS)('gives %s the same value, with or without a line break at its end', (name, value) => {
    const expected = loadSettings({ [name]: value });
    expect(expected).not.toEqual(loadSettings({}));
    for (const content of [value, `${value}\n`, `${value}\r\n`]) {
      expect(loadSettings({ [`${name}_FILE`]: secretFile(content) })).toEqual(expected);
      const settings = file(`${name}_FILE=${secretFile(content)}\n`);
      expect(loadSettings({ DRAGOMAN_SETTINGS: settings })).toMatchObject({
        ...expected,
        settingsFile: settings,
      });
    }
    expect(warnOfUnknownSettings({ [`${name}_FILE`]: secretFile(value) })).toEqual([]);
    const shown = effectiveSettings({ [`${name}_FILE`]: secretFile(value) });
    expect(shown.find((one) => one.name === name)).toMatchObject({ value: '', secret: true, set: true });
  });

  it.each(SECRETS)('is refused for %s when it has no use', (name, value) => {
    const setting = `${name}_FILE`;
    const path = secretFile(value);
    expect(refusal({ [name]: value, [setting]: path })).toBe(
      `${name} and ${setting} are both set; remove one of them.`,
    );
    expect(refusal({ [setting]: join(directory, 'absent') })).toBe(
      `${setting} must name a file that can be read (ENOENT).`,
    );
    expect(refusal({ [setting]: directory })).toBe(`${setting} must name a file that can be read (EISDIR).`);
    for (const empty of ['', '\n']) {
      expect(refusal({ [setting]: secretFile(empty) })).toBe(
        `${setting} must name a file that is not empty.`,
      );
    }
  });

  it('is checked like the setting, and its content is not quoted', () => {
    expect(refusal({ DRAGOMAN_SECRET_KEY_FILE: secretFile('canary') })).toBe(
      'DRAGOMAN_SECRET_KEY_FILE must name a file that contains 32 bytes in base64.',
    );
  });

  it('counts as not set when its name is empty, and replaces a value that is empty', () => {
    expect(loadSettings({ DRAGOMAN_DEEPL_KEY: 'secret', DRAGOMAN_DEEPL_KEY_FILE: '' }).deeplKey).toBe(
      'secret',
    );
    expect(
      loadSettings({ DRAGOMAN_DEEPL_KEY: '', DRAGOMAN_DEEPL_KEY_FILE: secretFile('secret') }).deeplKey,
    ).toBe('secret');
  });

  it('overrides the settings file when the environment names it, also for an engine llm:NAME', () => {
    const settings = file('DRAGOMAN_ENGINES=llm:a\nDRAGOMAN_LLM_A_KEY=old\n');
    const environment = { DRAGOMAN_SETTINGS: settings, DRAGOMAN_LLM_A_KEY_FILE: secretFile('new') };
    expect(loadSettings(environment)).toMatchObject({ 'llmKey:a': 'new' });
  });

  it('exists only for secrets', () => {
    expect(warnOfUnknownSettings({ DRAGOMAN_PORT_FILE: '/x' })).toHaveLength(1);
    expect(refusal({ DRAGOMAN_SETTINGS: file('DRAGOMAN_PORT_FILE=/x\n') })).toMatch(
      /there is no setting DRAGOMAN_PORT_FILE/,
    );
  });
});

describe('the settings of an engine llm:NAME', () => {
  it('are read under its name, and have the defaults and checks of the engine llm', () => {
    const path = file('DRAGOMAN_ENGINES=llm, llm:qwen3\nDRAGOMAN_LLM_QWEN3_MODEL=qwen3:8b\n');
    const settings = loadSettings({
      DRAGOMAN_SETTINGS: path,
      DRAGOMAN_LLM_MODEL: 'other',
      DRAGOMAN_LLM_QWEN3_PAIRS: 'en>de',
      DRAGOMAN_LLM_QWEN3_PARAMETERS: '{"seed":7}',
    });
    expect(settings).toMatchObject({
      engines: ['llm', 'llm:qwen3'],
      llmModel: 'other',
      'llmModel:qwen3': 'qwen3:8b',
      'llmPairs:qwen3': ['en>de'],
      'llmAnswers:qwen3': 'schema',
      'llmParameters:qwen3': { seed: 7 },
    });
    expect(refusal({ DRAGOMAN_ENGINES: 'llm:a', DRAGOMAN_LLM_A_PROFILE: 'magic' })).toMatch(
      /^DRAGOMAN_LLM_A_PROFILE must be one of chat, /,
    );
  });

  it('are shown without the key', () => {
    const shown = effectiveSettings({
      DRAGOMAN_ENGINES: 'llm:a',
      DRAGOMAN_LLM_A_KEY: 'canary',
      DRAGOMAN_LLM_A_PARAMETERS: '{"temperature":null,"seed":7}',
    });
    const of = (name: string) => shown.find((one) => one.name === name);
    expect(of('DRAGOMAN_LLM_A_KEY')).toMatchObject({ value: '', secret: true, source: 'environment' });
    expect(of('DRAGOMAN_LLM_A_PARAMETERS')).toMatchObject({ value: '{"temperature":null,"seed":7}' });
    expect(of('DRAGOMAN_LLM_A_URL')?.meaning).toContain('the engine llm:a');
    expect(JSON.stringify(shown)).not.toContain('canary');
  });

  it('are unknown if DRAGOMAN_ENGINES does not name the engine', () => {
    const written = { DRAGOMAN_LLM_A_KEY: 'x' };
    expect(warnOfUnknownSettings(written)).toEqual([
      'DRAGOMAN_LLM_A_KEY is ignored: there is no setting DRAGOMAN_LLM_A_KEY (did you mean DRAGOMAN_LLM_KEY?).',
    ]);
    expect(warnOfUnknownSettings({ ...written, DRAGOMAN_ENGINES: 'llm:a' })).toEqual([]);
    const path = file('DRAGOMAN_LLM_A_KEY=x\n');
    expect(refusal({ DRAGOMAN_SETTINGS: path })).toMatch(
      /^Line 1 of .*there is no setting DRAGOMAN_LLM_A_KEY/,
    );
  });
});

describe('describeSettings', () => {
  it('returns name, default and a sentence for every setting', () => {
    const described = describeSettings();
    expect(described).toHaveLength(Object.keys(loadSettings({})).length);
    expect(new Set(described.map(({ name }) => name)).size).toBe(described.length);
    for (const { name, meaning } of described) {
      expect(name).toMatch(/^(DATABASE_URL|DATABASE_READ_URL|DRAGOMAN_[A-Z0-9_]+)$/);
      expect(meaning, name).toMatch(/^[A-Z].*\.$/);
    }
  });

  it('returns defaults that are valid values', () => {
    const written = Object.fromEntries(
      describeSettings().map(({ name, default: fallback }) => [name, fallback]),
    );
    expect(loadSettings(written)).toEqual(loadSettings({}));
  });
});
