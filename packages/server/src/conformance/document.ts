/** `docs/conformance.md`, made from the sentences. */
import { SENTENCES, type Sentence } from './sentences.ts';

const SECTIONS: Record<string, string> = {
  1: 'What the service does',
  2: 'Resources and their fields',
  3: 'States and transitions',
  4: 'Endpoints',
  5: 'Authentication',
  6: 'Events',
  7: 'Errors',
  8: 'Limits',
  9: 'Versioning',
};

const CHAT = /^(2\.8|2\.9|3\.2|4\.10|5\.4|6\.[2-6]|7\.[2-6]|9\.2)\b/;

/** Which file holds a sentence. */
export function fileOf(id: string): string {
  return CHAT.test(id) ? 'chats.conformance.test.ts' : 'jobs.conformance.test.ts';
}

function row({ id, text, untested }: Sentence): string {
  const held =
    untested === undefined ? `[§${id}](../packages/server/src/conformance/${fileOf(id)})` : `— ${untested}`;
  return `| ${id} | ${text.replaceAll('|', '\\|')} | ${held} |`;
}

/** The page, as Markdown. */
export function conformancePage(): string {
  const tested = SENTENCES.filter(({ untested }) => untested === undefined).length;
  const sections = Object.entries(SECTIONS).map(([number, title]) => {
    const rows = SENTENCES.filter(({ id }) => id.startsWith(`${number}.`)).map(row);
    return `## ${number}. ${title}\n\n| | What the specification says | Held by |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
  });
  return `# Conformance

Every sentence of the interface specification that can be tested, and the test that is named after it: ${tested} of
${SENTENCES.length}. Run them with \`npx vitest run --project server conformance\`. What the specification leaves open
is answered in the guides ([jobs](jobs.md), [errors](errors.md)), and tested beside the code that answers it.

This page is made by \`npm run conformance\`; a test keeps it, the list of sentences and the tests the same.

${sections.join('\n')}`;
}
