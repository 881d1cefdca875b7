/** The HTML page around a guide, and the page of the search. */
import { readFileSync } from 'node:fs';
import { GROUPS, type Guide } from './guides.ts';
import { type FoundSection, MAX_QUERY_CHARACTERS, MAX_RESULTS } from './search.ts';

/** The style sheet of all pages. Each page contains it, because a file would delay the first paint by one request. */
export const STYLES = ['../../../web/src/ui/tokens.css', './guides.css']
  .map((path) => readFileSync(new URL(path, import.meta.url), 'utf8'))
  .join('\n');

export function layOut(guide: Guide, all: readonly Guide[]): string {
  return page(
    guide.title,
    `${navigationOf(all, guide)}
<main id="content" tabindex="-1" data-ready>
${contentsOf(guide)}<article>
${guide.html}</article>
</main>`,
  );
}

/** Returns the page with the found sections. @param query the words that were searched for */
export function layOutSearch(query: string, found: readonly FoundSection[], all: readonly Guide[]): string {
  const count =
    found.length === 0
      ? 'No section contains all these words.'
      : found.length === 1
        ? '1 section'
        : found.length === MAX_RESULTS
          ? `The first ${MAX_RESULTS} sections`
          : `${found.length} sections`;
  const results = found.map(({ guide, section, excerpt }) => {
    const address = `/docs/${guide.name}${section.id === '' ? '' : `#${section.id}`}`;
    const title = section.id === '' ? guide.title : `${guide.title} › ${section.title}`;
    const text = excerpt.map(({ text, found }) =>
      found ? `<mark>${escapeHtml(text)}</mark>` : escapeHtml(text),
    );
    return `<li><a href="${escapeHtml(address)}">${escapeHtml(title)}</a><p>${text.join('')}</p></li>`;
  });
  return page(
    'Search',
    `${navigationOf(all)}
<main id="content" tabindex="-1" data-ready><article>
<h1>Search</h1>
${query === '' ? '<p>Search for words in all guides.</p>' : `<p>${count}</p>\n<ol class="found">\n${results.join('\n')}\n</ol>`}
</article></main>`,
    query,
  );
}

export function layOutMissing(): string {
  return page(
    'No such page',
    `<main id="content" tabindex="-1" data-ready><article>
<h1>No such page</h1>
<p>There is no guide at this address. <a href="/docs">All guides</a></p>
</article></main>`,
  );
}

/** Returns the list of all guides. @param current the shown guide */
function navigationOf(all: readonly Guide[], current?: Guide): string {
  const groups = groupsOf(all).map(
    ({ title, guides }) => `<h2>${escapeHtml(title)}</h2>\n<ul>\n${guides.map(entry).join('\n')}\n</ul>`,
  );
  return `<nav class="guides" aria-label="Guides">
<details open><summary>Guides</summary>
${groups.join('\n')}
</details>
</nav>`;

  function entry({ name, title }: Guide): string {
    const here = name === current?.name ? ' aria-current="page"' : '';
    return `<li><a href="/docs/${name}"${here}>${escapeHtml(title)}</a></li>`;
  }
}

function groupsOf(all: readonly Guide[]): { title: string; guides: Guide[] }[] {
  const left = new Map(all.map((guide) => [guide.name, guide]));
  const take = (name: string): Guide[] => {
    const guide = left.get(name);
    left.delete(name);
    return guide === undefined ? [] : [guide];
  };
  const groups = GROUPS.map(({ title, names }) => ({ title, guides: names.flatMap(take) }));
  groups.push({ title: 'More', guides: [...left.values()] });
  return groups.filter(({ guides }) => guides.length > 0);
}

/** Returns the table of contents. It is empty for a page with only one section. */
function contentsOf({ headings }: Guide): string {
  if (headings.length < 2) return '';
  const entries = headings.map(
    ({ id, title }) => `<li><a href="#${escapeHtml(id)}">${escapeHtml(title)}</a></li>`,
  );
  return `<nav class="contents" aria-label="On this page"><h2>On this page</h2>\n<ul>\n${entries.join('\n')}\n</ul></nav>\n`;
}

/** @param query the words in the search field */
function page(title: string, body: string, query = ''): string {
  return `<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<title>${escapeHtml(title)} · Dragoman</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<style>${STYLES}</style>
<script type="module" src="/docs/copy.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="name" href="/docs">Dragoman</a>
<form role="search" action="/docs/search">
<input type="search" name="q" aria-label="Search the guides" placeholder="Search the guides" maxlength="${MAX_QUERY_CHARACTERS}" value="${escapeHtml(query)}">
<button>Search</button>
</form>
<nav aria-label="Main"><a href="/docs">Guides</a><a href="/docs/reference">Reference</a><a href="/app/">Sign in</a></nav>
</header>
<div class="columns">
${body}
</div>
</body>
</html>
`;
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ESCAPES[character]!);
