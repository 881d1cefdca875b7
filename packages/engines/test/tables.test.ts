import { describe, expect, test } from 'vitest';
import { parseChain } from '../src/apertium/chain.ts';
import { Framing } from '../src/apertium/framing.ts';
import { APERTIUM_PACKAGES } from '../src/apertium/install.ts';
import { modeNamed } from '../src/apertium/modes.ts';
import { SELF_TEST } from '../src/apertium/phrases.ts';
import { parseDirection, ROUTES } from '../src/apertium/routes.ts';
import { treeAt } from '../src/apertium/tree.ts';
import { aptFolders, withoutPackages } from '../src/debian.ts';
import { DEFAULT_PACKAGES, SCANDINAVIAN_PACKAGES } from '../src/engines.ts';
import { FairQueue } from '../src/queue.ts';

describe('Apertium’s table of routes', () => {
  test.each([
    [['en', 'es', 'pt', 'fr', 'ca', 'gl', 'it'], 42],
    [['da', 'sv', 'nb', 'nn'], 12],
  ])('has a route for every direction among the languages %j', (languages, count) => {
    const keys = languages.flatMap((from) =>
      languages.filter((to) => to !== from).map((to) => `${from}>${to}`),
    );
    expect(keys.filter((key) => ROUTES[key] === undefined)).toEqual([]);
    expect(keys).toHaveLength(count);
  });

  test.each(Object.entries(ROUTES))('translates %s by modes that form a chain', (key, route) => {
    const { from, to } = parseDirection(key);
    const modes = route.map((name) => modeNamed(name));
    expect(modes[0]?.from).toBe(from);
    expect(modes.at(-1)?.to).toBe(to);
    if (modes.length === 2) expect(modes[0]?.to).toBe(modes[1]?.from);
    expect(SELF_TEST[from]).toBeDefined();
  });

  test('needs twelve default packages and four Scandinavian packages', () => {
    expect(DEFAULT_PACKAGES).toHaveLength(12);
    expect(SCANDINAVIAN_PACKAGES).toHaveLength(4);
    const packages = new Set([...DEFAULT_PACKAGES, ...SCANDINAVIAN_PACKAGES]);
    for (const name of Object.values(ROUTES).flat()) expect(packages).toContain(modeNamed(name)?.package);
  });
});

describe('parseChain', () => {
  test('parses a mode file into argument lists', () => {
    const line =
      "lt-proc -z '/usr/share/apertium/a b/x.bin' | apertium-tagger -z -g $2 'y' | lt-proc -z $1 -b 'z'\n";
    expect(parseChain(line, treeAt())).toEqual([
      { command: '/usr/bin/lt-proc', args: ['-z', '/usr/share/apertium/a b/x.bin'] },
      { command: '/usr/bin/apertium-tagger', args: ['-z', '-g', 'y'] },
      { command: '/usr/bin/lt-proc', args: ['-z', '-n', '-b', 'z'] },
    ]);
  });

  test('relocates the paths of a mode file into a private tree', () => {
    expect(parseChain("lt-proc '/usr/share/apertium/x.bin'", treeAt('/srv/tree/'))).toEqual([
      { command: '/srv/tree/usr/bin/lt-proc', args: ['/srv/tree/usr/share/apertium/x.bin'] },
    ]);
  });

  test.each([
    '',
    'a | | b',
    'lt-proc; rm x',
    'lt-proc $(id)',
    'lt-proc > x',
    '../lt-proc x',
    'lt-proc $3',
    'a `b`',
  ])('rejects the mode file %j', (line) => {
    expect(() => parseChain(line, treeAt())).toThrow('a mode file');
  });
});

describe('a private installation of Apertium', () => {
  test('keeps the files of apt inside its folder', () => {
    const { options, folders, archives, status } = aptFolders('/srv/x');
    for (const path of [...folders, archives, status]) expect(path).toMatch(/^\/srv\/x\//);
    expect(options).toContain('Dir::State::lists=/srv/x/lists');
    expect(options).toContain('Debug::NoLocking=1');
  });

  test('contains all parts of Apertium even if the system has some', () => {
    const stanza = (name: string): string => `Package: ${name}\nStatus: install ok installed\nVersion: 1`;
    const names = [
      'libc6',
      'apertium',
      'libapertium3',
      'lttoolbox',
      'liblttoolbox3',
      'cg3',
      'libcg3-1',
      'libicu72',
    ];
    const left = withoutPackages(names.map(stanza).join('\n\n'), APERTIUM_PACKAGES.complete);
    expect([...left.matchAll(/^Package: (.*)$/gm)].map(([, name]) => name)).toEqual(['libc6', 'libicu72']);
  });
});

describe("the framing of Apertium's output", () => {
  test('splits replies correctly wherever chunks end, even inside a character', () => {
    const bytes = Buffer.from('año\0\0😀 b\0c', 'utf8');
    for (let size = 1; size <= bytes.length; size++) {
      const framing = new Framing();
      const replies: string[] = [];
      for (let at = 0; at < bytes.length; at += size)
        replies.push(...framing.push(bytes.subarray(at, at + size)));
      expect(replies).toEqual(['año', '', '😀 b']);
      expect(framing.pendingBytes).toBe(1);
    }
  });
});

describe('the fair queue of a pipeline', () => {
  test('serves requests round robin', () => {
    const queue = new FairQueue<object, string>();
    const [a, b] = [{}, {}];
    for (const item of ['a1', 'a2', 'a3']) queue.push(a, item);
    for (const item of ['b1', 'b2']) queue.push(b, item);
    expect(queue.size).toBe(5);
    expect([queue.shift(), queue.shift(), queue.shift()]).toEqual(['a1', 'b1', 'a2']);
    expect(queue.remove(a)).toEqual(['a3']);
    expect([queue.shift(), queue.shift(), queue.size]).toEqual(['b2', undefined, 0]);
  });
});
