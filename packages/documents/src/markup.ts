/**
 * A wrapper of parse5's tokenizer, which is exported but marked as internal; its version is therefore pinned. Its
 * tokens, unlike the tree, cover the text exactly: nothing is moved, added or dropped. The wrapper switches it to raw
 * text after the start tags in the HTML standard (§13.2.6.4.7 and around).
 */

import { type Token, Tokenizer, TokenizerMode } from 'parse5';

const noAttributes: ReadonlyMap<string, string> = new Map();

/** A start tag. */
export class Tag {
  readonly name: string;
  readonly selfClosing: boolean;
  readonly start: number;
  readonly end: number;
  /** Lower-case names. */
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

  /** Returns the range of an attribute, with name and value. */
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

/** Visits the tokens of an HTML text, in order and without gaps. Skips a tag that the end of the text cuts off. */
export function tokenize(html: string, visitor: Visitor): void {
  let foreign = 0;
  // The tokenizer reports words and white space separately; here a text is one call.
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

/** Tokens in a compact form: most of them are two offsets. */
export interface Recorded {
  /** A start tag, the name of an end tag, or another token. */
  kinds: (Tag | string | typeof textToken | typeof otherToken)[];
  offsets: number[];
}

const textToken = 0;
const otherToken = 1;

/** Records the tokens of a text for several visits: tokenizing takes longer than visiting. */
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

/** Visits recorded tokens. */
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

/** Code points that Unicode reserves for internal use (Unicode Standard 23.7), such as U+FFFF. */
export const NONCHARACTER = /\p{Noncharacter_Code_Point}/u;

/**
 * Decodes a character reference such as `&eacute;` or `&#39` by the rules of the HTML standard for text. References of
 * noncharacters are not decoded: they are parse errors in HTML, and engines lose such characters.
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
    // A text may have many and long references, so the cache is bounded.
    if (decoded.size < 5_000 && raw.length < 50) decoded.set(raw, text);
  }
  return text;
}
