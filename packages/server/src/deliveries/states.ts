/**
 * The states of a webhook endpoint and the table of its transitions.
 *
 * | state    | meaning                                                                              |
 * | -------- | ------------------------------------------------------------------------------------ |
 * | active   | it gets a delivery for each event that matches its filter                            |
 * | disabled | it gets no deliveries; those that were pending end without a request at their next attempt |
 */
export const ENDPOINT_STATUSES = ['active', 'disabled'] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

/** Every allowed transition, by its trigger. Customers and their API keys trigger them. */
export const ENDPOINT_MOVES = {
  disable: { from: 'active', to: 'disabled', action: 'endpoint.disabled' },
  enable: { from: 'disabled', to: 'active', action: 'endpoint.enabled' },
} as const satisfies Record<string, { from: EndpointStatus; to: EndpointStatus; action: string }>;
