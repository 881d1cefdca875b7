/** The HTML page around a guide. It has no scripts. */
import { GROUPS, type Guide } from './guides.ts';

export function layOut(guide: Guide, all: readonly Guide[]): string {
  return page(
    guide.title,
    `<nav class="guides" aria-label="Guides">
<details open><summary>Guides</summary>
${groupsOf(all)
  .map(({ title, guides }) => `<h2>${escapeHtml(title)}</h2>\n<ul>\n${guides.map(entry).join('\n')}\n</ul>`)
  .join('\n')}
</details>
</nav>
<main id="content" tabindex="-1" data-ready>
${contentsOf(guide)}<article>
${guide.html}</article>
</main>`,
  );

  function entry({ name, title }: Guide): string {
    const here = name === guide.name ? ' aria-current="page"' : '';
    return `<li><a href="/docs/${name}"${here}>${escapeHtml(title)}</a></li>`;
  }
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

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<title>${escapeHtml(title)} · Dragoman</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/guides.css">
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="name" href="/docs">Dragoman</a>
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
