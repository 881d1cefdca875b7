/**
 * Checks that compare a rebuilt document with its source. They are independent of the code under test: they use other
 * tokenizers and plain regular expressions. Each check returns the errors that it finds.
 */

import { Tokenizer, TokenizerMode } from 'parse5';
import { SaxesParser } from 'saxes';

/** Returns the tags and comments of an HTML text in order, without attributes that have visible text. */
export function htmlSkeleton(html: string): string[] {
  const out: string[] = [];
  const readers = /^(title|aria-label|alt|placeholder|label|abbr|value|content)$/;
  const tokenizer: Tokenizer = new Tokenizer(
    {},
    {
      onStartTag(token) {
        const attributes = token.attrs
          .filter(({ name }) => !readers.test(name))
          .map(({ name, value }) => `${name}=${value}`);
        out.push(`<${token.tagName} ${attributes.join(' ')}>`);
        if (token.tagName === 'script') tokenizer.state = TokenizerMode.SCRIPT_DATA;
        else if (/^(style|xmp|iframe|noembed|noframes)$/.test(token.tagName))
          tokenizer.state = TokenizerMode.RAWTEXT;
        else if (/^(title|textarea)$/.test(token.tagName)) tokenizer.state = TokenizerMode.RCDATA;
      },
      onEndTag: (token) => void out.push(`</${token.tagName}>`),
      onComment: (token) => void out.push(`<!--${token.data}-->`),
      onDoctype: (token) => void out.push(`<!doctype ${token.name}>`),
      onCharacter() {},
      onNullCharacter() {},
      onWhitespaceCharacter() {},
      onEof() {},
    },
  );
  tokenizer.write(html, true);
  return out;
}

/**
 * Checks that source and result have the same markup in the same order. Use it for engines that do not move codes.
 */
export function checkHtml(source: string, result: string): string[] {
  const before = htmlSkeleton(source);
  const after = htmlSkeleton(result);
  return before.join('\n') === after.join('\n') ? [] : [`markup: ${firstDifference(before, after)}`];
}

/** Checks that source and result have the same markup in any order, because codes may move inside a sentence. */
export function checkHtmlLoosely(source: string, result: string): string[] {
  const before = htmlSkeleton(source).sort();
  const after = htmlSkeleton(result).sort();
  return before.join('\n') === after.join('\n') ? [] : [`markup: ${firstDifference(before, after)}`];
}

/** Checks that two SRT files have the same lines with cue numbers and times, in the same order. */
export function checkSrt(source: string, result: string): string[] {
  const frame = (text: string) => {
    const lines = text.split(/\r*\n|\r/);
    return lines.filter(
      (line, index) =>
        line.includes('-->') || (/^\s*\d+\s*$/.test(line) && (lines[index + 1] ?? '').includes('-->')),
    );
  };
  const before = frame(source);
  const after = frame(result);
  return before.join('\n') === after.join('\n') ? [] : [`frame: ${firstDifference(before, after)}`];
}

/** Checks that two WebVTT files have the same lines outside the text of cues. Empty lines are ignored. */
export function checkVtt(source: string, result: string): string[] {
  const frame = (text: string) => {
    let inside = false;
    return text.split(/\r\n|\n|\r/).filter((line) => {
      inside = line !== '' && (inside || line.includes('-->'));
      return line !== '' && (!inside || line.includes('-->'));
    });
  };
  const [before, after] = [frame(source), frame(result)];
  return before.join('\n') === after.join('\n') ? [] : [`frame: ${firstDifference(before, after)}`];
}

interface Node {
  name: string;
  start: number;
  end: number;
  contentStart: number;
  contentEnd: number;
  attributes: Record<string, string>;
  children: Node[];
  parent: Node | undefined;
}

/**
 * Parses XML to a tree with offsets.
 *
 * @throws Error when the text is not well-formed
 */
export function xmlTree(text: string): Node {
  const root = node('', 0, 0, {}, undefined);
  let current = root;
  let position = 0;
  const parser = new SaxesParser({ xmlns: false });
  const mark = () => {
    const start = text.indexOf('<', position);
    position = parser.position;
    return start;
  };
  parser.on('error', (error) => {
    throw error;
  });
  for (const event of ['xmldecl', 'doctype', 'processinginstruction', 'cdata'] as const)
    parser.on(event, mark);
  parser.on('comment', () => {
    mark();
    position += 1;
  });
  parser.on('opentag', (tag) => {
    const start = mark();
    const child = node(tag.name.replace(/^.*:/, ''), start, position, tag.attributes, current);
    current.children.push(child);
    current = child;
  });
  parser.on('closetag', (tag) => {
    const start = tag.isSelfClosing ? position : mark();
    current.contentEnd = start;
    current.end = position;
    current = current.parent!;
  });
  parser.write(text).close();
  return root;
}

