/**
 * Public sample files by other projects. They are in a folder outside the repository, because their licences allow
 * tests but not copies. Without the folder, the tests that need it are skipped; on CI they fail.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Format } from '../src/model/formats.ts';

const folder = fileURLToPath(new URL('../../../../shared/corpora', import.meta.url));

export const hasCorpora = existsSync(folder);
export const mustHaveCorpora = process.env.CI === 'true';

export interface Sample {
  name: string;
  format: Format;
  text: string;
  /** The values of the file's line in the manifest, by the names of the columns. */
  facts: Record<string, string>;
}

function manifest(format: string): Map<string, Record<string, string>> {
  const [head, ...lines] = readFileSync(join(folder, format, 'MANIFEST.tsv'), 'utf8')
    .trimEnd()
    .split('\n');
  const columns = head!.split('\t');
  return new Map(
    lines.map((line) => {
      const cells = line.split('\t');
      return [cells[0]!, Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? '']))];
    }),
  );
}

/** Returns the sample files of a format, decoded as the manifest says. Byte order marks are kept. */
export function samples(format: 'html' | 'srt' | 'vtt' | 'xliff'): Sample[] {
  if (!hasCorpora) return [];
  const facts = manifest(format);
  return readdirSync(join(folder, format))
    .filter((name) => facts.has(name) && !name.endsWith('.test'))
    .map((name) => {
      const own = facts.get(name)!;
      const decoder = new TextDecoder((own.encoding ?? 'utf-8').replace('-bom', ''), { ignoreBOM: true });
      return { name, format, text: decoder.decode(readFileSync(join(folder, format, name))), facts: own };
    });
}

/** Returns the inputs of the html5lib tokenizer tests. */
export function html5libInputs(): string[] {
  if (!hasCorpora) return [];
  return readdirSync(join(folder, 'html'))
    .filter((name) => name.endsWith('.test'))
    .flatMap((name) => {
      const { tests } = JSON.parse(readFileSync(join(folder, 'html', name), 'utf8')) as {
        tests?: { input: string; doubleEscaped?: boolean }[];
      };
      return (tests ?? []).map(({ input, doubleEscaped }) =>
        doubleEscaped ? (JSON.parse(`"${input.replaceAll('"', '\\"')}"`) as string) : input,
      );
    });
}

/**
 * Returns variants of a file: other line ends, a byte order mark, characters outside the Basic Multilingual Plane.
 */
export function variants({ text, format }: Sample): [string, string][] {
  const plain = text.replace(/^\ufeff/, '');
  const lf = plain.replace(/\r+\n|\r/g, '\n');
  const astral =
    format === 'srt' || format === 'vtt'
      ? lf.replace(/^(.*[a-z])$/gim, (line) => (line.includes('-->') ? line : `${line} 😀`))
      : lf.replace(/([a-z]{2}) (?=[a-z][^<>=]{0,200}<)/gi, '$1 😀 ');
  return [
    ['unchanged', text],
    ['CRLF', lf.replaceAll('\n', '\r\n')],
    ['CR', lf.replaceAll('\n', '\r')],
    ['BOM', `\ufeff${plain}`],
    ['astral', astral],
  ];
}
