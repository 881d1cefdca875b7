import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InstallError, installPackages, packageManagerEnvironment } from '../src/debian.ts';

it('packageManagerEnvironment passes no settings of the program to the package manager', () => {
  const given = packageManagerEnvironment({
    PATH: '/usr/bin',
    HTTP_PROXY: 'http://127.0.0.1:3128',
    DRAGOMAN_SECRET_KEY: 'secret',
    DATABASE_URL: 'postgres://user:secret@localhost/db',
  });
  expect(given).toEqual({
    PATH: '/usr/bin',
    HTTP_PROXY: 'http://127.0.0.1:3128',
    DEBIAN_FRONTEND: 'noninteractive',
    LC_ALL: 'C',
  });
});

describe('installPackages', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'dragoman-apt-'));
    vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`);
    // The release has the package "pair", but not "dropped".
    writeCommand('apt-cache', `case "$*" in *' pair') echo ' pair | 1.0 | release';; esac`);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  const writeCommand = (name: string, script: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  };
  /** Makes an apt-get that writes the names of the downloaded packages into a file. Downloads end with this status. */
  const writeAptGet = (status: number) =>
    writeCommand(
      'apt-get',
      `case "$*" in *download-only*) echo "$*" | sed 's/.*recommends //' >> '${folder}/asked'; exit ${status};; esac`,
    );
  const install = () =>
    installPackages(['tool', 'pair', 'dropped'], {
      root: join(folder, 'tree'),
      private: true,
      optional: ['pair', 'dropped'],
    });
  const asked = () => readFileSync(join(folder, 'asked'), 'utf8');

  it('leaves out only the optional packages that the release does not have', async () => {
    writeAptGet(0);
    await install();
    expect(asked()).toBe('tool pair\n');
  });

  it('leaves out no optional package after another failure, and reports it', async () => {
    writeAptGet(100);
    await expect(install()).rejects.toThrow(InstallError);
    expect(asked()).toBe('tool pair\n');
  });
});
