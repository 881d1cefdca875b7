/**
 * Reads XLIFF 1.2 (and 1.0, 1.1) and finds the trans-units. The parser saxes checks well-formedness and provides
 * offsets. Elements are matched by local name, because files in use have various prefixes and namespaces.
 */

import { type SaxesAttributePlain, SaxesParser, type SaxesTagPlain } from 'saxes';
import { type Document, DocumentError, emptyDocument, errorAt } from '../model/document.ts';
import { Languages } from '../model/languages.ts';
import { Limits } from '../model/limits.ts';
import { primaryLanguage } from '../model/scripts.ts';
import { Capture } from './xliff-inline.ts';
import { type Attributes, type Element, finishUnit, type TransUnit } from './xliff-units.ts';

export interface XliffOptions {
  sourceLanguage?: string;
  /** True for the document of a new job. If it declares another source language than the job's, it is rejected. */
  isNew?: boolean;
  targetLanguage?: string;
  /** True if units whose target has the state `translated` are translated again. */
  retranslate?: boolean;
  /**
   * If `target`, each unit has the text of its target, or of its source if the target has no text. This option is for
   * translated documents, which must not be rebuilt afterwards.
   */
  reads?: 'target';
}

interface Frame {
  local: string;
  translate: boolean;
  preserve: boolean;
  /**
   * The language declared by an element inside a source. A declaration outside the source is the language of the
   * document.
   */
  language?: string | undefined;
  /** Called at the end tag of the element. */
  ends?: (start: number, end: number) => void;
}

/**
 * Scans an XLIFF document.
 *
 * @throws DocumentError when the document is not well-formed, is not XLIFF 1.x, has an internal DTD subset or no
 * trans-unit, declares other languages than the job's, or exceeds a limit
 */
export function scanXliff(text: string, options: XliffOptions = {}): Document {
  const document = emptyDocument('xliff', text);
  new Scanner(document, options).scan();
  if (document.transUnits === 0) {
    throw new DocumentError('The XLIFF document has no trans-unit to translate.', 1, 1);
  }
  return document;
}

class Scanner {
  readonly #document: Document;
  readonly #text: string;
  readonly #options: XliffOptions;
  readonly #parser = new SaxesParser({ xmlns: false });
  readonly #frames: Frame[] = [];
  readonly #languages = new Languages();
  readonly #patches: Document['patches'][number][] = [];
  readonly #sections: { start: number; end: number }[] = [];
  /** The offset at which the last markup ends. From this offset to the next `<`, there is only text. */
  #position = 0;
  #attributes = 0;
  #file:
    | { source: string | undefined; target: string | undefined; offset: number; checked: boolean }
    | undefined;
  #unit: TransUnit | undefined;
  #capture: Capture | undefined;

  constructor(document: Document, options: XliffOptions) {
    this.#document = document;
    this.#text = document.text;
    this.#options = options;
  }

