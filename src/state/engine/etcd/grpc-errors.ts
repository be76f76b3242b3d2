import { type ServiceError, status } from '@grpc/grpc-js';
import { EtcdError, type EtcdErrorKind } from './client.ts';

/** Codes with which etcd, or the way to it, says for certain that a request was not done. */
const refusals: ReadonlySet<number> = new Set([
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.FAILED_PRECONDITION,
  status.OUT_OF_RANGE,
  status.UNIMPLEMENTED,
  status.UNAUTHENTICATED,
]);

/** Where the sentence tells more than the code. The first that fits counts. */
const sentences: readonly (readonly [RegExp, EtcdErrorKind])[] = [
  [/database space exceeded/, 'no-space'],
  [/revision has been compacted|is a future revision/, 'compacted'],
  [/permission denied|user name is empty|authentication failed/, 'denied'],
  [/too many requests|^grpc: received message larger than max/, 'refused'],
];

/** The error of a call, for the engine. An error that does not say for certain that nothing was done is `unknown`. */
export function errorOf(error: unknown, endpoint: string): EtcdError {
  if (error instanceof EtcdError) return error;
  const { code, details } = error as Partial<ServiceError>;
  const words = details || (error instanceof Error ? error.message : String(error));
  // The library ends its sentence with a note, which is mostly empty.
  const said = words.replace(/\.? Resolution note:\s*$/, '');
  const known = sentences.find(([sentence]) => sentence.test(said))?.[1];
  const kind = known ?? (code !== undefined && refusals.has(code) ? 'refused' : 'unknown');
  return new EtcdError(kind, `etcd at ${endpoint}: ${said}`, error);
}

/** Whether another login may help. */
export function isLoginOver(error: unknown): boolean {
  const { code, details = '' } = error as Partial<ServiceError>;
  return code === status.UNAUTHENTICATED || /revision of auth store is old/.test(details);
}
