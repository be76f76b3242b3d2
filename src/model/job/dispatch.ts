/**
 * The rules for a dispatch. Source: docs/contract/jobs.md#dispatch-a-job.
 */
import { checkValues } from '../check-values.ts';
import { complete } from '../complete.ts';
import type { Fault } from '../errors.ts';
import { limits } from '../limits.ts';
import { below, faultAt, quote } from '../path.ts';
import { type Input, type Model, Text, TextMap, Type, Whole } from '../schema.ts';
import type { Job, Parameterized } from './job.ts';

export const DispatchSchema = Type.Object({
  /** If given, the id in the path. */
  JobID: Text(),
  /** Base64. */
  Payload: Text(),
  Meta: TextMap(),
  /** A part of the child's id. */
  IdPrefixTemplate: Text(),
  /** Only the first dispatch with the same token makes a child. */
  IdempotencyToken: Text({ maxLength: limits.names.lengthMax }),
  /** 0: the priority of the job. */
  Priority: Whole({ minimum: 0, maximum: limits.job.priorityMax }),
  Namespace: Text(),
});
export type DispatchRequest = Model<typeof DispatchSchema>;
export type DispatchInput = Input<DispatchRequest>;

export const completeDispatch = (given: DispatchInput): DispatchRequest =>
  complete(DispatchSchema, given);

/** Faults of the request by itself, for any job. */
export function requestFaults(request: DispatchRequest): Fault[] {
  const faults = checkValues(DispatchSchema, request);
  const { Payload } = request;
  const { payloadBytesMax } = limits.dispatch;
  const bytes = decodedBytes(Payload);
  if (bytes === undefined) {
    faults.push(faultAt(below(null, 'Payload'), 'is not base64 with its padding'));
  } else if (bytes > payloadBytesMax) {
    const message = `has ${bytes} bytes when decoded, and ${payloadBytesMax} is the limit`;
    faults.push(faultAt(below(null, 'Payload'), message));
  }
  if (request.IdempotencyToken.includes('\0')) {
    faults.push(faultAt(below(null, 'IdempotencyToken'), 'must not hold a NUL character'));
  }
  return faults;
}

/** The number of decoded bytes; `undefined` if the text is not padded base64 in the standard alphabet. */
function decodedBytes(text: string): number | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes.length : undefined;
}

/** Faults of the request for this parameterized job. */
export function dispatchFaults(job: Job, request: DispatchRequest): Fault[] {
  const block = job.ParameterizedJob!;
  return [
    ...payloadFaults(block, request),
    ...metaFaults(block, request),
    ...idFaults(job, request),
  ];
}

function payloadFaults({ Payload: rule }: Parameterized, { Payload }: DispatchRequest): Fault[] {
  const at = below(null, 'Payload');
  if (rule === 'required' && Payload === '') return [faultAt(at, 'is required by the job')];
  if (rule === 'forbidden' && Payload !== '') return [faultAt(at, 'is forbidden by the job')];
  return [];
}

function metaFaults(block: Parameterized, { Meta }: DispatchRequest): Fault[] {
  const required = block.MetaRequired ?? [];
  const known = new Set([...required, ...(block.MetaOptional ?? [])]);
  const given = Object.keys(Meta ?? {});
  const at = below(null, 'Meta');
  const { listedMax } = limits.fault;
  return [
    ...given
      .filter((key) => !known.has(key))
      .slice(0, listedMax)
      .map((key) => faultAt(below(at, key), 'is not a key that the job takes')),
    ...required
      .filter((key) => !Object.hasOwn(Meta ?? {}, key))
      .map((key) => faultAt(at, `lacks the key ${quote(key)}, which the job requires`)),
  ];
}

/** The id of the child must be a valid id of a job. */
function idFaults({ ID }: Job, { IdPrefixTemplate: prefix }: DispatchRequest): Fault[] {
  const at = below(null, 'IdPrefixTemplate');
  if (/[\s\0]/.test(prefix)) return [faultAt(at, 'must not hold a space or a NUL character')];
  const { length } = dispatchId(ID, prefix, Date.UTC(2100, 0), '00000000');
  const { lengthMax } = limits.names;
  if (length <= lengthMax) return [];
  return [faultAt(at, `makes an id of ${length} characters, and ${lengthMax} is the limit`)];
}

/** `random`: eight hexadecimal digits that tell apart dispatches in the same second. */
export function dispatchId(
  parentId: string,
  prefix: string,
  nowMs: number,
  random: string,
): string {
  const parts = [...(prefix === '' ? [] : [prefix]), Math.floor(nowMs / 1000), random];
  return `${parentId}/dispatch-${parts.join('-')}`;
}
