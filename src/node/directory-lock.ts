import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Locks a node's data directory for this process, and returns the function that unlocks it; the
 * system unlocks it when the process dies. Two agents on one directory would take over each other's
 * supervisor and tasks.
 *
 * The lock is a lock on an empty database, as the runtime has no other.
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
