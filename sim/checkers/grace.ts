import { isKnownAlive, type Node } from '../../src/model/node/node.ts';
import { nodes } from '../../src/state/tables.ts';
import type { Checker, Scene } from './checker.ts';

/** The time of a node to find a new leader. */
const graceMs = 300_000;
/** The least time between two heartbeats that servers ask for, and their patience after it. */
const beatMs = 20_000;
/** Tolerance of both. */
const earlyMs = 1000;

/**
 * A new leader, or a server that restarted, declares no node missed before the node had its whole time. A node
 * that was heard since then gets the usual time. A restore begins a new term.
 */
export const newLeadersWaitForNodes = () => {
  let sinceMs = 0;
  let heard = new Set<string>();
  const begin = ({ elapsedMs }: Pick<Scene, 'elapsedMs'>): void => {
    sinceMs = elapsedMs;
    heard = new Set();
  };
  return {
    guarantee: 'a new leader waits for every node',
    /** A server has answered a heartbeat or a registration. */
    answered(nodeId: string): void {
      heard.add(nodeId);
    },
    resumed: begin,
    restored: (_changes, _index, scene) => begin(scene),
    committed(changes, _index, { elapsedMs }, fault): void {
      for (const { table, before, after } of changes) {
        if (table !== nodes.name || before === undefined || after === undefined) continue;
        const [was, is] = [before as Node, after as Node];
        if (!isKnownAlive(was) || isKnownAlive(is)) continue;
        const dueMs = heard.has(is.ID) ? beatMs : graceMs;
        const passedMs = elapsedMs - sinceMs;
        if (passedMs + earlyMs >= dueMs) continue;
        fault(`${is.Name} counts as ${is.Status} ${passedMs / 1000} s after the term began`);
      }
    },
  } satisfies Checker & { answered(nodeId: string): void };
};
