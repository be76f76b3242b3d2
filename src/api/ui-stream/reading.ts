import type { Authorizer } from '../../acl/authorizer.ts';
import type { World } from '../../base/ports.ts';
import { problemOf, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { About } from '../../model/ui-stream/messages.ts';
import type { Footprint, State } from '../../state/types.ts';
import type { Answer, Follower, Request } from '../http.ts';
import type { Memory } from '../memory.ts';
import type { Moment } from '../moment.ts';
import type { Pipeline } from '../pipeline.ts';
import { textOf } from './body-text.ts';
import { Meter } from './meter.ts';
import { WatchedAnswer } from './watched-answer.ts';

/** An answer to a watched path, and what it was made of. */
export interface Reading {
  readonly answer: WatchedAnswer;
  /** The rows that it depends on; empty: they are not known. */
  readonly footprints: readonly Footprint[];
  /** The rows that the rights of its caller depend on. */
  readonly ofCaller: readonly Footprint[];
  /** When the answer may be another without a change of these rows. */
  readonly moment: Moment;
  /** The index of the state when the reading began. */
  readonly index: number;
  /** The rights whose every holder gets this answer; `undefined`: it is for its caller alone. */
  readonly rights: string | undefined;
  /** Counts the processor time. */
  readonly meter: Meter;
}

export interface ReadingOptions {
  readonly pipeline: Pipeline;
  readonly state: Pick<State, 'read'>;
  readonly world: Pick<World, 'processor' | 'secrets'>;
  readonly rights: RightsNames;
  readonly memory: Memory;
  /** The answer before. */
  readonly last: WatchedAnswer | undefined;
}

/** Names for the rights of tokens: tokens with equal rights have the same name. */
export class RightsNames {
  readonly #numbers = new WeakMap<object, number>();
  #last = 0;

  /** `undefined`: a caller that shares its rights with nobody. */
  nameOf({ caller, rules }: Pick<Authorizer, 'caller' | 'rules'>): string | undefined {
    if (caller.kind !== 'token' || rules === undefined) return undefined;
    // Tokens whose policies have the same content share the object (R3 of `acl/token-rules.ts`).
    const number = this.#numbers.get(rules) ?? ++this.#last;
    this.#numbers.set(rules, number);
    const { management, namespace, partition } = caller;
    return JSON.stringify([number, management, namespace, partition]);
  }
}

/** Reads a watched path. `isFresh`: this server shows all that is durable, so the answer needs no further wait. */
export async function readingOf(
  request: Request,
  isFresh: boolean,
  options: ReadingOptions,
): Promise<Reading> {
  const { pipeline, state, world, rights, memory, last } = options;
  const meter = new Meter(world.processor);
  const { index } = state.read();
  let read: Parameters<Follower['onRead']>[0] | undefined;
  let rows: readonly string[] | undefined;
  let isOfCaller = false;
  const follower: Follower = {
    memory,
    onRead: (found) => {
      read = found;
    },
    onRows: (texts) => {
      rows = texts;
    },
    onCaller: () => {
      isOfCaller = true;
    },
    measure: (work) => meter.measure(work),
  };
  const asked = { ...request, query: queryOf(request), follower };
  const answered = meter.measure(() => pipeline.handle(asked));
  const answer = answered instanceof Promise ? await answered : answered;
  const text = await textOf(answer, limits.uiStream.valueLengthMax);
  const watched = meter.measure(() =>
    watchedAnswer({ answer, text, rows, last, index, isFresh }, world),
  );
  const { authorizer, ofAnswer, ofCaller = [], moment = {} } = read ?? {};
  const isShared = watched.status === 200 && !watched.about.stale && !isOfCaller;
  return {
    answer: watched,
    footprints: ofAnswer === undefined ? [] : [ofAnswer],
    ofCaller,
    moment,
    index,
    rights: isShared && authorizer !== undefined ? rights.nameOf(authorizer) : undefined,
    meter,
  };
}

function queryOf({ query }: Request): string {
  const parameters = new URLSearchParams(query);
  parameters.delete('index');
  parameters.delete('wait');
  if (!parameters.has('consistent')) parameters.set('stale', 'true');
  return `${parameters}`;
}

interface Answered {
  readonly answer: Answer;
  /** `undefined`: it is too long. */
  readonly text: string | undefined;
  readonly rows: readonly string[] | undefined;
  readonly last: WatchedAnswer | undefined;
  readonly index: number;
  readonly isFresh: boolean;
}

function watchedAnswer(
  { answer, text, rows, last, index, isFresh }: Answered,
  { secrets }: ReadingOptions['world'],
): WatchedAnswer {
  const versionOf = (whole: string) => secrets.hash(whole).slice(0, versionLength);
  if (text === undefined) {
    const limit = limits.uiStream.valueLengthMax;
    const refused = refusal('watch-too-large', { limit, kept: 'a watched path' });
    const problem = JSON.stringify(problemOf(refused));
    const about = { version: versionOf(problem), index, stale: !isFresh };
    return new WatchedAnswer(refused.status, { text: problem }, about);
  }
  const header = (name: string) =>
    answer.headers[`x-scheduler-${name}`] ?? answer.headers[`x-registry-${name}`];
  const nextToken = header('nexttoken');
  const total = header('total');
  const body = rows === undefined || answer.status !== 200 ? { text } : { rows };
  const beside = {
    ...(nextToken !== undefined && { nextToken }),
    ...(total !== undefined && { total: Number(total) }),
  };
  const known = last?.hasRows(body) === true && isSameBeside(last.about, beside);
  return new WatchedAnswer(answer.status, body, {
    version: known
      ? last.about.version
      : versionOf(`${answer.status} ${nextToken ?? ''} ${total ?? ''} ${text}`),
    index: Number(header('index') ?? index),
    ...beside,
    stale: !isFresh || header('knownleader') === 'false',
  });
}

const isSameBeside = (left: Partial<About>, right: Partial<About>): boolean =>
  left.nextToken === right.nextToken && left.total === right.total;

/** Not in limits: enough of a SHA-256 that two answers never share it. */
const versionLength = 32;
