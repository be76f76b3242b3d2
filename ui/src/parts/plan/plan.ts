/** Words and addresses of plans. */
import type { PlanRequest } from '../../../../src/contract/plan.ts';
import type { PlanKind } from '../../../../src/model/kept-plan/kept-plan.ts';
import type { ActChange, PlanStub } from '../../../../src/model/kept-plan/shown-plan.ts';
import { type Decision, may, mayAny } from '../../app/permissions.svelte.ts';
import { href } from '../../app/router.svelte.ts';

export const planKindWords: Readonly<Record<PlanKind, string>> = {
  job: 'register a job',
  scale: 'scale a group',
  revert: 'revert a job',
  drain: 'drain a node',
  eligibility: 'eligibility of a node',
  'configuration-entry': 'configuration entry',
};

type About = Pick<PlanStub, 'Kind' | 'Namespace' | 'Partition' | 'JobID' | 'Subject' | 'Name'>;

/** `job web`, `node n1`, `service-defaults/web` */
export function subjectOf({ Kind, JobID, Subject, Name }: About): string {
  if (JobID !== '') return `job ${JobID}`;
  return Kind === 'configuration-entry' ? `${Subject}/${Name}` : `node ${Name || Subject}`;
}

/** The page of what the plan is about. */
export function subjectHref({ Kind, Namespace, JobID, Subject, Name }: About): string {
  if (JobID !== '') return href('/jobs/:namespace/:id', { namespace: Namespace, id: JobID });
  if (Kind !== 'configuration-entry') return href('/nodes/:id', { id: Subject });
  return href('/configuration/:kind/:name', { kind: Subject, name: Name });
}

const ofServices = ['service-defaults', 'service-resolver', 'service-router', 'service-splitter'];

/** Whether the token may carry the plan out, as far as the plan tells. The server decides by its whole content. */
export function mayApply({ Kind, Namespace, Partition, Subject, Name }: About): Decision {
  const inNamespace = { namespace: Namespace };
  const submits = may('namespace:submit-job', inNamespace);
  switch (Kind) {
    case 'job':
      return mayAny(submits, may('namespace:register-job', inNamespace));
    case 'scale':
      return mayAny(submits, may('namespace:scale-job', inNamespace));
    case 'revert':
      return mayAny(submits, may('namespace:revert-job', inNamespace));
    case 'drain':
    case 'eligibility':
      return may('node:write', { name: Name });
    case 'configuration-entry': {
      const about = { namespace: Namespace, partition: Partition };
      if (Subject === 'service-intentions') return may('intention:write', { ...about, name: Name });
      if (ofServices.includes(Subject)) return may('service:write', { ...about, name: Name });
      return may('mesh:write', about);
    }
  }
}

/** Whether the token may plan the act again, as far as the plan tells. */
export function mayPlanAgain(about: About): Decision {
  const mayAct = mayApply(about);
  return about.JobID === ''
    ? mayAct
    : mayAny(may('namespace:plan-job', { namespace: about.Namespace }), mayAct);
}

/** The requests of this tab, so that a plan can be made again when it is gone. Acts may hold secrets: kept in memory. */
const asked = new Map<string, PlanRequest>();
export const rememberRequest = (id: string, request: PlanRequest): void => {
  asked.set(id, request);
};
export const requestOf = (id: string): PlanRequest | undefined => asked.get(id);

const signs: Readonly<
  Record<
    ActChange['Action'],
    { readonly word: string; readonly tone: string; readonly sign: string }
  >
> = {
  place: { word: 'Place', tone: 'ok', sign: '+' },
  update: { word: 'Update in place', tone: 'info', sign: '~' },
  stop: { word: 'Stop', tone: 'warn', sign: '−' },
  evict: { word: 'Evict', tone: 'bad', sign: '×' },
  mark: { word: 'Mark', tone: 'idle', sign: '·' },
};
export const lookOfChange = ({ Action, Canary }: ActChange) => ({
  ...signs[Action],
  ...(Canary && { word: 'Place canary' }),
});

/** "3 placed, 1 stopped" by the actions. */
export function countsOf(
  changes: readonly ActChange[],
): readonly { readonly word: string; readonly count: number; readonly tone: string }[] {
  const words: Readonly<Record<ActChange['Action'], string>> = {
    place: 'to place',
    update: 'to update in place',
    stop: 'to stop',
    evict: 'to evict',
    mark: 'to mark',
  };
  return (Object.keys(words) as ActChange['Action'][])
    .map((action) => ({
      word: words[action],
      tone: signs[action].tone,
      count: changes.filter(({ Action }) => Action === action).length,
    }))
    .filter(({ count }) => count > 0);
}

/** The protocol and the targets of a compiled chain. */
export function chainText(chain: object | null, refused: string): string {
  if (chain === null) return refused === '' ? 'none' : refused;
  const { Protocol, Targets } = chain as { readonly Protocol?: string; readonly Targets?: object };
  return `${Protocol} to ${Object.keys(Targets ?? {}).join(', ')}`;
}
