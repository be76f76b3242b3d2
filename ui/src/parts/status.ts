/** The words and tones of every status. A status is never told by its colour alone. */
import Ban from '@lucide/svelte/icons/ban';
import CircleAlert from '@lucide/svelte/icons/circle-alert';
import CircleCheck from '@lucide/svelte/icons/circle-check';
import CircleDashed from '@lucide/svelte/icons/circle-dashed';
import CircleDot from '@lucide/svelte/icons/circle-dot';
import CirclePause from '@lucide/svelte/icons/circle-pause';
import CircleQuestionMark from '@lucide/svelte/icons/circle-question-mark';
import CircleStop from '@lucide/svelte/icons/circle-stop';
import CircleX from '@lucide/svelte/icons/circle-x';
import Clock from '@lucide/svelte/icons/clock';
import LoaderCircle from '@lucide/svelte/icons/loader-circle';
import TriangleAlert from '@lucide/svelte/icons/triangle-alert';
import Unplug from '@lucide/svelte/icons/unplug';
import type { Component } from 'svelte';

export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'idle';

export interface StatusLook {
  readonly word: string;
  readonly tone: Tone;
  readonly icon: Component;
}

const look = (word: string, tone: Tone, icon: Component): StatusLook => ({ word, tone, icon });

export const statusLooks = {
  job: {
    running: look('Running', 'ok', CircleCheck),
    pending: look('Pending', 'info', CircleDashed),
    dead: look('Dead', 'idle', CircleStop),
    /** Of the page: a job that somebody has stopped. */
    stopped: look('Stopped', 'idle', CircleStop),
    deploying: look('Deploying', 'info', LoaderCircle),
    /** Of the page: the deployment that goes on has unhealthy allocations. */
    unhealthy: look('Unhealthy', 'bad', TriangleAlert),
    degraded: look('Degraded', 'warn', TriangleAlert),
    failing: look('Failing', 'bad', CircleX),
    complete: look('Complete', 'idle', CircleCheck),
    /** Of the page: its deployment has begun, and the scheduler has found no node for any allocation. */
    unplaced: look('Waits for a node', 'warn', CircleAlert),
    /** Of the page: no child of a periodic or parameterized job is going on. */
    waiting: look('Waits to launch', 'idle', Clock),
    launching: look('Launching', 'ok', CircleDot),
  },
  allocation: {
    pending: look('Pending', 'info', CircleDashed),
    running: look('Running', 'ok', CircleCheck),
    complete: look('Complete', 'idle', CircleCheck),
    failed: look('Failed', 'bad', CircleX),
    lost: look('Lost', 'bad', Unplug),
    unknown: look('Unknown', 'warn', CircleQuestionMark),
  },
  task: {
    pending: look('Pending', 'info', CircleDashed),
    running: look('Running', 'ok', CircleCheck),
    dead: look('Dead', 'idle', CircleStop),
    failed: look('Failed', 'bad', CircleX),
    paused: look('Paused', 'warn', CirclePause),
  },
  node: {
    initializing: look('Initializing', 'info', CircleDashed),
    ready: look('Ready', 'ok', CircleCheck),
    down: look('Down', 'bad', CircleX),
    disconnected: look('Disconnected', 'warn', Unplug),
    draining: look('Draining', 'warn', LoaderCircle),
    ineligible: look('Ineligible', 'warn', Ban),
    eligible: look('Eligible', 'ok', CircleCheck),
  },
  /** Of the page: whether a plan waits, was carried out, or was refused since something has moved. */
  plan: {
    waits: look('Waits', 'info', Clock),
    done: look('Carried out', 'ok', CircleCheck),
    outdated: look('Outdated', 'warn', TriangleAlert),
  },
  deployment: {
    initializing: look('Initializing', 'info', CircleDashed),
    pending: look('Pending', 'info', CircleDashed),
    running: look('Running', 'info', LoaderCircle),
    paused: look('Paused', 'warn', CirclePause),
    blocked: look('Blocked', 'warn', CircleAlert),
    unblocking: look('Unblocking', 'info', CircleDashed),
    successful: look('Successful', 'ok', CircleCheck),
    failed: look('Failed', 'bad', CircleX),
    cancelled: look('Cancelled', 'idle', Ban),
  },
  evaluation: {
    pending: look('Pending', 'info', CircleDashed),
    blocked: look('Blocked', 'warn', CircleAlert),
    complete: look('Complete', 'ok', CircleCheck),
    failed: look('Failed', 'bad', CircleX),
    canceled: look('Canceled', 'idle', Ban),
  },
  check: {
    passing: look('Passing', 'ok', CircleCheck),
    success: look('Passing', 'ok', CircleCheck),
    warning: look('Warning', 'warn', TriangleAlert),
    critical: look('Critical', 'bad', CircleX),
    failure: look('Failing', 'bad', CircleX),
    pending: look('Pending', 'info', CircleDashed),
    maintenance: look('Maintenance', 'idle', CirclePause),
  },
  peering: {
    ACTIVE: look('Active', 'ok', CircleCheck),
    ESTABLISHING: look('Establishing', 'info', CircleDashed),
    PENDING: look('Pending', 'info', Clock),
    INITIAL: look('Initial', 'idle', CircleDashed),
    FAILING: look('Failing', 'bad', CircleX),
    DELETING: look('Deleting', 'idle', LoaderCircle),
    TERMINATED: look('Terminated', 'idle', Ban),
  },
  health: {
    healthy: look('Healthy', 'ok', CircleCheck),
    unhealthy: look('Unhealthy', 'bad', CircleX),
    unknown: look('Not known yet', 'idle', CircleDashed),
  },
  decision: {
    allow: look('Allowed', 'ok', CircleCheck),
    deny: look('Denied', 'bad', Ban),
    conditional: look('Depends', 'warn', CircleDot),
  },
  /** Of the scheduler on a node. */
  verdict: {
    open: look('Could take it', 'ok', CircleCheck),
    exhausted: look('Lacks room', 'warn', CircleAlert),
    filtered: look('Fails a rule', 'bad', Ban),
    unasked: look('Not needed', 'info', CircleDot),
    excluded: look('No candidate', 'idle', CircleDashed),
  },
} as const satisfies Record<string, Record<string, StatusLook>>;

export type StatusKind = keyof typeof statusLooks;

/** A status that this table does not know is shown as it came. */
export function lookOf(kind: StatusKind, status: string): StatusLook {
  const looks: Readonly<Record<string, StatusLook>> = statusLooks[kind];
  return Object.hasOwn(looks, status) ? looks[status]! : look(status, 'idle', CircleQuestionMark);
}
