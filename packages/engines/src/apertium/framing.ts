/** Splits a byte stream into replies, each terminated by NUL. */
export class Framing {
  #partial: Buffer[] = [];
  /** Number of bytes of the reply that has not ended yet. */
  pendingBytes = 0;

  /** Yields the replies that this chunk completes, in order. */
  *push(chunk: Buffer): Generator<string> {
    let from = 0;
    for (let at = chunk.indexOf(0); at >= 0; at = chunk.indexOf(0, from)) {
      if (this.#partial.length === 0) yield chunk.toString('utf8', from, at);
      else {
        // The parts are joined before decoding, because a chunk may end inside a character.
        const whole = Buffer.concat([...this.#partial, chunk.subarray(from, at)]);
        this.#partial = [];
        this.pendingBytes = 0;
        yield whole.toString('utf8');
      }
      from = at + 1;
    }
    if (from === chunk.length) return;
    this.#partial.push(chunk.subarray(from));
    this.pendingBytes += chunk.length - from;
  }
}
