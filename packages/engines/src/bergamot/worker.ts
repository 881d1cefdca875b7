/**
 * The script of a worker thread: it runs one model in one instance of Bergamot's WebAssembly build.
 *
 * The script of the npm package does not run in Node, because it uses `require` in an ES module. The instance
 * aborts at a malformed tag, for example, and cannot continue: the thread then exits with {@link ABORTED},
 * and the main thread starts another. What the instance prints may contain customers' texts, so it is
 * discarded.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { compileFunction } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { readScores, type ScoredTarget } from './scores.ts';

/** The data that a thread gets at its start. The main thread has verified the checksums of all files. */
export interface Setup {
  model: string;
  shortlist: string | null;
  /** One vocabulary for both languages, or one for the source and one for the target. */
  vocabularies: readonly string[];
  /** Storage format of the model's matrices. */
  precision: string;
}

export interface Order {
  /** The texts as HTML. The engine reports scores only in HTML. */
  texts: readonly string[];
  /** Whether the engine reports the scores of the words. */
  scores: boolean;
}

export type Report = { ready: true } | { targets: ScoredTarget[] };

/** The thread's exit status after an abort. */
export const ABORTED = 134;

interface Deletable {
  delete(): void;
}
interface AlignedMemory {
  getByteArrayView(): Int8Array;
}
interface List<T> extends Deletable {
  push_back(value: T): void;
}
interface Module {
  asm: Record<string, (...args: unknown[]) => unknown>;
  AlignedMemory: new (size: number, alignment: number) => AlignedMemory;
  AlignedMemoryList: new () => List<AlignedMemory>;
  VectorString: new () => List<string>;
  VectorResponseOptions: new () => List<{ alignment: boolean; html: boolean; qualityScores: boolean }>;
  BlockingService: new (options: {
    cacheSize: number;
  }) => {
    translate(
      model: object,
      texts: object,
      options: object,
    ): Deletable & { get(index: number): { getTranslatedText(): string } };
  };
  TranslationModel: new (
    config: string,
    model: AlignedMemory,
    shortlist: AlignedMemory,
    vocabularies: object,
    quality: AlignedMemory | null,
  ) => object;
}

/** WebAssembly is declared here, because Node's types do not include it. */
declare const WebAssembly: {
  compile(bytes: Uint8Array): Promise<object>;
  instantiate(binary: object, imports: object): Promise<object>;
};

/**
 * The instance needs functions for matrix products as imports, and exports slower versions of them. This table names
 * the slower version that is used for each import.
 */
const PRODUCTS = {
  int8_prepare_a: 'int8PrepareAFallback',
  int8_prepare_b: 'int8PrepareBFallback',
  int8_prepare_b_from_transposed: 'int8PrepareBFromTransposedFallback',
  int8_prepare_b_from_quantized_transposed: 'int8PrepareBFromQuantizedTransposedFallback',
  int8_prepare_bias: 'int8PrepareBiasFallback',
  int8_multiply_and_add_bias: 'int8MultiplyAndAddBiasFallback',
  int8_select_columns_of_b: 'int8SelectColumnsOfBFallback',
};

async function instantiate(): Promise<Module> {
  const folder = join(
    dirname(createRequire(import.meta.url).resolve('@browsermt/bergamot-translator')),
    'worker',
  );
  const binary = await WebAssembly.compile(readFileSync(join(folder, 'bergamot-translator-worker.wasm')));
  const glue = readFileSync(join(folder, 'bergamot-translator-worker.js'), 'utf8');
  return new Promise((resolve, reject) => {
    const module = {
      print: () => {},
      printErr: () => {},
      instantiateWasm(imports: object, accept: (instance: object) => void): object {
        const products = Object.entries(PRODUCTS).map(([name, own]) => [
          name,
          (...args: unknown[]) => module.asm[own]?.(...args),
        ]);
        WebAssembly.instantiate(binary, { ...imports, wasm_gemm: Object.fromEntries(products) }).then(
          accept,
          reject,
        );
        return {};
      },
      onRuntimeInitialized: () => resolve(module),
    } as unknown as Module;
    compileFunction(glue, ['Module'], { filename: 'bergamot-translator-worker.js' })(module);
  });
}

/**
 * Loads the model. With `skip-cost: true`, the scores would not be logarithms of probabilities. The last argument would
 * be a second model, which some pairs have; the scores would then be its estimates of the quality.
 */
function load(module: Module, setup: Setup): object {
  const memory = (path: string | null, alignment: number): AlignedMemory => {
    const bytes = path === null ? Buffer.alloc(0) : readFileSync(path);
    const aligned = new module.AlignedMemory(bytes.length, alignment);
    aligned.getByteArrayView().set(bytes);
    return aligned;
  };
  const vocabularies = new module.AlignedMemoryList();
  for (const path of setup.vocabularies) vocabularies.push_back(memory(path, 64));
  const config = `beam-size: 1
normalize: 1.0
word-penalty: 0
cpu-threads: 0
gemm-precision: ${setup.precision}
skip-cost: false
alignment: soft
quiet: true
quiet-translation: true
max-length-break: 128
mini-batch-words: 1024
workspace: 128
max-length-factor: 2.0
`;
  const [model, shortlist] = [memory(setup.model, 256), memory(setup.shortlist, 64)];
  return new module.TranslationModel(config, model, shortlist, vocabularies, null);
}

if (parentPort !== null) {
  const port = parentPort;
  try {
    const module = await instantiate();
    const service = new module.BlockingService({ cacheSize: 0 });
    const model = load(module, workerData as Setup);
    port.on('message', ({ texts, scores }: Order) => {
      try {
        const [input, options] = [new module.VectorString(), new module.VectorResponseOptions()];
        for (const text of texts) {
          input.push_back(text);
          options.push_back({ alignment: false, html: true, qualityScores: scores });
        }
        const responses = service.translate(model, input, options);
        const targets = texts.map((_, index) => readScores(responses.get(index).getTranslatedText()));
        for (const each of [input, options, responses]) each.delete();
        port.postMessage({ targets } satisfies Report);
      } catch {
        process.exit(ABORTED);
      }
    });
    port.postMessage({ ready: true } satisfies Report);
  } catch {
    process.exit(ABORTED);
  }
}
