/**
 * The guides: the pages of `docs/` and of `examples/`, rendered once. HTML inside a guide is shown as text
 * (`html: false`), and the renderer refuses `javascript:` links.
 */
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import MarkdownIt, { type Token } from 'markdown-it';

export interface Heading {
  level: number;
  id: string;
  title: string;
}

/** The text under a heading, up to the next heading. */
export interface Section {
  /** The anchor of the heading; empty for the text under the title of the guide. */
  id: string;
  title: string;
  /** The text without markup, with single spaces. */
  text: string;
  /** Title and text in lower case, for the search. Their offsets are those of the originals. */
  lower: { title: string; text: string };
}

export interface Guide {
  /** The last part of the guide's path: `jobs` for `docs/jobs.md`. */
  name: string;
  title: string;
  lowerTitle: string;
  /** The headings of the guide's sections, for the table of contents. */
  headings: Heading[];
  /** All parts of the guide, for the search. */
  sections: Section[];
  html: string;
}

/** The groups of the navigation, in order. A guide that is in no group comes last. */
export const GROUPS: readonly { title: string; names: readonly string[] }[] = [
  {
    title: 'For integrators',
    names:
      `quick-start examples authentication sandbox jobs formats callbacks chat errors limits client agents
migrating`.split(/\s/),
  },
  { title: 'For customers', names: ['customers'] },
  { title: 'For editors', names: ['workbench', 'checks', 'editing'] },
  {
    title: 'For operators',
    names: ['install', 'operating', 'scaling', 'console', 'people', 'brands', 'memory', 'engines'],
  },
  { title: 'For contributors', names: ['glossary', 'conformance'] },
];

/** The folder of the repository or of the package, which have the same files. */
export const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const EXAMPLES = 'examples/README.md';
/** The files to copy, below {@link ROOT}: programs that use the API, and settings for other programs. */
export const FILES: readonly string[] = globSync(['examples/*/*.*', 'deploy/*'], { cwd: ROOT });

/** Reads all guides, in the order of {@link GROUPS}. */
export async function readGuides(): Promise<Guide[]> {
  const pages = new Map(
    globSync('docs/*.md', { cwd: ROOT }).map((path) => [path, path.slice('docs/'.length, -'.md'.length)]),
  ).set(EXAMPLES, 'examples');
  const order = GROUPS.flatMap(({ names: own }) => own);
  const place = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  const known = new Map([...pages, ...FILES.map((path) => [path, path] as const)]);
  const guides = await Promise.all(
    [...pages].map(async ([path, name]) =>
      renderGuide(name, await readFile(`${ROOT}${path}`, 'utf8'), known, path),
    ),
  );
  return guides.sort((a, b) => place(a.name) - place(b.name) || a.name.localeCompare(b.name));
}

/**
 * Renders a guide as HTML.
 *
 * @param known what links can lead to: addresses below `/docs/` by paths below {@link ROOT}
 * @param path where the guide is, for relative links
 */
export function renderGuide(
  name: string,
  source: string,
  known: ReadonlyMap<string, string>,
  path = `docs/${name}.md`,
): Guide {
  const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false });
  const tokens = markdown.parse(source, {});
  const headings = nameHeadings(tokens);
  const sections = sectionsOf(tokens);
  for (const token of tokens) pointLinks(token.children ?? [], known, path);
  // Wide tables and long lines scroll inside their own regions, also by keyboard. The page itself never
  // scrolls sideways.
  markdown.renderer.rules.table_open = () =>
    '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>\n';
  markdown.renderer.rules.table_close = () => '</table></div>\n';
  markdown.renderer.rules.fence = (all, index) => {
    const { content } = all[index]!;
    const code = `<code>${markdown.utils.escapeHtml(content)}</code>`;
    // `copy.js` adds its button to this frame.
    return `<div class="code"><pre class="scroll" tabindex="0" role="region" aria-label="Code">${code}</pre></div>\n`;
  };
  markdown.renderer.rules.code_block = markdown.renderer.rules.fence;
  const html = markdown.renderer.render(tokens, markdown.options, {});
  const title = headings.find(({ level }) => level === 1)?.title ?? name;
  return {
    name,
    title,
    lowerTitle: title.toLowerCase(),
    headings: headings.filter(({ level }) => level === 2),
    sections,
    html,
  };
}

function nameHeadings(tokens: readonly Token[]): Heading[] {
  const headings: Heading[] = [];
  const used = new Set<string>();
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue;
    const inline = tokens[index + 1]!;
    const title = textOf(inline);
    let id = slugOf(title);
    for (let more = 1; used.has(id); more++) id = `${slugOf(title)}-${more}`;
    used.add(id);
    token.attrSet('id', id);
    headings.push({ level: Number(token.tag.slice(1)), id, title });
  }
  return headings;
}

/** Splits a guide at its headings. @param tokens the guide's Markdown tokens, after `nameHeadings` set the ids */
function sectionsOf(tokens: readonly Token[]): Section[] {
  const sections: { id: string; title: string; texts: string[] }[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const title = textOf(tokens[index + 1]!);
      sections.push({ id: token.tag === 'h1' ? '' : String(token.attrGet('id')), title, texts: [] });
    } else if (
      token.type === 'fence' ||
      (token.type === 'inline' && tokens[index - 1]?.type !== 'heading_open')
    ) {
      sections.at(-1)?.texts.push(textOf(token));
    }
  }
  return sections.map(({ texts, ...section }) => {
    const text = texts.join(' ').replace(/\s+/g, ' ').trim();
    return { ...section, text, lower: { title: section.title.toLowerCase(), text: text.toLowerCase() } };
  });
}

/** Returns the text of a token without markup. */
const textOf = ({ children, content }: Token): string =>
  children === null
    ? content
    : children.map((child) => (child.type.endsWith('break') ? ' ' : child.content)).join('');

/** Returns the anchor of a heading. The rule is GitHub's, so that links to sections also work on GitHub. */
export const slugOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

/**
 * Changes links between guides, and to files to copy, to their paths on this server. Removes links to other files of
 * the repository.
 */
function pointLinks(tokens: Token[], known: ReadonlyMap<string, string>, path: string): void {
  const open: boolean[] = [];
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const address = addressOf(String(token.attrGet('href') ?? ''), known, path);
      open.push(address !== undefined);
      if (address === undefined) hide(token);
      else token.attrSet('href', address);
    } else if (token.type === 'link_close' && !open.pop()) hide(token);
    // Loading an image from another server would reveal the reader's address. The alternative text is shown
    // instead.
    else if (token.type === 'image' && /^[a-z][a-z\d+.-]*:|^[\\/]{2}/i.test(String(token.attrGet('src')))) {
      token.type = 'text';
    }
  }
}

function hide(token: Token): void {
  token.type = 'text';
  token.content = '';
  token.tag = '';
  token.nesting = 0;
}

function addressOf(href: string, known: ReadonlyMap<string, string>, from: string): string | undefined {
  if (/^(?:https?:\/\/|#|\/)/.test(href)) return href;
  const { pathname, hash } = new URL(href, `file:///${from}`);
  const address = known.get(pathname.slice(1));
  return address === undefined ? undefined : `/docs/${address}${hash}`;
}
