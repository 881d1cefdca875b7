import type { Linear } from './ctranslate2.ts';

/** A linear function of the converted model: weights with one row for each input, and offsets; at first all are 0. */
export class Affine {
  readonly rows: number;
  readonly columns: number;
  readonly weights: Float64Array;
  readonly bias: Float64Array;

  constructor(rows: number, columns: number) {
    [this.rows, this.columns] = [rows, columns];
    [this.weights, this.bias] = [new Float64Array(rows * columns), new Float64Array(columns)];
  }

  add(row: number, column: number, value: number): void {
    this.weights[row * this.columns + column]! += value;
  }

  /** Returns the outputs for the given inputs. */
  apply(input: readonly number[]): number[] {
    const output = Array.from(this.bias);
    input.forEach((value, row) => {
      for (let column = 0; column < this.columns; column++) {
        output[column]! += value * this.weights[row * this.columns + column]!;
      }
    });
    return output;
  }

  /**
   * Copies a linear function of the source model.
   *
   * @param from the place from which the first input is read; the other inputs follow it
   * @param to returns the place of an output
   * @param factor is multiplied with all outputs
   */
  static of(
    rows: number,
    columns: number,
    layer: Linear,
    from = 0,
    to = (place: number) => place,
    factor = 1,
  ): Affine {
    const affine = new Affine(rows, columns);
    layer.weights.forEach((weights, output) => {
      weights.forEach((weight, input) => {
        affine.add(from + input, to(output), weight * factor);
      });
      affine.bias[to(output)]! += layer.bias[output]! * factor;
    });
    return affine;
  }
}
