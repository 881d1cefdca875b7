import { describe, expect, it } from 'vitest';
import { splitHosts } from './hosts.ts';

describe('a connection string with several hosts', () => {
  it('is split into one string per host, with the same user, database and parameters', () => {
    expect(
      splitHosts(
        'postgres://u:p%40@a:5432,[::1]:5433,c/name?target_session_attrs=read-write&sslmode=require',
      ),
    ).toEqual([
      'postgres://u:p%40@a:5432/name?target_session_attrs=read-write&sslmode=require',
      'postgres://u:p%40@[::1]:5433/name?target_session_attrs=read-write&sslmode=require',
      'postgres://u:p%40@c/name?target_session_attrs=read-write&sslmode=require',
    ]);
  });

  it('may ask for standbys where a standby is wanted', () => {
    const one = 'postgres://a/name?target_session_attrs=prefer-standby';
    expect(splitHosts(one, 'standby')).toEqual([one]);
    expect(() => splitHosts('postgres://a,b/name?target_session_attrs=primary', 'standby')).toThrow(
      'a URL without target_session_attrs other than read-only, because the program only reads there',
    );
  });

  it.each([
    [
      'postgres://a,b/name?target_session_attrs=standby',
      /without target_session_attrs other than read-write/,
    ],
    ['postgres://a/name?target_session_attrs=any', /without target_session_attrs other than read-write/],
    ['postgres:///name?host=a,b', /several hosts before the database/],
    ['postgres://a,b/name?host=c', /several hosts before the database/],
    ['postgres://a,,b/name', /at most 16 hosts, each as host:port/],
    [
      `postgres://${Array.from({ length: 17 }, (_, index) => `h${index}`).join(',')}/name`,
      /at most 16 hosts/,
    ],
  ])('is refused when it has a form or parameter that is not supported: %s', (written, message) => {
    expect(() => splitHosts(written)).toThrow(message);
  });
});

describe('a connection string with one host', () => {
  it.each([
    'postgres://u@a/name',
    'postgres://u@/name?host=/socket',
    'postgres://a',
    'postgres://u@a/name?options=-c%20search_path%3Da,b',
  ])('is not split: %s', (one) => {
    expect(splitHosts(one)).toEqual([one]);
  });
});
