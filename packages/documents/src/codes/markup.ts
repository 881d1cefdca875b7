/**
 * A wrapper around parse5's tokenizer. The tokenizer is exported but marked as internal, so the version of parse5 is
 * pinned. Unlike a tree, its tokens cover the text exactly: nothing is moved, added or dropped. The wrapper switches
 * the tokenizer to raw text after the start tags that the HTML standard lists (§13.2.6.4.7 and around).
 */

import { type Token, Tokenizer, TokenizerMode } from 'parse5';

const noAttributes: ReadonlyMap<string, string> = new Map();

export class Tag {
  readonly name: string;
  readonly selfClosing: boolean;
  readonly start: number;
  readonly end: number;
  /** The attributes by name, in lower case. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly #location: Token.LocationWithAttributes;

  constructor(token: Token.TagToken, end: number) {
    this.name = token.tagName;
    this.selfClosing = token.selfClosing;
    this.#location = token.location as Token.LocationWithAttributes;
    this.start = this.#location.startOffset;
    this.end = end;
    this.attributes =
      token.attrs.length === 0 ? noAttributes : new Map(token.attrs.map(({ name, value }) => [name, value]));
  }

  /** Returns the range of an attribute, from the start of its name to the end of its value. */
  range(attribute: string): { start: number; end: number } | undefined {
    const at = this.#location.attrs?.[attribute];
    return at && { start: at.startOffset, end: at.endOffset };
  }
}

export interface Visitor {
  startTag(tag: Tag): void;
  endTag(name: string, start: number, end: number): void;
  /** Called for all text between two tags or comments. */
  text(start: number, end: number): void;
  /** Called for comments, doctypes and processing instructions. */
  other(start: number, end: number): void;
}

const rawText = new Set(['style', 'xmp', 'iframe', 'noembed', 'noframes']);
const escapableRawText = new Set(['title', 'textarea']);

/**
 * Calls the visitor for the tokens of an HTML text, in order and without gaps. An unfinished tag at the end of the
 * text is skipped.
 */
export function tokenize(html: string, visitor: Visitor): void {
  let foreign = 0;
  // The tokenizer reports words and white space separately. They are joined, so that the visitor gets one call for
  // each text.
  let textStart = -1;
  let textEnd = -1;
  const flush = () => {
    if (textStart >= 0) visitor.text(textStart, textEnd);
    textStart = -1;
  };
  const clamp = (token: { location?: Token.Location | null }) => ({
    start: token.location!.startOffset,
    end: Math.min(token.location!.endOffset, html.length),
  });
  const text = (token: Token.CharacterToken) => {
    const { startOffset, endOffset } = token.location!;
    if (textStart < 0) textStart = startOffset;
    textEnd = Math.min(endOffset, html.length);
  };
  const other = (token: Token.CommentToken | Token.DoctypeToken) => {
    const { start, end } = clamp(token);
    flush();
    if (end > start) visitor.other(start, end);
  };
  const tokenizer: Tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: true },
    {
      onStartTag(token) {
        const name = token.tagName;
        const isForeign = name === 'svg' || name === 'math';
        if (isForeign && !token.selfClosing) {
          foreign += 1;
          tokenizer.inForeignNode = true;
        } else if (foreign === 0) {
          if (name === 'script') tokenizer.state = TokenizerMode.SCRIPT_DATA;
          else if (rawText.has(name)) tokenizer.state = TokenizerMode.RAWTEXT;
          else if (escapableRawText.has(name)) tokenizer.state = TokenizerMode.RCDATA;
          else if (name === 'plaintext') tokenizer.state = TokenizerMode.PLAINTEXT;
        }
        flush();
        visitor.startTag(new Tag(token, Math.min(token.location!.endOffset, html.length)));
      },
      onEndTag(token) {
        const name = token.tagName;
        if ((name === 'svg' || name === 'math') && foreign > 0) {
          foreign -= 1;
          tokenizer.inForeignNode = foreign > 0;
        }
        const { start, end } = clamp(token);
        flush();
        visitor.endTag(name, start, end);
      },
      onComment: other,
      onDoctype: other,
      onCharacter: text,
      onNullCharacter: text,
      onWhitespaceCharacter: text,
      onEof() {},
    },
  );
  tokenizer.write(html, true);
  flush();
}

/** Recorded tokens in a compact form. Most tokens are only two offsets. */
export interface Recorded {
  /** For each token: the start tag, the name of the end tag, or the marker `textToken` or `otherToken`. */
  kinds: (Tag | string | typeof textToken | typeof otherToken)[];
  offsets: number[];
}

const textToken = 0;
const otherToken = 1;

/** Records the tokens of a text for several visits, because tokenizing takes longer than visiting. */
export function recordTokens(html: string): Recorded {
  const kinds: Recorded['kinds'] = [];
  const offsets: number[] = [];
  const add = (kind: Recorded['kinds'][number], start: number, end: number) => {
    kinds.push(kind);
    offsets.push(start, end);
  };
  tokenize(html, {
    startTag: (tag) => add(tag, tag.start, tag.end),
    endTag: add,
    text: (start, end) => add(textToken, start, end),
    other: (start, end) => add(otherToken, start, end),
  });
  return { kinds, offsets };
}

/** Calls the visitor for recorded tokens. */
export function replay({ kinds, offsets }: Recorded, visitor: Visitor): void {
  for (let i = 0; i < kinds.length; i += 1) {
    const kind = kinds[i]!;
    const start = offsets[2 * i]!;
    const end = offsets[2 * i + 1]!;
    if (kind === textToken) visitor.text(start, end);
    else if (kind === otherToken) visitor.other(start, end);
    else if (typeof kind === 'string') visitor.endTag(kind, start, end);
    else visitor.startTag(kind as Tag);
  }
}

const decoded = new Map<string, string>();

/** Matches a code point that Unicode reserves for internal use, such as U+FFFF (Unicode Standard 23.7). */
export const NONCHARACTER = /\p{Noncharacter_Code_Point}/u;

/**
 * Decodes a character reference such as `&eacute;` or `&#39` by the rules of the HTML standard for text. References
 * to noncharacters are not decoded: they are parse errors in HTML, and engines lose such characters.
 */
export function decodeReference(raw: string): string {
  let text = decoded.get(raw);
  if (text === undefined) {
    text = '';
    const add = (token: Token.CharacterToken) => {
      text += token.chars;
    };
    const nothing = () => {};
    new Tokenizer(
      {},
      {
        onStartTag: nothing,
        onEndTag: nothing,
        onComment: nothing,
        onDoctype: nothing,
        onEof: nothing,
        onCharacter: add,
        onNullCharacter: add,
        onWhitespaceCharacter: add,
      },
    ).write(raw, true);
    if (NONCHARACTER.test(text)) text = raw;
    // The cache has a limit, because a text may have many long references.
    if (decoded.size < 5_000 && raw.length < 50) decoded.set(raw, text);
  }
  return text;
}
