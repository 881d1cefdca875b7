/**
 * Routes with which customers translate documents in the web app: `/api/account/documents…`, and the download
 * of a result. A document becomes a job in the same way as a request of the API.
 */
import { hash } from 'node:crypto';
import { FORMATS, TRAITS } from '@dragoman/documents';
import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import Type, { type Static } from 'typebox';
import { accountOf } from '../../access/session-auth.ts';
import { type Caller, type Environment, SCOPES } from '../../base/account.ts';
import { ApiError, notFound } from '../../base/errors.ts';
import { defaultBrand } from '../../brands/brands.ts';
import { TONE_NAMES } from '../../brands/tones.ts';
import type { Database } from '../../database/database.ts';
import { presentWebError, resource } from '../../http/http.ts';
import { answer, CENTS, describedOwn, ID, IN_ENVIRONMENT, WebError } from '../../http/schemas.ts';
import type { Languages } from '../../languages/languages.ts';
import { COUNTED, DiscountBody } from '../../ledger/price-list.ts';
import { TextTakesTooLong } from '../../scanning/scanner.ts';
import type { Settings } from '../../settings/settings.ts';
import type { JobCreator } from '../create/create.ts';
import { idempotencyHeader } from '../header-schemas.ts';
import { OwnJob, presentOwnJob } from '../list/customer.ts';
import { showsResult } from '../present.ts';
import { JobRequest, jobParameters } from '../schemas.ts';
import { findJob, type JobTier } from '../store.ts';
import { readTexts } from '../text-store.ts';
import { attachmentOf, cleanFileName, resultFileName } from './files.ts';
import { requestMail } from './mail-store.ts';

const LANGUAGE = Type.String({ description: 'A language code.' });

const DocumentOptions = Type.Object(
  {
    languages: Type.Array(
      Type.Object({ source_language: LANGUAGE, target_languages: Type.Array(LANGUAGE) }),
      { description: 'The offered language pairs, by source language.' },
    ),
    formats: Type.Array(
      Type.Object(
        {
          format: Type.Enum([...FORMATS]),
          extensions: Type.Array(Type.String({ description: 'In lower case, without the dot.' })),
        },
        { title: 'DocumentFormat' },
      ),
    ),
    tones: Type.Array(Type.String()),
    max_bytes: Type.Integer({ description: 'The maximum size of a document in bytes of UTF-8.' }),
    mails: Type.Boolean({
      description: 'Whether the server sends mails about documents of this environment.',
    }),
  },
  { title: 'DocumentOptions' },
);

const ordered = Type.Omit(JobRequest, [
  'callback_url',
  'topics',
  'formality',
  'uid',
  'target_text',
]).properties;
const NewDocument = Type.Object(
  {
    environment: IN_ENVIRONMENT,
    tier: Type.Enum(['human', 'machine']),
    name: Type.Optional(Type.String({ maxLength: 255, description: 'The name of the file.' })),
    ...ordered,
    mail: Type.Optional(
      Type.Boolean({
        description: 'Whether the user gets a mail when the job is finished; not in the sandbox.',
      }),
    ),
    user_id: Type.Optional({
      ...ID,
      description: 'The user who sends the document. Error `conflict`: another user is signed in.',
    }),
    price: Type.Optional({
      ...CENTS,
      description: 'The price of the quote in US cents. Error `price_changed`: the job has another price.',
    }),
  },
  { title: 'NewDocument' },
);

/** The maximum number of target languages of one quote. The document is read for each of them. */
const MAX_TARGETS = 20;
const QuotedDocument = Type.Object(
  {
    ...Type.Omit(NewDocument, ['target_language', 'mail', 'price']).properties,
    target_languages: Type.Array(ordered.target_language, { minItems: 1, maxItems: MAX_TARGETS }),
  },
  { title: 'QuotedDocument' },
);