function node(
  name: string,
  start: number,
  end: number,
  attributes: Record<string, string>,
  parent: Node | undefined,
): Node {
  return { name, start, end, contentStart: end, contentEnd: end, attributes, children: [], parent };
}

function* walk(from: Node): Generator<Node> {
  yield from;
  for (const child of from.children) yield* walk(child);
}

export function transUnits(text: string): Node[] {
  return [...walk(xmlTree(text))].filter(({ name }) => name === 'trans-unit');
}

const child = (parent: Node, name: string) => parent.children.filter((one) => one.name === name);

/**
 * Returns the document without the `target` elements of trans-units (those of `alt-trans` stay) and without
 * the white space before them.
 */
export function withoutTargets(text: string, units: readonly Node[] = transUnits(text)): string {
  let out = '';
  let position = 0;
  for (const unit of units) {
    for (const target of child(unit, 'target')) {
      out += text.slice(position, target.start).trimEnd();
      position = target.end;
    }
  }
  return out + text.slice(position);
}

/**
 * Returns ids and names of inline elements, with the native code that they contain but without the content of
 * `sub`.
 */
function codesOf(text: string, element: Node): string[] {
  return [...walk(element)]
    .filter((one) => one !== element)
    .map((one) => {
      const attributes = Object.entries(one.attributes).map(([name, value]) => `${name}=${value}`);
      const native = /^(bpt|ept|ph|it)$/.test(one.name) && one.children.length === 0;
      return `${one.name} ${attributes.join(' ')} ${native ? text.slice(one.contentStart, one.contentEnd) : ''}`;
    })
    .sort();
}

/**
 * Checks a translated XLIFF document against its source document. The translated document must be well-formed and
 * differ only in targets. Every trans-unit with a source must have exactly one target. A new target must directly
 * follow `source` or `seg-source`. A new or changed target must have the codes of its source.
 */
export function checkXliff(source: string, result: string): string[] {
  const problems: string[] = [];
  let after: Node[];
  try {
    after = transUnits(result);
  } catch (error) {
    return [`not well-formed: ${(error as Error).message}`];
  }
  const before = transUnits(source);
  const frame = [withoutTargets(source, before), withoutTargets(result, after)] as const;
  if (frame[0] !== frame[1])
    problems.push(`outside targets: ${firstDifference([...frame[0]], [...frame[1]])}`);
  if (before.length !== after.length) return [...problems, 'another number of trans-units'];
  after.forEach((unit, index) => {
    if (child(unit, 'source').length === 0) return;
    const targets = child(unit, 'target');
    if (targets.length !== Math.max(1, child(before[index]!, 'target').length)) {
      problems.push(`unit ${index}: ${targets.length} targets`);
      return;
    }
    const target = targets[0]!;
    const old = child(before[index]!, 'target')[0];
    const basis = child(unit, 'seg-source')[0] ?? child(unit, 'source')[0]!;
    if (!old && unit.children[unit.children.indexOf(target) - 1] !== basis) {
      problems.push(`unit ${index}: target in the wrong place`);
    }
    const isSame = old && source.slice(old.start, old.end) === result.slice(target.start, target.end);
    if (isSame) return;
    const wanted = /mtype="seg"/.test(result.slice(basis.start, basis.end))
      ? basis
      : child(unit, 'source')[0]!;
    const codes = codesOf(result, wanted).join('\n');
    if (codes !== codesOf(result, target).join('\n')) problems.push(`unit ${index}: codes differ`);
  });
  return problems;
}

function firstDifference(a: readonly string[], b: readonly string[]): string {
  const at = a.findIndex((one, index) => one !== b[index]);
  const index = at < 0 ? a.length : at;
  return `at ${index}: ${a
    .slice(index, index + 30)
    .join('')
    .slice(0, 80)} | ${b
    .slice(index, index + 30)
    .join('')
    .slice(0, 80)}`;
}
