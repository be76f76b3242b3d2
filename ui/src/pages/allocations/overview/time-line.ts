/** Places of events on one axis for all tasks. Long pauses are shortened, so that the busy moments can be told apart. */
import type { Tone } from '../../../parts/status.ts';
import type { TaskEvent, WholeAllocation } from '../allocation.ts';
import { taskNames } from '../allocation.ts';
import { limits } from '../limits.ts';

export interface Mark {
  readonly atMs: number;
  /** In percent of the axis. */
  readonly place: number;
  readonly word: string;
  readonly says: string;
  readonly tone: Tone;
}

export interface Run {
  readonly from: number;
  readonly to: number;
  readonly failed: boolean;
  readonly isNow: boolean;
}

export interface Lane {
  readonly task: string;
  readonly marks: readonly Mark[];
  /** While a process of the task ran. */
  readonly runs: readonly Run[];
}

export interface Tick {
  readonly place: number;
  /** Since the first instant. */
  readonly sinceMs: number;
}

export interface Axis {
  readonly lanes: readonly Lane[];
  readonly ticks: readonly Tick[];
  readonly firstMs: number;
  readonly lastMs: number;
}

const nanosecondsInMs = 1e6;
const timeOf = ({ Time }: TaskEvent): number => Time / nanosecondsInMs;

/** The sentence of an event. */
export const sentenceOf = (event: TaskEvent): string => event.DisplayMessage || event.Message;

const bad = new Set([
  'Setup Failure',
  'Failed Validation',
  'Failed Artifact Download',
  'Task hook failed',
  'Driver Failure',
  'Not Restarting',
  'Sibling Task Failed',
  'Failed Restoring Task',
  'Alloc Unhealthy',
]);
const warning = new Set([
  'Restarting',
  'Restart Signaled',
  'Killing',
  'Killed',
  'Signaling',
  'Leader Task Dead',
]);

export function toneOf(event: TaskEvent): Tone {
  if (event.FailsTask || bad.has(event.Type)) return 'bad';
  if (event.Type === 'Terminated')
    return event.ExitCode === 0 && event.Signal === 0 ? 'idle' : 'bad';
  if (warning.has(event.Type)) return 'warn';
  return event.Type === 'Started' ? 'ok' : 'info';
}

export function axisOf(allocation: WholeAllocation, nowMs: number): Axis | undefined {
  const names = taskNames(allocation);
  const eventsOf = (name: string): readonly TaskEvent[] =>
    (allocation.TaskStates[name]?.Events ?? []).slice(-limits.timeLine.eventsShownMax);
  const times = names.flatMap((name) => eventsOf(name).map(timeOf));
  if (times.length === 0) return undefined;
  const isRunning = names.some((name) => allocation.TaskStates[name]?.State === 'running');
  const firstMs = Math.min(allocation.CreateTime / nanosecondsInMs, ...times);
  const lastMs = Math.max(...times, ...(isRunning ? [nowMs] : []));
  const scale = scaleOf([firstMs, ...times, lastMs]);
  const lanes = names.map((task) => ({
    task,
    marks: eventsOf(task).map((event) => ({
      atMs: timeOf(event),
      place: scale(timeOf(event)),
      word: event.Type,
      says: sentenceOf(event),
      tone: toneOf(event),
    })),
    runs: runsOf(eventsOf(task), allocation.TaskStates[task]?.State === 'running', scale, lastMs),
  }));
  return { lanes, ticks: ticksOf([firstMs, ...times, lastMs], scale), firstMs, lastMs };
}

type Scale = (atMs: number) => number;

/** Ascending, from 0 to 100: a pause that is ten times as long is not ten times as wide. */
function scaleOf(all: readonly number[]): Scale {
  const times = [...new Set(all)].sort((a, b) => a - b);
  const widths = times.slice(1).map((time, index) => Math.log10(1 + (time - times[index]!) / 10));
  const sum = widths.reduce((total, width) => total + width, 0) || 1;
  const places = new Map<number, number>([[times[0]!, 0]]);
  let at = 0;
  for (const [index, width] of widths.entries()) {
    at += (width / sum) * 100;
    places.set(times[index + 1]!, Math.min(100, at));
  }
  return (atMs) => places.get(atMs) ?? 100;
}

function runsOf(
  events: readonly TaskEvent[],
  isRunning: boolean,
  scale: Scale,
  lastMs: number,
): readonly Run[] {
  const runs: Run[] = [];
  let from: number | undefined;
  for (const event of events) {
    if (event.Type === 'Started') from ??= scale(timeOf(event));
    if (from === undefined || (event.Type !== 'Terminated' && event.Type !== 'Killed')) continue;
    runs.push({ from, to: scale(timeOf(event)), failed: toneOf(event) === 'bad', isNow: false });
    from = undefined;
  }
  if (from !== undefined && isRunning)
    runs.push({ from, to: scale(lastMs), failed: false, isNow: true });
  return runs;
}

/** Not closer than the words need. */
const tickGapPercent = 14;

function ticksOf(all: readonly number[], scale: Scale): readonly Tick[] {
  const times = [...new Set(all)].sort((a, b) => a - b);
  const ticks: Tick[] = [];
  for (const time of times) {
    const place = scale(time);
    if (place > 100 - tickGapPercent && time !== times.at(-1)) continue;
    const last = ticks.at(-1);
    if (last === undefined || place - last.place >= tickGapPercent || time === times.at(-1)) {
      ticks.push({ place, sinceMs: time - times[0]! });
    }
  }
  return ticks;
}
