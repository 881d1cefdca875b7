import { expect, it } from 'vitest';
import { packageManagerEnvironment } from '../src/debian.ts';

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
