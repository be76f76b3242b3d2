/**
 * Finds cron slots by checking every minute, as an oracle for the library. An expression is drawn as sets of
 * numbers, and its text is printed from them, so no text is parsed here.
 */
import fc from 'fast-check';

interface Field {
  readonly text: string;
  readonly values: ReadonlySet<number>;
  readonly isAny: boolean;
  readonly isSingle: boolean;
}

export interface Expression {
  readonly text: string;
  readonly minute: Field;
  readonly hour: Field;
  readonly day: Field;
  readonly month: Field;
  readonly weekday: Field;
}

/** Zones that move their clocks by an hour, by half an hour, by two hours, at midnight, or never. */
export const zones = [
  'UTC',
  'America/New_York',
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  'America/Santiago',
  'Antarctica/Troll',
  'Pacific/Chatham',
  'Asia/Kolkata',
  'Europe/Dublin',
  'America/St_Johns',
  'Asia/Beirut',
  'America/Havana',
  'Africa/Casablanca',
] as const;

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

function field(least: number, most: number): fc.Arbitrary<Field> {
  const number = fc.integer({ min: least, max: most });
  const build = (text: string, values: number[], isAny = false, isSingle = false): Field => {
    return { text, values: new Set(values), isAny, isSingle };
  };
  const steps = (from: number, to: number, step: number): number[] => {
    const values: number[] = [];
    for (let value = from; value <= to; value += step) values.push(value);
    return values;
  };
  const step = fc.integer({ min: 2, max: most - least });
  const range = fc.tuple(number, number).filter(([from, to]) => from < to);
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(build('*', steps(least, most, 1), true)) },
    { weight: 4, arbitrary: number.map((one) => build(String(one), [one], false, true)) },
    step.map((by) => build(`*/${by}`, steps(least, most, by))),
    range.map(([from, to]) => build(`${from}-${to}`, steps(from, to, 1))),
    range.map(([one, other]) => build(`${other},${one}`, [one, other])),
    fc
      .tuple(range, step)
      .map(([[from, to], by]) => build(`${from}-${to}/${by}`, steps(from, to, by))),
  );
}

const any = (least: number, most: number) => field(least, most).filter(({ isAny }) => isAny);

/** The dates mostly admit every day, so that most expressions have slots. */
export const expressions: fc.Arbitrary<Expression> = fc
  .record({
    minute: field(0, 59),
    // Most zones move their clocks in these hours.
    hour: fc.oneof({ weight: 2, arbitrary: field(0, 4) }, field(0, 23)),
    day: fc.oneof({ weight: 4, arbitrary: any(1, 31) }, field(1, 31)),
    month: fc.oneof({ weight: 6, arbitrary: any(1, 12) }, field(1, 12)),
    weekday: fc.oneof({ weight: 4, arbitrary: any(0, 6) }, field(0, 6)),
  })
  .map((fields) => ({
    ...fields,
    // A step or wildcard in the text stands for all hours, even if it was drawn from the narrower range.
    hour: widened(fields.hour),
  }))
  .map((fields) => {
    const { minute, hour, day, month, weekday } = fields;
    return {
      ...fields,
      text: [minute, hour, day, month, weekday].map(({ text }) => text).join(' '),
    };
  });

function widened(hour: Field): Field {
  if (!hour.text.startsWith('*')) return hour;
  const by = Number(hour.text.slice(2) || 1);
  return { ...hour, values: new Set([...Array(24).keys()].filter((value) => value % by === 0)) };
}

interface LocalMinute {
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
  readonly month: number;
  readonly weekday: number;
  /** In the local calendar, as if it were UTC. */
  readonly stamp: number;
}

const fromStamp = (stamp: number): LocalMinute => {
  const date = new Date(stamp);
  return {
    minute: date.getUTCMinutes(),
    hour: date.getUTCHours(),
    day: date.getUTCDate(),
    month: date.getUTCMonth() + 1,
    weekday: date.getUTCDay(),
    stamp,
  };
};

/** The local time of an instant, by the zone database alone. */
export function localStamp(zone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  const known = stamps.get(zone) ?? new Map<number, number>();
  stamps.set(zone, known);
  return (ms) => {
    let stamp = known.get(ms);
    if (stamp !== undefined) return stamp;
    const { year, month, day, hour, minute } = Object.fromEntries(
      format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]),
    ) as Record<string, number>;
    stamp = Date.UTC(year!, month! - 1, day, hour, minute);
    known.set(ms, stamp);
    return stamp;
  };
}

const stamps = new Map<string, Map<number, number>>();

function matches({ minute, hour, day, month, weekday }: Expression, local: LocalMinute): boolean {
  const isDay = day.values.has(local.day);
  const isWeekday = weekday.values.has(local.weekday);
  // If both are restricted, either is enough.
  const isDate = day.isAny || weekday.isAny ? isDay && isWeekday : isDay || isWeekday;
  const isTime = minute.values.has(local.minute) && hour.values.has(local.hour);
  return isTime && isDate && month.values.has(local.month);
}

/** The slots from a whole minute up to another, exclusive, by the rule of `schedule.ts`. */
export function slotsBetween(
  expression: Expression,
  zone: string,
  fromMs: number,
  toMs: number,
): number[] {
  const isTimeOfDay = expression.minute.isSingle && expression.hour.isSingle;
  const stampAt = localStamp(zone);
  const slots: number[] = [];
  // Begins a day earlier, to know which local times come for the second time.
  let before = stampAt(fromMs - dayMs - minuteMs);
  const seen = new Set<number>();
  for (let ms = fromMs - dayMs; ms < toMs; ms += minuteMs) {
    const stamp = stampAt(ms);
    let isSlot = matches(expression, fromStamp(stamp));
    if (isTimeOfDay) {
      if (seen.has(stamp)) isSlot = false;
      for (let skipped = before + minuteMs; skipped < stamp; skipped += minuteMs) {
        if (matches(expression, fromStamp(skipped))) isSlot = true;
      }
      seen.add(stamp);
    }
    if (isSlot && ms >= fromMs) slots.push(ms);
    before = stamp;
  }
  return slots;
}

/** The instants of a year at which the zone moves its clocks. */
export function clockChanges(zone: string, year: number): number[] {
  const stampAt = localStamp(zone);
  const changes: number[] = [];
  let offset = stampAt(Date.UTC(year, 0)) - Date.UTC(year, 0);
  for (let ms = Date.UTC(year, 0); ms < Date.UTC(year + 1, 0); ms += hourMs / 2) {
    const now = stampAt(ms) - ms;
    if (now !== offset) changes.push(ms);
    offset = now;
  }
  return changes;
}
