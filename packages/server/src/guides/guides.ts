/**
 * The guides: the pages of `docs/`, rendered once. HTML inside a guide is shown as text (`html: false`), and
 * the renderer refuses `javascript:` links.
 */
import { readdir, readFile } from 'node:fs/promises';
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
    names: [
      'quick-start',
      'authentication',
      'sandbox',
      'jobs',
      'formats',
      'callbacks',
      'chat',
      'errors',
      'limits',
      'client',
      'agents',
      'migrating',
    ],
  },
  { title: 'For customers', names: ['customers'] },
  { title: 'For editors', names: ['workbench', 'checks', 'editing'] },
  {
    title: 'For operators',
    names: ['install', 'operating', 'scaling', 'console', 'people', 'brands', 'memory', 'engines'],
  },
  { title: 'For contributors', names: ['glossary', 'conformance'] },
];

const FOLDER = fileURLToPath(new URL('../../../../docs/', import.meta.url));

/** Reads all guides, in the order of {@link GROUPS}. */
export async function readGuides(folder: string = FOLDER): Promise<Guide[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.md'));
  const names = files.map((file) => file.slice(0, -'.md'.length));
  const order = GROUPS.flatMap(({ names: own }) => own);
  const place = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  names.sort((a, b) => place(a) - place(b) || a.localeCompare(b));
  const known = new Set(names);
  return Promise.all(
    names.map(async (name) => renderGuide(name, await readFile(`${folder}${name}.md`, 'utf8'), known)),
  );
}

/** Renders a guide as HTML. @param known the names of the guides to which links can lead */
export function renderGuide(name: string, source: string, known: ReadonlySet<string>): Guide {
  const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false });
  const tokens = markdown.parse(source, {});
  const headings = nameHeadings(tokens);
  const sections = sectionsOf(tokens);
  for (const token of tokens) pointLinks(token.children ?? [], known);
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
 * Changes links between guides to their paths on this server, and removes links to other files of the
 * repository.
 */
function pointLinks(tokens: Token[], known: ReadonlySet<string>): void {
  const open: boolean[] = [];
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const address = guideAddress(String(token.attrGet('href') ?? ''), known);
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

function guideAddress(href: string, known: ReadonlySet<string>): string | undefined {
  if (/^(?:https?:\/\/|#|\/)/.test(href)) return href;
  const [, name = '', section = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  return known.has(name) ? `/docs/${name}${section}` : undefined;
}
