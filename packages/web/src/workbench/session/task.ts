/** The types of a task, generated from the server's OpenAPI description. */
import type * as api from '../../api/generated.ts';

export type Task = api.Task;
export type Segment = api.Segment;
export type SegmentStatus = Segment['status'];
export type Lease = api.Lease;
export type Comment = api.Comment;
export type Issue = api.Issue;
export type Category = Issue['category'];
export type Severity = Issue['severity'];
export type Match = api.TaskMatch;
export type Query = api.Query;
export type TaskTerm = api.TaskTerm;

/** The categories of issues, in the order of the digit keys that choose them. */
export const ISSUE_CATEGORIES = [
  'accuracy',
  'terminology',
  'linguistic_conventions',
  'style',
  'locale_conventions',
  'audience_appropriateness',
  'design_and_markup',
] as const satisfies readonly Category[];
export const ISSUE_SEVERITIES = [
  'neutral',
  'minor',
  'major',
  'critical',
] as const satisfies readonly Severity[];
export const SKIP_REASONS = ['too_hard', 'not_my_topic', 'no_time', 'other'] as const;
export const REPORT_REASONS = [
  'bad_source',
  'wrong_language',
  'mixed_languages',
  'offensive',
  'unclear_instructions',
  'other',
] as const;