const DocumentQuote = Type.Object(
  {
    source_language: Type.String({ description: 'The given or detected source language.' }),
    words: Type.Integer({ minimum: 0 }),
    price: CENTS,
    discounts: Type.Array(DiscountBody),
    counted: COUNTED,
  },
  { title: 'DocumentQuote' },
);
const { code, message } = WebError.properties.error.properties;
const Refusal = Type.Object(
  { code, message },
  {
    title: 'DocumentRefusal',
    additionalProperties: true,
    description: 'The `error` of an error answer, with all its fields.',
  },
);
const DocumentQuotes = Type.Object(
  {
    quotes: Type.Array(
      Type.Object(
        {
          target_language: Type.String(),
          quote: Type.Union([DocumentQuote, Type.Null()]),
          refusal: Type.Union([Refusal, Type.Null()], {
            description: 'Why the document cannot be translated into this language; null with a quote.',
          }),
        },
        { title: 'TargetQuote' },
      ),
      { description: 'One for each target language, in the order of the request.' },
    ),
  },
  { title: 'DocumentQuotes' },
);
const SentDocument = Type.Object(
  {
    job: OwnJob,
    repeated: Type.Boolean({
      description: 'Whether an earlier request with the same document created the job. Nothing was charged.',
    }),
  },
  { title: 'SentDocument' },
);

const createSchema = {
  operationId: 'sendDocument',
  summary: 'Translate a document',
  description:
    'Creates a job. Without an `Idempotency-Key`, a request with the same name, text and options within 24 hours returns the job of the first one. Error `insufficient_balance`: `missing` is the number of cents that are missing.',
  tags: ['Own account'],
  headers: idempotencyHeader,
  body: NewDocument,
  response: {
    200: answer('The job that an earlier request created.', SentDocument),
    201: answer('The new job.', SentDocument),
  },
} satisfies FastifySchema;

const resultSchema = {
  operationId: 'downloadOwnResult',
  summary: 'Download the result of a job as a file',
  tags: ['Own account'],
  params: jobParameters,
  querystring: Type.Object({ environment: IN_ENVIRONMENT }),
  response: {
    200: {
      description: 'The file. Its name contains the target language.',
      content: Object.fromEntries(
        Object.values(TRAITS).map(({ mediaType }) => [mediaType, { schema: Type.String() }]),
      ),
    },
  },
} satisfies FastifySchema;

const schemas = {
  options: describedOwn(
    'readDocumentOptions',
    'Read the languages and formats of documents',
    DocumentOptions,
    { querystring: Type.Object({ environment: IN_ENVIRONMENT }) },
  ),
  quote: describedOwn('quoteDocument', 'Check a document and calculate its prices', DocumentQuotes, {
    description:
      'Nothing is created. The document is checked for each target language like `sendDocument`, except for the balance.',
    body: QuotedDocument,
  }),
};

export interface DocumentRouteOptions {
  database: Database;
  creator: JobCreator;
  languages: Languages;
  settings: Pick<Settings, 'maxTextBytes' | 'smtpUrl'>;
}

export function documentRoutes(app: FastifyInstance, options: DocumentRouteOptions): void {
  const { database, creator } = options;
  resource(app, '/api/account/documents/options', {
    GET: {
      schema: schemas.options,
      handler: (request) => readOptions(options, request.query.environment),
    },
  });
  resource(app, '/api/account/documents/quote', {
    POST: {
      schema: schemas.quote,
      bodyLimit: 'texts',
      emptyIsAbsent: true,
      async handler(request, reply) {
        const { environment, tier, name: _, user_id, target_languages, ...fields } = request.body;
        const caller = await callerOf(database, request, environment, user_id);
        const quotes = [];
        // One language after another, so that a long document occupies only one scanner process.
        for (const target_language of new Set(target_languages)) {
          // The client has disconnected.
          if (reply.raw.destroyed) break;
          quotes.push(await quoteTarget(creator, caller, tier, { ...fields, target_language }));
        }
        return { quotes };
      },
    },
  });
  resource(app, '/api/account/documents', {
    POST: {
      schema: createSchema,
      bodyLimit: 'texts',
      emptyIsAbsent: true,
      async handler(request, reply) {
        const { environment, tier, name: given = '', mail = false, user_id, price, ...fields } = request.body;
        const name = cleanFileName(given);
        const caller = await callerOf(database, request, environment, user_id);
        const key = request.headers['idempotency-key'] ?? keyOf(request.body);
        const sent = await creator.create(caller, tier, fields, key, name || undefined, price);
        const row = await findJob(database, { account: caller.account, environment, uid: sent.body.uid });
        if (mail && sendsMails(options, environment)) {
          await requestMail(database, {
            account: caller.account,
            jobId: row!.job_id,
            userId: request.person.userId,
          });
        }
        const { name: stored } = await readTexts(database, caller.account, row!.job_id, ['name']);
        return reply
          .code(sent.status)
          .send({ job: presentOwnJob(row!, stored), repeated: sent.status === 200 });
      },
    },
  });
  resource(app, '/api/account/jobs/:uid/result', {
    GET: {
      schema: resultSchema,
      async handler(request, reply) {
        const { ref } = accountOf(request);
        const { uid } = request.params;
        const row = await findJob(database, { account: ref, environment: request.query.environment, uid });
        if (row === undefined || !showsResult(row.status)) throw notFound();
        const { result, name } = await readTexts(database, ref, row.job_id, ['result', 'name']);
        // The retention of the account may have deleted the texts.
        if (result === undefined) throw notFound();
        const { text_format: format, target_language: target } = row;
        return reply
          .type(`${TRAITS[format].mediaType}; charset=utf-8`)
          .header('content-disposition', attachmentOf(resultFileName(name ?? uid, format, target)))
          .send(result);
      },
    },
  });
}

