import { hourMs, mebibyte, secondMs } from './units.ts';

/** Times with which the real timers follow the garbage collector. */
export const collectorLimits = {
  /** An agent has started this long after it began to, and the flags of its collector are set. */
  startMs: 2 * secondMs,
  /** Work that can wait goes on this long after marking began, even if marking has not ended. */
  markingMaxMs: 1 * secondMs,
  /** Time between two checks whether marking has ended. */
  markingPollMs: 2,
  /** Time between two measurements of how busy the process is. */
  workPollMs: 1 * secondMs,
  /** Measurements in a row without work after which garbage is collected. */
  idleLooks: 10,
  /** The least number of measurements between two such collections. */
  looksBetween: 120,
  /** A larger heap is left to the collector: collecting all of it at rest would delay the next request for too long, and cost too much. */
  smallHeapBytesMax: 128 * mebibyte,
  /** Up to here, with its garbage, V8's own thread marks a heap within half a second. */
  modestHeapBytesMax: 384 * mebibyte,
  /** Young objects are collected after this many bytes of messages on WebSockets. */
  receivedBytesMax: 2 * mebibyte,
} as const;

/** Bounds of the turns of the event loop. */
export const turnLimits = {
  /** Turns that work in slices lets pass while connections arrive. */
  passedMax: 16,
} as const;

/** Bounds of waits in virtual time. */
export const virtualTimeLimits = {
  /** The longest virtual time that passes until something happens, unless the caller gives another bound. */
  untilMaxMs: 1 * hourMs,
} as const;
