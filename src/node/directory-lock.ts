import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Holds a node's data directory for this process alone, and gives what lets go of it; the system does
 * when the process dies. Two agents on the same directory would take each other's supervisor and
 * tasks away.
 *
 * The lock is that of an empty database, since the runtime offers no other.
 * @throws Error that says who is in the way, or why the directory cannot be used
 */
export function holdDirectory(directory: string): () => void {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(join(directory, 'agent.lock'), { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
    const held = database;
    return () => held.close();
  } catch (error) {
    database?.close();
    const { errcode, message } = error as { readonly errcode?: number; readonly message: string };
    if (errcode === busy) throw new Error(`the directory ${directory} is in use by another agent`);
    throw new Error(`the directory ${directory} cannot be used: ${message}`, { cause: error });
  }
}

/** Source: https://sqlite.org/rescode.html#busy */
const busy = 5;