/** Quotes a document for one target language, or returns the refusal. */
async function quoteTarget(
  creator: JobCreator,
  caller: Caller,
  tier: JobTier,
  body: { target_language: string },
): Promise<Static<typeof DocumentQuotes>['quotes'][number]> {
  const { target_language } = body;
  try {
    const { sourceLanguage, words, price: prices, counted } = await creator.quote(caller, tier, body);
    const { cents: price, centsPerWord, discounts } = prices[tier];
    const quote = {
      source_language: sourceLanguage,
      words,
      price,
      discounts,
      ...(counted === undefined || centsPerWord === 0 ? {} : { counted }),
    };
    return { target_language, quote, refusal: null };
  } catch (error) {
    const isOfLanguage =
      error instanceof ApiError && error.code === 'invalid_request' && !(error instanceof TextTakesTooLong);
    // Every other error concerns all languages: the server is busy, or the text is too large or takes too long.
    if (!isOfLanguage) throw error;
    return { target_language, quote: null, refusal: presentWebError(error).error };
  }
}

/**
 * Returns the signed-in customer as the caller who creates a job, with the rights of an unrestricted API key.
 * @param expected the user who sends the document, if the request names one
 * @throws ApiError `conflict` if another user is signed in
 */
async function callerOf(
  database: Database,
  request: FastifyRequest,
  environment: Environment,
  expected: string | undefined,
): Promise<Caller> {
  if (expected !== undefined && expected !== request.person.userId) {
    throw new ApiError('conflict', 'Another user is signed in.');
  }
  const { ref, username, suspended } = accountOf(request);
  return {
    account: ref,
    username,
    keyId: '',
    environment,
    dialect: 'spec',
    readOnly: false,
    scopes: SCOPES,
    dailyCents: undefined,
    requestsPerSecond: undefined,
    allowedOrigins: [],
    defaultBrand: await defaultBrand(database, ref),
    suspended,
  };
}

/**
 * Returns the idempotency key of a document. It depends only on the document and its options, so that two
 * browsers that send the same document create one job.
 */
function keyOf(sent: Static<typeof NewDocument>): string {
  const { mail: _, user_id: __, price: ___, ...properties } = NewDocument.properties;
  const fields = Object.keys(properties) as (keyof typeof properties)[];
  const values = fields.map((field) => sent[field] ?? null);
  return `document ${hash('sha256', JSON.stringify(values), 'hex')}`;
}

/** Nobody waits for documents of the sandbox, so it sends no mails. */
function sendsMails({ settings }: Pick<DocumentRouteOptions, 'settings'>, environment: Environment): boolean {
  return settings.smtpUrl !== undefined && environment === 'production';
}

async function readOptions(
  { languages, settings }: DocumentRouteOptions,
  environment: Environment,
): Promise<Static<typeof DocumentOptions>> {
  const pairs = await languages.pairs(environment);
  const bySource = Map.groupBy(pairs, ({ lang_pair }) => lang_pair.source_language.shortname);
  return {
    languages: [...bySource].map(([source, ofSource]) => ({
      source_language: source,
      target_languages: ofSource.map(({ lang_pair }) => lang_pair.target_language.shortname),
    })),
    formats: FORMATS.map((format) => ({ format, extensions: [...TRAITS[format].extensions] })),
    tones: [...TONE_NAMES],
    max_bytes: settings.maxTextBytes,
    mails: sendsMails({ settings }, environment),
  };
}
