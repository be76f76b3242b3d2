/** The page of the record that an event is about, if there is such a page. */
import type { Event } from '../../../../src/model/event/event.ts';
import { href, router } from '../../app/router.svelte.ts';

type Place = readonly [path: string, params: Readonly<Record<string, string>>];

const field = ({ Payload }: Event, noun: string, name: string): string => {
  const record = Payload[noun] as Readonly<Record<string, unknown>> | null | undefined;
  const value = record?.[name];
  return typeof value === 'string' ? value : '';
};

const placeOf: Readonly<Record<string, (event: Event) => Place | undefined>> = {
  Job: ({ Key, Namespace }) => ['/jobs/:namespace/:id', { namespace: Namespace, id: Key }],
  Evaluation: (event) => ofJob(event, 'Evaluation'),
  Deployment: (event) => ofJob(event, 'Deployment'),
  Allocation: ({ Key }) => ['/allocations/:id', { id: Key }],
  Node: ({ Key }) => ['/nodes/:id', { id: Key }],
  Service: (event) => {
    const name = field(event, 'Service', 'ServiceName');
    return name === '' ? undefined : ['/services/:name', { name }];
  },
  ConfigEntry: (event) => {
    const kind = field(event, 'ConfigEntry', 'Kind');
    const name = field(event, 'ConfigEntry', 'Name');
    return kind === '' || name === '' ? undefined : ['/configuration/:kind/:name', { kind, name }];
  },
  Peering: (event) => {
    const name = field(event, 'Peering', 'Name');
    return name === '' ? undefined : ['/peerings/:name', { name }];
  },
  Plan: ({ Key }) => ['/plans/:id', { id: Key }],
  Variable: () => ['/variables', {}],
  ACLToken: () => ['/access/tokens', {}],
  ACLPolicy: () => ['/access/policies', {}],
  ACLRole: () => ['/access/roles', {}],
  ACLAuthMethod: () => ['/access/methods', {}],
  ACLBindingRule: () => ['/access/rules', {}],
};

function ofJob(event: Event, noun: string): Place | undefined {
  const id = field(event, noun, 'JobID');
  return id === '' ? undefined : ['/jobs/:namespace/:id', { namespace: event.Namespace, id }];
}

export function linkOf(event: Event): string | undefined {
  const place = placeOf[event.Topic]?.(event);
  if (place === undefined) return undefined;
  const [path, params] = place;
  const isThere = router.has(path.replaceAll(/:[a-z]+/g, 'x'));
  return isThere ? href(path, params) : undefined;
}
