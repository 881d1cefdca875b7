/** The types of events, as the constraint `events_type` lists them. */
export const EVENT_TYPES = [
  'job.completed',
  'job.failed',
  'job.canceled',
  'job.asked',
  'message.translated',
  'message.failed',
  'message.corrected',
  'test',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];
