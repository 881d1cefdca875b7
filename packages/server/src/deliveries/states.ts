/**
 * The states of a webhook endpoint and the table of its transitions.
 *
 * | state    | meaning                                                                              |
 * | -------- | ------------------------------------------------------------------------------------ |
 * | active   | it gets a delivery for each event that matches its filter                            |
 * | disabled | it gets no deliveries; those that were pending end without a request at their next attempt |
 * | failed   | as `disabled`, because at least 10 deliveries of 5 days are dead and none was delivered |
 */
export const ENDPOINT_STATUSES = ['active', 'disabled', 'failed'] as const;
/** The statuses that a request can set. */
export const GIVEN_STATUSES = ['active', 'disabled'] as const satisfies EndpointStatus[];
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

/** Every allowed transition, by its trigger. The program triggers `fail`, customers and their API keys the others. */
export const ENDPOINT_MOVES = {
  disable: { from: 'active', to: 'disabled', action: 'endpoint.disabled' },
  enable: { from: 'disabled', to: 'active', action: 'endpoint.enabled' },
  fail: { from: 'active', to: 'failed', action: 'endpoint.failed' },
  repair: { from: 'failed', to: 'active', action: 'endpoint.enabled' },
  dismiss: { from: 'failed', to: 'disabled', action: 'endpoint.disabled' },
} as const satisfies Record<string, { from: EndpointStatus; to: EndpointStatus; action: string }>;
