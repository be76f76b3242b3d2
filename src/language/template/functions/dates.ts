import { days, halfOfDay, hourOf12, months, two } from '../../functions/calendar.ts';
import { define, type Functions, optional, text } from './define.ts';

export const dateFunctions: Functions = {
  timestamp: define([optional(text('layout'))], ([layout], { environment, budget }) => {
    const date = new Date(environment.nowMs());
    if (layout === 'unix') return String(Math.floor(date.getTime() / 1000));
    const result = layoutText(layout ?? '2006-01-02T15:04:05Z07:00', date);
    budget.make(result.length);
    return result;
  }),
};

const dayOfYear = (date: Date): number =>
  Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000) + 1;

/** Writes the parts of a time that the parts of `Mon Jan 2 15:04:05 2006` stand for. Always UTC. */
const parts: Readonly<Record<string, (date: Date) => string>> = {
  January: (date) => months[date.getUTCMonth()]!,
  Jan: (date) => months[date.getUTCMonth()]!.slice(0, 3),
  Monday: (date) => days[date.getUTCDay()]!,
  Mon: (date) => days[date.getUTCDay()]!.slice(0, 3),
  MST: () => 'UTC',
  '2006': (date) => String(date.getUTCFullYear()).padStart(4, '0'),
  '002': (date) => String(dayOfYear(date)).padStart(3, '0'),
  '01': (date) => two(date.getUTCMonth() + 1),
  '02': (date) => two(date.getUTCDate()),
  '03': (date) => two(hourOf12(date)),
  '04': (date) => two(date.getUTCMinutes()),
  '05': (date) => two(date.getUTCSeconds()),
  '06': (date) => two(date.getUTCFullYear() % 100),
  '15': (date) => two(date.getUTCHours()),
  PM: (date) => halfOfDay(date).toUpperCase(),
  pm: halfOfDay,
  '-07:00': () => '+00:00',
  '-0700': () => '+0000',
  '-07': () => '+00',
  'Z07:00': () => 'Z',
  Z0700: () => 'Z',
  Z07: () => 'Z',
  _2: (date) => String(date.getUTCDate()).padStart(2, ' '),
  '1': (date) => String(date.getUTCMonth() + 1),
  '2': (date) => String(date.getUTCDate()),
  '3': (date) => String(hourOf12(date)),
  '4': (date) => String(date.getUTCMinutes()),
  '5': (date) => String(date.getUTCSeconds()),
};

const anyPart = new RegExp(
  [...Object.keys(parts)].sort((left, right) => right.length - left.length).join('|'),
  'g',
);

const layoutText = (layout: string, date: Date): string =>
  layout.replace(anyPart, (part) => parts[part]!(date));
