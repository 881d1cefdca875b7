/** Reads when a receiver wants to be asked again. */

/** The seconds during which a delivery is attempted: 72 hours. */
export const LIFETIME_SECONDS = 259_200;

/**
 * Reads `Retry-After` (RFC 9110 §10.2.3) as whole seconds from `now`, rounded up. A date in the past is 0;
 * values above 72 hours become 72 hours. Returns undefined for any other text.
 */
export function readRetryAfter(value: string, now: Date): number | undefined {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text), LIFETIME_SECONDS);
  const date = readHttpDate(text, now);
  if (date === undefined) return undefined;
  return Math.min(Math.max(0, Math.ceil((date - now.getTime()) / 1000)), LIFETIME_SECONDS);
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const TIME = String.raw`(?<h>\d{2}):(?<m>\d{2}):(?<s>\d{2})`;
/** The three date forms of RFC 9110 §5.6.7: IMF-fixdate, and the obsolete RFC 850 and asctime, in GMT. */
const HTTP_DATES = [
  new RegExp(String.raw`^[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) ${TIME} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]{5,8}, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) ${TIME} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`),
];

/** Returns Unix milliseconds. `Date.parse` is not used, because it also reads `-5` and `1.5` as dates. */
function readHttpDate(text: string, now: Date): number | undefined {
  const parts = HTTP_DATES.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  if (parts === undefined) return undefined;
  const { day, month, year, h, m, s } = parts;
  const monthIndex = MONTHS.indexOf(month ?? '');
  let fullYear = Number(year);
  // A two-digit year more than 50 years ahead belongs to the previous century (RFC 9110 §5.6.7).
  if (year?.length === 2) {
    fullYear += Math.floor(now.getUTCFullYear() / 100) * 100;
    if (fullYear > now.getUTCFullYear() + 50) fullYear -= 100;
  }
  if (monthIndex < 0 || Number(day) < 1 || Number(day) > 31) return undefined;
  if (Number(h) > 23 || Number(m) > 59 || Number(s) > 60) return undefined;
  return Date.UTC(fullYear, monthIndex, Number(day), Number(h), Number(m), Number(s));
}
