/** Reads a model of CTranslate2 in its binary format, version 2, with weights of 32-bit floats. */

/** A linear layer `y = weights · x + bias`; `weights` has one row for each output. */
export interface Linear {
  weights: number[][];
  bias: number[];
}

/** The scale and the offset after a normalization. */
export interface Norm {
  gamma: number[];
  beta: number[];
}

/** The weights of a model, by their names. */
export class Source {
  readonly #variables = new Map<string, { shape: number[]; values: Float32Array }>();

  /** @throws Error when the file has another format or is cut off */
  constructor(file: Buffer) {
    let at = 0;
    const take = (bytes: number): Buffer => {
      const taken = file.subarray(at, at + bytes);
      if (taken.length !== bytes) throw new Error('the model is cut off');
      at += bytes;
      return taken;
    };
    const number = (bytes: number): number => take(bytes).readUIntLE(0, bytes);
    const text = (): string => take(number(2)).toString('utf8').slice(0, -1);
    const [version, type, , count] = [number(4), text(), number(4), number(4)];
    if (version !== 2 || type !== 'TransformerBase') throw new Error('the model has another format');
    for (let index = 0; index < count; index++) {
      const name = text();
      const shape = Array.from({ length: number(1) }, () => number(4));
      if (number(1) !== 4) throw new Error(`${name} has no 32-bit floats`);
      const bytes = take(4 * number(4));
      const values = Float32Array.from({ length: bytes.length / 4 }, (_, place) =>
        bytes.readFloatLE(4 * place),
      );
      this.#variables.set(name, { shape, values });
    }
  }

  rows(name: string): number[][] {
    const variable = this.#variables.get(name);
    if (variable === undefined) throw new Error(`the model has no ${name}`);
    const { shape, values } = variable;
    const width = shape[1] ?? 1;
    return Array.from({ length: shape[0]! }, (_, row) => [
      ...values.subarray(row * width, (row + 1) * width),
    ]);
  }

  linear(name: string): Linear {
    return { weights: this.rows(`${name}/weight`), bias: this.rows(`${name}/bias`).flat() };
  }

  /** Returns the layers whose outputs one layer computes together, such as queries, keys and values. */
  linears(name: string, count: number): Linear[] {
    const { weights, bias } = this.linear(name);
    const size = bias.length / count;
    return Array.from({ length: count }, (_, part) => ({
      weights: weights.slice(part * size, (part + 1) * size),
      bias: bias.slice(part * size, (part + 1) * size),
    }));
  }

  norm(name: string): Norm {
    return { gamma: this.rows(`${name}/gamma`).flat(), beta: this.rows(`${name}/beta`).flat() };
  }
}
