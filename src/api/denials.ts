import { formatInstant } from '../base/instant.ts';
import type { Denial } from '../model/denial/denial.ts';
import { limits } from '../model/limits.ts';
import { type Caller, describeCaller } from '../model/permission/caller.ts';
import { describePermission, type Permission } from '../model/permission/permission.ts';
import type { Observation } from './pipeline.ts';

const { keptPerCallerMax, callersMax, pathLengthMax, questionsMax } = limits.denial;

/** A denial with the scope of its token, whose administrators may see it. */
export interface NotedDenial extends Denial {
  readonly home: { readonly namespace: string; readonly partition: string };
}

/**
 * The newest refused requests of this server, by caller. It has no bodies, queries or secrets.
 *
 * Invariants
 *  D1. Callers do not push out the requests of each other, until there are too many callers: then the one that was
 *      refused longest ago is forgotten.
 *  D2. Everything is bounded: callers, requests of each, and texts.
 */
export class Denials {
  readonly #byCaller = new Map<string, NotedDenial[]>();
  readonly #nowMs: () => number;
  #last = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  observe(observation: Observation): void {
    const { status, trail } = observation;
    if (status !== 403 && status !== 401) return;
    // The server to which it was handed on notes it.
    if (trail.forwardedTo !== undefined && trail.code === undefined) return;
    const key = keyOf(trail.caller);
    const known = this.#byCaller.get(key) ?? [];
    known.push(this.#denialOf(observation));
    if (known.length > keptPerCallerMax) known.shift();
    // The order of the map is that of the newest refusals.
    this.#byCaller.delete(key);
    this.#byCaller.set(key, known);
    for (const oldest of this.#byCaller.keys()) {
      if (this.#byCaller.size <= callersMax) break;
      this.#byCaller.delete(oldest);
    }
  }

  /** The newest first. */
  list(): readonly NotedDenial[] {
    return [...this.#byCaller.values()]
      .flat()
      .sort((left, right) => Number(right.ID) - Number(left.ID));
  }

  #denialOf({ request, route, status, trail }: Observation): NotedDenial {
    const { caller, permission, isAllowed, namespace = '', code = '' } = trail;
    const isLack = isAllowed === false && permission !== undefined;
    const isPlaced = caller?.kind === 'token';
    return {
      ID: String(++this.#last),
      Time: formatInstant(this.#nowMs()),
      AccessorID: caller !== undefined && 'accessor' in caller ? caller.accessor : '',
      Caller: caller === undefined ? 'somebody with an unknown token' : describeCaller(caller),
      Remote: request.remoteAddress ?? '',
      Method: request.method,
      Path: request.path.slice(0, pathLengthMax),
      Route: route?.path ?? '',
      Namespace: namespace,
      Status: status,
      Code: code,
      Permission: isLack ? describePermission(permission) : '',
      Questions: isLack ? [...questionsOf(permission)].slice(0, questionsMax) : [],
      home: {
        namespace: isPlaced ? caller.namespace : 'default',
        partition: isPlaced ? caller.partition : 'default',
      },
    };
  }
}

function keyOf(caller: Caller | undefined): string {
  switch (caller?.kind) {
    case 'token':
      return caller.accessor;
    case 'workload':
      return `workload ${caller.namespace} ${caller.job}`;
    case 'node':
      return `node ${caller.nodeId}`;
    default:
      return caller?.kind ?? 'unknown';
  }
}

function* questionsOf(permission: Permission): Generator<Denial['Questions'][number]> {
  if (permission.kind === 'any' || permission.kind === 'all') {
    for (const part of permission.of) yield* questionsOf(part);
    return;
  }
  const { namespace: Namespace = '', partition: Partition = '' } = permission as {
    readonly namespace?: string;
    readonly partition?: string;
  };
  const place = { Namespace, Partition };
  switch (permission.kind) {
    case 'management':
      yield { Permission: 'management', Name: '', ...place };
      return;
    case 'namespace':
      yield { Permission: `namespace:${permission.capability}`, Name: Namespace, ...place };
      return;
    case 'resource':
      yield { Permission: `${permission.resource}:${permission.access}`, Name: '', ...place };
      return;
    case 'named':
      yield {
        Permission: `${permission.resource}:${permission.access}`,
        Name: permission.name,
        ...place,
      };
      return;
    default:
      return;
  }
}
