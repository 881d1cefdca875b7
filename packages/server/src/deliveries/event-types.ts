/** The types of events that webhook endpoints get, as the constraint of `webhook_endpoints.events` lists them. */
export const FILTER_TYPES = [
  'job.completed',
  'job.failed',
  'job.canceled',
  'job.asked',
  'message.translated',
  'message.failed',
  'message.corrected',
] as const;

export type FilterType = (typeof FILTER_TYPES)[number];

/** The types of events, as the constraint `events_type` lists them. A test event goes only to the URL of its request. */
export const EVENT_TYPES = [...FILTER_TYPES, 'test'] as const;

export type EventType = (typeof EVENT_TYPES)[number];
