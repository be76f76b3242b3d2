import { DriverFailure } from '../driver.ts';
import { RuntimeUnreachable, reasonOf, statusOf } from './runtime.ts';

/** Errors that another try will not solve. */
const final =
  /no such file|not found in|executable file|permission denied: OCI|is a directory|unable to find user|no matching entries in|invalid|unknown|not supported|must be|already in use by|cannot be/i;

export function startFailure(error: unknown): DriverFailure {
  if (error instanceof DriverFailure) return error;
  if (error instanceof RuntimeUnreachable) return error;
  const reason = reasonOf(error);
  const status = statusOf(error);
  const isFinal = status === 400 || status === 409 || (status >= 404 && final.test(reason));
  return new DriverFailure(`the container could not be started: ${reason}`, !isFinal);
}