  scan(): void {
    const parser = this.#parser;
    parser.on('error', (error) => {
      throw this.#malformed(error);
    });
    parser.on('xmldecl', (declaration) => {
      this.#markup();
      const encoding = declaration.encoding?.toLowerCase() ?? 'utf-8';
      this.#document.asciiOnly = !/^utf-?(8|16)|^ucs-?2|^iso-10646/.test(encoding);
    });
    parser.on('doctype', (doctype) => {
      const { start } = this.#markup();
      if (doctype.includes('[')) {
        throw errorAt(this.#text, start, 'A DOCTYPE with an internal subset ("[…]") is not accepted.');
      }
    });
    parser.on('opentagstart', () => {
      this.#attributes = 0;
      if (this.#frames.length >= Limits.xmlDepth) {
        throw errorAt(this.#text, parser.position, `Elements are nested more than ${Limits.xmlDepth} deep.`);
      }
    });
    parser.on('attribute', (_: SaxesAttributePlain) => {
      this.#attributes += 1;
      if (this.#attributes > Limits.attributes) {
        throw errorAt(this.#text, parser.position, `A tag has more than ${Limits.attributes} attributes.`);
      }
    });
    parser.on('opentag', (tag) => this.#open(tag));
    parser.on('closetag', (tag) => this.#close(tag));
    parser.on('comment', () => {
      // saxes reports a comment before it has read the final `>`.
      const { start, end } = this.#markup(1);
      this.#capture?.standalone(start, end);
    });
    parser.on('processinginstruction', () => {
      const { start, end } = this.#markup();
      this.#capture?.standalone(start, end);
    });
    parser.on('cdata', () => {
      const section = this.#markup();
      if (this.#capture && !this.#capture.isOpaque) this.#sections.push(section);
    });
    parser.write(this.#text).close();
    this.#document.languages = this.#languages.changes;
    this.#document.patches = this.#patches;
    this.#document.sections = this.#sections;
  }

  /** Returns the range of the markup that was just read. */
  #markup(more = 0): { start: number; end: number } {
    const start = this.#text.indexOf('<', this.#position);
    const end = this.#parser.position + more;
    this.#position = end;
    return { start, end };
  }

  #malformed(error: Error): DocumentError {
    const reason = error.message.replace(/^\S*?\d+:\d+:\s*/, '').replace(/\.$/, '');
    const { line, columnIndex } = this.#parser;
    return new DocumentError(`The XLIFF document is not well-formed XML: ${reason}.`, line, columnIndex + 1);
  }

  #open(tag: SaxesTagPlain): void {
    const before = this.#position;
    const { start, end } = this.#markup();
    if (end - start > Limits.xmlTag) {
      throw errorAt(this.#text, start, `A tag is longer than ${Limits.xmlTag} characters.`);
    }
    const local = localName(tag.name);
    const outer = this.#frames.at(-1);
    const attributes: Attributes = tag.attributes;
    const frame: Frame = {
      local,
      translate: flag(attributes.translate, 'no', 'yes', outer?.translate ?? true),
      preserve: flag(attributes['xml:space'], 'default', 'preserve', outer?.preserve ?? false),
    };
    this.#frames.push(frame);
    if (!outer) this.#root(local, attributes, start);
    if (this.#capture) {
      const declared = attributes['xml:lang'];
      frame.language = declared === undefined ? outer?.language : primaryLanguage(declared);
      if (!tag.isSelfClosing) this.#languages.note(end, frame.language);
      const ends = this.#capture.open(local, attributes, tag.isSelfClosing, start, end);
      if (ends) frame.ends = ends;
    } else if (this.#unit) this.#insideUnit(tag, frame, outer!, start, end, before);
    else this.#outsideUnit(tag, frame, start);
  }

  #close(tag: SaxesTagPlain): void {
    const frame = this.#frames.pop()!;
    if (tag.isSelfClosing) {
      // For an empty element, saxes reports the end tag right after the start tag.
      frame.ends?.(this.#position, this.#position);
      return;
    }
    const { start, end } = this.#markup();
    this.#languages.note(start, this.#frames.at(-1)?.language);
    frame.ends?.(start, end);
  }

  #root(local: string, attributes: Attributes, start: number): void {
    if (local !== 'xliff') {
      throw errorAt(this.#text, start, `This is not XLIFF: the document element is "${local}", not "xliff".`);
    }
    const version = attributes.version?.trim();
    if (version === undefined || /^1\.[012]$/.test(version)) return;
    const known = version.startsWith('2')
      ? 'XLIFF 2 is not supported'
      : `XLIFF version "${version}" is unknown`;
    throw errorAt(this.#text, start, `${known}; send XLIFF 1.2.`);
  }

  #outsideUnit(tag: SaxesTagPlain, frame: Frame, start: number): void {
    const { attributes } = tag;
    if (frame.local === 'file') {
      this.#file = {
        source: attributes['source-language']?.trim(),
        target: attributes['target-language']?.trim(),
        offset: start,
        checked: false,
      };
    } else if (frame.local === 'trans-unit') {
      this.#document.transUnits += 1;
      this.#checkLanguages();
      const language = this.#file?.target;
      const unit: TransUnit = {
        attributes,
        translate: frame.translate,
        preserve: frame.preserve,
        locked: isLocked(attributes),
        retranslate: this.#options.retranslate ?? false,
        definitions: 0,
        notes: [],
        language,
      };
      this.#unit = unit;
      frame.ends = () => {
        this.#unit = undefined;
        finishUnit(this.#document, unit, this.#sections, this.#patches);
        if (this.#document.units.length > Limits.units) {
          throw errorAt(this.#text, start, `The document has more than ${Limits.units} units.`);
        }
      };
    }
  }

  /**
   * Handles an element inside a trans-unit. Only direct children count, because `alt-trans` also has sources and
   * targets.
   */
  #insideUnit(
    tag: SaxesTagPlain,
    frame: Frame,
    outer: Frame,
    start: number,
    end: number,
    before: number,
  ): void {
    const unit = this.#unit!;
    // Trados locks the segments of a unit in `sdl:seg-defs`. A unit is locked if all of them are.
    if (frame.local === 'seg' && outer.local === 'seg-defs') {
      unit.locked = isLocked(tag.attributes) && (unit.locked || unit.definitions === 0);
      unit.definitions += 1;
    }
    if (outer.local !== 'trans-unit') return;
    const element: Element = {
      name: tag.name,
      attributes: tag.attributes,
      start,
      end,
      contentStart: end,
      contentEnd: end,
      selfClosing: tag.isSelfClosing,
      space: this.#text.slice(before, start),
      preserve: frame.preserve,
    };
    const finish = (contentEnd: number, close: number) => {
      if (tag.isSelfClosing) return;
      element.contentEnd = contentEnd;
      element.end = close;
    };
    const readsTarget = this.#options.reads === 'target' && frame.local === 'target' && !unit.target;
    if (
      (frame.local === 'source' && !unit.source) ||
      (frame.local === 'seg-source' && !unit.segSource) ||
      readsTarget
    ) {
      const capture = new Capture(this.#text, end, frame.local !== 'source', (section) => {
        this.#patches.push(section);
      });
      this.#capture = capture;
      const found = { ...element, capture };
      if (frame.local === 'source') unit.source = found;
      else if (frame.local === 'seg-source') unit.segSource = found;
      else {
        unit.target = found;
        unit.read = found;
      }
      frame.ends = (contentEnd, close) => {
        this.#capture = undefined;
        capture.finish(contentEnd);
        if (tag.isSelfClosing) return;
        found.contentEnd = contentEnd;
        found.end = close;
      };
    } else if (frame.local === 'target' && !unit.target) {
      unit.target = element;
      frame.ends = finish;
    } else if (frame.local === 'note') {
      frame.ends = (contentEnd) => {
        if (!tag.isSelfClosing) unit.notes.push(this.#text.slice(end, contentEnd));
      };
    }
  }

  /**
   * Checks the languages of a file element. The first file with a trans-unit declares the source language of the
   * document. The target language of every file must match the job's.
   */
  #checkLanguages(): void {
    const file = this.#file;
    if (!file || file.checked) return;
    file.checked = true;
    const { source, target, offset } = file;
    if (source && !this.#document.declaresLanguage) {
      this.#document.sourceLanguage = source;
      this.#document.declaresLanguage = true;
    }
    for (const [side, declared, wanted] of [
      ['source', source, this.#options.isNew ? this.#options.sourceLanguage : undefined],
      ['target', target, this.#options.targetLanguage],
    ] as const) {
      if (!declared || !wanted || sameLanguage(declared, wanted)) continue;
      throw errorAt(
        this.#text,
        offset,
        `The ${side} language of the document is "${declared}", but that of the job is "${wanted}".`,
      );
    }
  }
}

/** Returns true if an attribute of a translation tool locks a unit: `mq:locked`, `m:locked`, `locked` of `sdl:seg`. */
function isLocked(attributes: Attributes): boolean {
  return Object.entries(attributes).some(
    ([name, value]) => localName(name) === 'locked' && /^(?:true|yes|locked|1)$/i.test(value ?? ''),
  );
}

export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function flag(value: string | undefined, off: string, on: string, inherited: boolean): boolean {
  const word = value?.trim().toLowerCase();
  return word === off ? false : word === on ? true : inherited;
}

/**
 * Returns true if two tags may mean the same language: the language is the same, and they do not name different
 * regions.
 */
export function sameLanguage(a: string, b: string): boolean {
  const parts = [a, b].map((tag) => tag.toLowerCase().split(/[-_]/));
  const base = parts.map(([first]) => (first === 'no' || first === 'nn' ? 'nb' : first));
  if (base[0] !== base[1]) return false;
  const regions = parts.map((all) => all.slice(1).find((part) => /^[a-z]{2}$|^\d{3}$/.test(part)));
  return !regions[0] || !regions[1] || regions[0] === regions[1];
}
