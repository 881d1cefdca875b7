/**
 * The stack of open HTML elements, which finds where elements end. No tree is built, so malformed markup
 * needs no extra work. An end tag closes everything up to its start tag. An end tag without a start tag is
 * ignored.
 */

import { endedBy } from '../codes/html-elements.ts';
import { errorAt } from '../model/document.ts';
import { Limits } from '../model/limits.ts';

export interface Named {
  name: string;
}

export class Stack<Frame extends Named> {
  readonly #frames: Frame[] = [];
  readonly #count = new Map<string, number>();
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get top(): Frame | undefined {
    return this.#frames.at(-1);
  }

  frames(): readonly Frame[] {
    return this.#frames;
  }

  /**
   * Closes the elements that a start tag ends implicitly (`<li>` ends an open `li`). Returns them innermost first.
   */
  implied(name: string): Frame[] {
    const rule = endedBy(name);
    if (!rule) return [];
    let from = -1;
    for (let i = this.#frames.length - 1; i >= 0; i -= 1) {
      const open = this.#frames[i]!.name;
      if (rule.ends.has(open)) from = i;
      else if (rule.within.has(open)) break;
    }
    return from < 0 ? [] : this.#pop(from);
  }

  push(frame: Frame, offset: number): void {
    if (this.#frames.length >= Limits.htmlDepth) {
      throw errorAt(this.#text, offset, `Elements are nested more than ${Limits.htmlDepth} deep.`);
    }
    this.#frames.push(frame);
    this.#count.set(frame.name, (this.#count.get(frame.name) ?? 0) + 1);
  }

  /** Closes the innermost element of a name and everything inside it. Returns the closed elements innermost first. */
  close(name: string): Frame[] {
    if (!this.#count.get(name)) return [];
    return this.#pop(this.#frames.findLastIndex((frame) => frame.name === name));
  }

  closeAll(): Frame[] {
    return this.#pop(0);
  }

  #pop(from: number): Frame[] {
    const last = from === this.#frames.length - 1;
    const popped = last ? [this.#frames.pop()!] : this.#frames.splice(from).reverse();
    for (const { name } of popped) this.#count.set(name, this.#count.get(name)! - 1);
    return popped;
  }
}
