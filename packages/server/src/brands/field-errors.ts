/** Answers invalid brands in the console: each fault is reported at its field. */
import { wrongFields } from '../base/errors.ts';
import { BrandError } from './brand.ts';

/** Runs `work` and turns a BrandError into an error for each field, so that a form can show the errors. */
export async function withFieldErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BrandError)) throw error;
    const lines = error.faults.length > 0 ? error.faults : [error.message];
    const fields: Record<string, string> = {};
    for (const line of lines) {
      const [, where = 'brand', reason = line] = /^([\w.[\]-]+): (.*)$/s.exec(line) ?? [];
      // A fault in a term is reported with the field of the term, not with its place in the file.
      const [, field, fault] = (where.includes('.glossary[') && /^(\w+): (.*)$/s.exec(reason)) || [];
      fields[field ?? where] ??= fault ?? reason;
    }
    throw wrongFields(fields);
  }
}
