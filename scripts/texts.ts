/** Finds the texts of the repository that people read: comments, test titles, messages of the user interface, and guides. */
import { parseSync } from 'vite';

export interface Text {
  /** Where the text is: the path, with the line of a comment or with the key of a message. */
  where: string;
  text: string;
}

interface Node {
  type: string;
  [key: string]: unknown;
}

/** Returns the comments of a file. Consecutive line comments are one comment. Directives for tools are left out. */
export function readComments(path: string, code: string): Text[] {
  const found: Text[] = [];
  let end = -1;
  for (const comment of parseSync(path, code).comments) {
    const text = comment.value.replace(/^[ \t]*\*+ ?/gm, '').trim();
    const line = code.slice(0, comment.start).split('\n').length;
    const previous = found.at(-1);
    const adjacent = comment.type === 'Line' && end >= 0 && /^\n[ \t]*$/.test(code.slice(end, comment.start));
    if (adjacent && previous !== undefined) previous.text += ` ${text}`;
    else if (/[a-z] [a-z]/i.test(text) && !/^(?:biome-|@ts-|v8 )/.test(text))
      found.push({ where: `${path}:${line}`, text });
    end = comment.type === 'Line' ? comment.end : -1;
  }
  return found;
}

/** Returns the titles of a file's tests, each after the titles of its `describe` blocks. */
export function readTitles(path: string, code: string): Text[] {
  const found: Text[] = [];
  const visit = (value: unknown, blocks: readonly string[]): void => {
    if (Array.isArray(value)) for (const item of value) visit(item, blocks);
    if (value === null || typeof value !== 'object' || !('type' in value)) return;
    const node = value as Node;
    const title = node.type === 'CallExpression' ? titleOf(node) : undefined;
    const inner = title?.kind === 'describe' ? [...blocks, title.text] : blocks;
    if (title !== undefined && title.kind !== 'describe')
      found.push({ where: path, text: [...blocks, title.text].join(' › ') });
    for (const child of Object.values(node)) visit(child, inner);
  };
  visit(parseSync(path, code).program as unknown as Node, []);
  return found;
}

function titleOf(call: Node): { kind: string; text: string } | undefined {
  let callee = call.callee as Node;
  while (callee.type === 'MemberExpression' || callee.type === 'CallExpression')
    callee = (callee.object ?? callee.callee) as Node;
  const kind = String(callee.name);
  const [first] = call.arguments as Node[];
  if (!['describe', 'it', 'test'].includes(kind) || first === undefined) return undefined;
  const text = first.type === 'TemplateLiteral' ? textOfTemplate(first) : first.value;
  return typeof text === 'string' ? { kind, text } : undefined;
}

const textOfTemplate = ({ quasis }: Node): string =>
  (quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('…');

/** Returns the messages of a JSON file. `where` is the key of the message. */
export function readMessages(_: string, json: string): Text[] {
  const messages: Record<string, string> = JSON.parse(json);
  return Object.entries(messages).map(([where, text]) => ({ where, text }));
}

/** Returns the paragraphs and list items of a page, without headings, tables and code. */
export function readParagraphs(path: string, page: string): Text[] {
  return page
    .replace(/^```[\s\S]*?^```$/gm, '')
    .split(/\n\n+|\n(?=(?:- |\d+\. ))/)
    .map((text) => ({ where: path, text: text.trim() }))
    .filter(({ text }) => /^[^#|<]/.test(text) && text.split(' ').length > 4);
}

/** Returns every line of a page, without code blocks. */
export function readLines(path: string, page: string): Text[] {
  let isCode = false;
  return page.split('\n').flatMap((text, index) => {
    if (/^ *```/.test(text)) isCode = !isCode;
    return isCode ? [] : [{ where: `${path}:${index + 1}`, text }];
  });
}
