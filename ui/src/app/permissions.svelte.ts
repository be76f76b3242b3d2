/**
 * What the token may do. Pages ask while they draw (`may('namespace:submit-job')`); the questions of a moment go to the
 * server together, and the page draws again with the answers. The server decides anyway: this only saves the reader from
 * filling in a form that is refused.
 */
import { SvelteMap } from 'svelte/reactivity';
import { live } from './connection.svelte.ts';
import { router } from './router.svelte.ts';
import { scope } from './scope.svelte.ts';
import { session } from './session.svelte.ts';

export interface Decision {
  readonly isAllowed: boolean;
  /** The permission that is missing, in words; empty while the server is asked. */
  readonly missing: string;
}

export interface About {
  /** Of the record: a service, a node pool, a variable. */
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly partition?: string | undefined;
}

interface Question {
  readonly Resource: string;
  readonly Segment: string;
  readonly Access: string;
  readonly Namespace: string;
  readonly Partition: string;
}

/** Not in limits: the bound of `POST /v1/internal/acl/authorize`. */
const questionsMax = 64;
/** Not in limits: the pause before questions without an answer are asked again, which doubles. */
const againMinMs = 1_000;
const againMaxMs = 10_000;
const known = new SvelteMap<string, boolean>();
let waiting = new Map<string, Question>();
/** Keys of questions whose answer is under way. */
const underWay = new Set<string>();
/** Answers to an earlier token are not kept. */
let epoch = 0;
/** The questions of this page. They are asked again from time to time, since rights change while it is open. */
const onPage = new Map<string, Question>();
let visit = -1;
/** Not in limits: how long a page may be wrong about changed rights. The server decides anyway. */
const followMs = 10_000;
/** Moves when pages have to ask again: a page that has no answer follows nothing else. */
let round = $state(0);
let againTimer: ReturnType<typeof setTimeout> | undefined;
let againMs = againMinMs;

const allowed: Decision = { isAllowed: true, missing: '' };
const asking: Decision = { isAllowed: false, missing: '' };

/** `permission` is `management`, or a resource and an access: `node:write`, `namespace:submit-job`. */
export function may(permission: string, about: About = {}): Decision {
  if (session.current.kind === 'open') return allowed;
  const question = questionOf(permission, about);
  const key = JSON.stringify([session.generation, question]);
  const answer = known.get(key);
  if (isFirst(key, question) || answer === undefined) ask(key, question);
  if (answer === undefined) {
    void round;
    return asking;
  }
  return answer ? allowed : { isAllowed: false, missing: wordsOf(permission, question) };
}

/** Whether this page asks it for the first time. */
function isFirst(key: string, question: Question): boolean {
  if (visit !== router.visit) {
    visit = router.visit;
    onPage.clear();
  }
  const isKnown = onPage.has(key);
  onPage.set(key, question);
  return !isKnown;
}

/** The last answers stay until the next ones come. */
export function followRights(): void {
  setInterval(() => {
    const { kind, leaderlessMs } = live().state;
    if (document.hidden || kind !== 'open' || leaderlessMs !== undefined) return;
    const ofToken = `[${session.generation},`;
    for (const [key, question] of onPage) if (key.startsWith(ofToken)) ask(key, question);
  }, followMs);
}

/** One of several. */
export function mayAny(...decisions: readonly Decision[]): Decision {
  return decisions.find(({ isAllowed }) => isAllowed) ?? decisions[0] ?? allowed;
}

/** The rights may have changed: asks again what is on the screen. */
export function askAgain(): void {
  epoch += 1;
  underWay.clear();
  known.clear();
  againMs = againMinMs;
  beginRound();
}

function beginRound(): void {
  clearTimeout(againTimer);
  againTimer = undefined;
  round += 1;
}

function questionOf(permission: string, about: About): Question {
  const [resource = '', access = ''] = permission.split(':');
  const namespace = about.namespace ?? scope.writeNamespace;
  return {
    Resource: resource,
    Segment: resource === 'namespace' ? namespace : (about.name ?? ''),
    Access: access,
    Namespace: namespace,
    Partition: about.partition ?? scope.partition,
  };
}

function wordsOf(permission: string, { Resource, Segment, Namespace }: Question): string {
  if (Resource === 'namespace') return `${permission} in the namespace ${Namespace}`;
  return Segment === '' ? permission : `${permission} for ${Segment}`;
}

function ask(key: string, question: Question): void {
  if (waiting.has(key) || underWay.has(key)) return;
  if (waiting.size === 0) queueMicrotask(() => void send());
  waiting.set(key, question);
}

async function send(): Promise<void> {
  const asked = [...waiting];
  waiting = new Map();
  const begun = epoch;
  for (const [key] of asked) underWay.add(key);
  const general = asked.filter(([, { Resource }]) => Resource === 'management');
  const others = asked.filter(([, { Resource }]) => Resource !== 'management');
  await Promise.all([
    ...general.map(([key]) => sendManagement(key, begun)),
    ...chunks(others).map((chunk) => sendBatch(chunk, begun)),
  ]);
}

function chunks<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / questionsMax);
  return Array.from({ length: count }, (_, index) =>
    items.slice(index * questionsMax, (index + 1) * questionsMax),
  );
}

async function sendManagement(key: string, begun: number): Promise<void> {
  const allowed = await live()
    .client.aclDecisions.explain('management')
    .then(({ value }) => value.Allowed)
    .catch(() => undefined);
  answered(begun, [[key, allowed]]);
}

async function sendBatch(
  asked: readonly (readonly [string, Question])[],
  begun: number,
): Promise<void> {
  const answers = await live()
    .client.aclDecisions.authorize(asked.map(([, question]) => question))
    .then(({ value }) => value)
    .catch(() => []);
  answered(
    begun,
    asked.map(([key], index) => [key, answers[index]?.Allow]),
  );
}

/** A question without an answer is asked again after a pause: nobody knows when the reason of the failure ends. */
function answered(
  begun: number,
  answers: readonly (readonly [string, boolean | undefined])[],
): void {
  if (begun !== epoch) return;
  for (const [key, answer] of answers) {
    underWay.delete(key);
    if (answer !== undefined) known.set(key, answer);
  }
  if (answers.every(([, answer]) => answer !== undefined)) againMs = againMinMs;
  else askLater();
}

function askLater(): void {
  if (againTimer !== undefined) return;
  againTimer = setTimeout(beginRound, againMs);
  againMs = Math.min(2 * againMs, againMaxMs);
}
