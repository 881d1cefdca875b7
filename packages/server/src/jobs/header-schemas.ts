/** The headers of requests that create jobs. */
import Type from 'typebox';

export const IDEMPOTENCY_KEY = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '^[ -~]*$',
    'x-fault': 'must be 1 to 255 printable ASCII characters.',
    description: 'Makes a retry within 24 hours safe, also without a `uid`.',
    examples: ['7d0c1f5e'],
  }),
);
export const idempotencyHeader = Type.Object({ 'Idempotency-Key': IDEMPOTENCY_KEY });
/** A header, because the specification asks to ignore the fields of a job that clients send back, such as `price`. */
export const QUOTED_PRICE = Type.Optional(
  Type.String({
    pattern: '^[0-9]{1,15}$',
    'x-fault': 'must be a price in cents.',
    description: 'The price of a quote in US cents. If the job has another price, it is not created.',
    examples: ['48'],
  }),
);
export const createHeaders = Type.Object({
  'Idempotency-Key': IDEMPOTENCY_KEY,
  'Quoted-Price': QUOTED_PRICE,
});
