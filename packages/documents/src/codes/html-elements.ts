/** HTML elements and attributes, classified by the HTML standard and by the practice of translation tools. */

import type { TextElement } from '../model/document.ts';
import type { Tag } from './markup.ts';

const list = (names: string) => new Set(names.split(' '));

/**
 * Elements that separate units. All other elements, including custom ones, are inline: joining two labels does less
 * harm than splitting a sentence.
 */
export const blocks = list(
  'address article aside base blockquote body caption center col colgroup dd details dialog dir div dl dt fieldset ' +
    'figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li link main ' +
    'menu meta nav noframes noscript ol optgroup option p pre search section select summary table tbody td template ' +
    'textarea tfoot th thead title tr ul listing plaintext xmp iframe noembed',
);

const named: Record<string, TextElement> = {
  ...Object.fromEntries(['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'title'].map((name) => [name, 'heading'])),
  li: 'list_item',
  dt: 'list_item',
  dd: 'list_item',
  td: 'table_cell',
  th: 'table_cell',
  a: 'link',
  button: 'button',
};

/** Returns the kind of text that an element contains, or undefined if the element does not determine it. */
export function textElementOf(name: string): TextElement | undefined {
  return Object.hasOwn(named, name) ? named[name] : undefined;
}

/**
 * Elements of forms that are texts of their own, wherever they stand: a control belongs to its label (HTML standard
 * §4.10.4), and a button does not continue the text before it.
 */
export const controls = list('button label');

/** Elements for code and its output. They are not translated unless `translate="yes"` says so. */
export const computed = list('code kbd pre samp tt var');

/**
 * Elements that may begin or end inside a word, as in `<b>W</b>elcome`. Where two other elements meet without white
 * space, such as two links of a menu, they are separate texts.
 */
export const insideWords = list(
  'abbr acronym b bdi bdo big cite del dfn em font i ins mark nobr q rb rp rt ruby s small strike strong sub sup u wbr',
);

/** Elements without content (HTML standard §13.1.2). */
export const voids = list(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr',
);

/** Elements whose content is never translated. */
export const opaque = list('script style iframe noembed noframes xmp plaintext');

/** Elements that preserve white space. */
export const preformatted = list('pre textarea listing');

/**
 * For each start tag: the open elements that it ends implicitly (`ends`), but only inside the nearest of the
 * elements `within` (HTML standard §13.1.2.4, "Optional tags").
 */
const items: Record<string, { ends: Set<string>; within: Set<string> }> = {
  li: { ends: list('li'), within: list('ul ol menu dir') },
  dt: { ends: list('dt dd'), within: list('dl') },
  dd: { ends: list('dt dd'), within: list('dl') },
  option: { ends: list('option'), within: list('select datalist') },
  optgroup: { ends: list('optgroup option'), within: list('select') },
  tr: { ends: list('tr td th caption colgroup'), within: list('table') },
  td: { ends: list('td th'), within: list('table tr') },
  th: { ends: list('td th'), within: list('table tr') },
  thead: { ends: list('thead tbody tfoot tr td th'), within: list('table') },
  tbody: { ends: list('thead tbody tfoot tr td th'), within: list('table') },
  tfoot: { ends: list('thead tbody tfoot tr td th'), within: list('table') },
};
const paragraph = {
  ends: list('p'),
  within: list('button table td th caption object template body html div section'),
};

/**
 * Returns the open elements that a start tag ends implicitly, and the elements that limit how far outside
 * they may be.
 */
export function endedBy(name: string): { ends: Set<string>; within: Set<string> } | undefined {
  if (Object.hasOwn(items, name)) return items[name];
  return blocks.has(name) ? paragraph : undefined;
}

const everywhere =
  'title alt aria-label placeholder aria-description aria-placeholder aria-roledescription aria-valuetext'.split(
    ' ',
  );
const some: Record<string, readonly string[]> = {
  option: ['label'],
  optgroup: ['label'],
  track: ['label'],
  th: ['abbr'],
};
const metaNames = list(
  'description keywords og:title og:description og:image:alt twitter:title twitter:description twitter:image:alt',
);

/** Returns the attributes of a tag that have visible text. */
export function textAttributes(tag: Tag): string[] {
  const { attributes, name } = tag;
  if (attributes.size === 0) return [];
  const found = everywhere.filter((attribute) => attributes.has(attribute));
  if (Object.hasOwn(some, name)) found.push(...some[name]!.filter((attribute) => attributes.has(attribute)));
  if (name === 'input') {
    const type = attributes.get('type')?.trim().toLowerCase() ?? '';
    if (attributes.has('value') && ['button', 'submit', 'reset'].includes(type)) found.push('value');
  }
  if (name === 'meta' && attributes.has('content')) {
    const key = (attributes.get('name') ?? attributes.get('property') ?? '').trim().toLowerCase();
    if (metaNames.has(key)) found.push('content');
  }
  return found;
}
