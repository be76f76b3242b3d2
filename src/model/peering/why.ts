/**
 * Explains why a service is at a peer or not, and why a service of a peer is here or not. The facts are those
 * of this side at one moment: the entry, the state, and the stream.
 */
import { formatInstant } from '../../base/instant.ts';
import {
  About,
  Choice,
  Flag,
  FullList,
  type Model,
  Nullable,
  Text,
  Type,
  Whole,
} from '../schema.ts';
import type { ServiceKey } from './exchange.ts';
import { type ExportTrace, shownService } from './exports.ts';

const exportReasons = [
  'peering-ended',
  'no-rule',
  'other-consumers',
  'no-instance',
  'stream-down',
  'waiting',
  'sent',
  'acknowledged',
] as const;
const importReasons = ['peering-ended', 'imported', 'stream-down', 'telling', 'not-told'] as const;
const verdicts = ['exports', 'other-namespace', 'other-service', 'other-consumers'] as const;

const told = {
  Sentence: About('The reason in words.', Text()),
  Instances: About('The number of instances on this side.', Whole()),
};

export const ExchangeExplanationSchema = Type.Object({
  Peer: About('The name of the other cluster in this cluster.', Text()),
  Partition: About('Partition of the peering.', Text()),
  Service: Text(),
  Namespace: Text(),
  StreamOpenSince: About(
    'The time when the stream opened; null: no stream is open.',
    Nullable(Type.String()),
  ),
  Export: About(
    'The service of this cluster, at the peer.',
    Type.Object({
      IsThere: About('Whether the peer has acknowledged the service.', Flag()),
      Reason: Choice(exportReasons),
      ...told,
      Rules: About(
        'Each rule of the `exported-services` entry, with its verdict on the service.',
        FullList(
          Type.Object({
            Position: About('The index of the rule in `Services`, from 0.', Whole()),
            Name: Text(),
            Namespace: Text(),
            Verdict: Choice(verdicts),
          }),
        ),
      ),
    }),
  ),
  Import: About(
    'The service of the peer, here.',
    Type.Object({ IsThere: Flag(), Reason: Choice(importReasons), ...told }),
  ),
});
export interface ExchangeExplanation extends Model<typeof ExchangeExplanationSchema> {}
export type ExportExplanation = ExchangeExplanation['Export'];
export type ImportExplanation = ExchangeExplanation['Import'];

/** Facts about the exchange of a service with a peer. */
export interface ExchangeFacts {
  readonly peer: string;
  readonly service: ServiceKey;
  /** The peering is being deleted, or the other side has ended it. */
  readonly hasEnded: boolean;
  /** Unix milliseconds; `undefined`: no stream is open. */
  readonly openSinceMs: number | undefined;
  readonly trace: ExportTrace;
  /** Instances of the service in this cluster. */
  readonly ownInstances: number;
  readonly sending: Sending;
  /** Instances that came from the peer; `undefined` if it did not even tell of the service. */
  readonly importedInstances: number | undefined;
  /** The peer has told all its exports on the open stream. */
  readonly hasToldAll: boolean;
  /** The time when the peer last had told all its exports; `undefined`: not since this server started. */
  readonly toldAllAtMs: number | undefined;
}

/** The state of a service on the stream. */
export type Sending =
  | { readonly kind: 'not told' }
  /** A part of the service has to be sent yet. */
  | { readonly kind: 'waiting' }
  /** All of it was sent, and is not acknowledged yet. */
  | { readonly kind: 'sent' }
  | { readonly kind: 'acknowledged'; readonly atMs: number };

/** The first reason that keeps the service from the peer, or its success. */
export function whyExported(facts: ExchangeFacts): ExportExplanation {
  const { trace, ownInstances: Instances } = facts;
  const rules = trace.rules.map(({ position: Position, rule, verdict: Verdict }) => {
    return { Position, Name: rule.Name, Namespace: rule.Namespace || 'default', Verdict };
  });
  const [Reason, Sentence] = exportReason(facts);
  return { IsThere: Reason === 'acknowledged', Reason, Sentence, Instances, Rules: rules };
}

type ExportReason = ExportExplanation['Reason'];

function exportReason(facts: ExchangeFacts): [ExportReason, string] {
  const { peer, trace, sending, openSinceMs } = facts;
  const name = `"${shownService(facts.service)}"`;
  if (facts.hasEnded) return ['peering-ended', `The peering with "${peer}" has ended.`];
  if (!trace.isExported) return notExported(facts, name);
  if (openSinceMs === undefined) {
    const then = 'The service is sent as soon as a stream opens.';
    return ['stream-down', `No stream to "${peer}" is open. ${then}`];
  }
  switch (sending.kind) {
    case 'acknowledged': {
      const at = formatInstant(sending.atMs);
      const has = facts.ownInstances === 0 ? ', without an instance: it has none here' : '';
      return ['acknowledged', `"${peer}" has ${name}${has}; last acknowledged at ${at}.`];
    }
    case 'sent':
      return ['sent', `${name} was sent, and "${peer}" has not acknowledged it yet.`];
    default:
      return ['waiting', `${name} waits its turn: other services are sent to "${peer}" first.`];
  }
}

function notExported({ peer, trace }: ExchangeFacts, name: string): [ExportReason, string] {
  if (trace.isMissing) {
    const has = 'services with an instance or routing entries';
    return ['no-instance', `A rule with "*" exports ${has}, and ${name} has neither.`];
  }
  if (trace.rules.length === 0) {
    return ['no-rule', 'There is no exported-services entry with rules: nothing is exported.'];
  }
  if (trace.rules.some(({ verdict }) => verdict === 'other-consumers')) {
    return ['other-consumers', `${name} is exported, but "${peer}" is not among the consumers.`];
  }
  return ['no-rule', `No rule of the exported-services entry covers ${name}.`];
}

type ImportReason = ImportExplanation['Reason'];

export function whyImported(facts: ExchangeFacts): ImportExplanation {
  const [Reason, Sentence] = importReason(facts);
  const Instances = facts.importedInstances ?? 0;
  return { IsThere: Reason === 'imported', Reason, Sentence, Instances };
}

function importReason(facts: ExchangeFacts): [ImportReason, string] {
  const { peer, openSinceMs, toldAllAtMs, importedInstances } = facts;
  const name = `"${shownService(facts.service)}"`;
  if (importedInstances !== undefined) {
    const [count, plural] = [importedInstances, importedInstances === 1 ? '' : 's'];
    const down =
      openSinceMs === undefined
        ? ' This is the last known state: no stream is open, so changes do not arrive.'
        : '';
    return ['imported', `"${peer}" exports ${name} with ${count} instance${plural}.${down}`];
  }
  if (facts.hasEnded) return ['peering-ended', `The peering with "${peer}" has ended.`];
  if (openSinceMs === undefined) {
    return [
      'stream-down',
      `No stream to "${peer}" is open, and the peer has not told of ${name} before.`,
    ];
  }
  if (!facts.hasToldAll) {
    return [
      'telling',
      `"${peer}" is still telling its exports, and has not told of ${name} so far.`,
    ];
  }
  const at = toldAllAtMs === undefined ? '' : ` (at ${formatInstant(toldAllAtMs)})`;
  return [
    'not-told',
    `"${peer}" has told all its exports${at}, and ${name} is not among them: ask there why.`,
  ];
}
