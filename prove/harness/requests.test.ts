/** Tests when a simulated customer repeats a request. */
import { expect, it } from 'vitest';
import { sendUntilAnswered } from './requests.ts';

it('a request is repeated after no response, a server error or a timeout of the request', async () => {
  const statuses = [0, 503, 408, 201, 200];
  const answer = await sendUntilAnswered(async (tried) => ({ status: statuses[tried]!, text: '' }), {
    pause: 0,
  });
  expect(answer?.status).toBe(201);
});

it('a request is not repeated after an error of the customer', async () => {
  expect((await sendUntilAnswered(async () => ({ status: 400, text: '' })))?.status).toBe(400);
});
