/**
 * The stream that an agent opens to the server, over the simulated network. It breaks when either
 * program dies. A cut link loses its messages.
 */
import { StreamConnection, type StreamSocket } from '../src/model/node-stream/stream-connection.ts';
import { CommandRefusal } from '../src/node/allocation-runner/commands.ts';
import { restartHandler } from '../src/node/command-handlers.ts';
import type { Network } from './network.ts';
import type { Process } from './process.ts';
import type { Run } from './run.ts';
import type { RunningServer } from './server.ts';

interface End extends StreamSocket {
  receive(message: string | Uint8Array): void;
  over(reason: string): void;
}

/** An end of the stream; `send` carries its messages to the other end. */
function end(send: (message: string | Uint8Array) => void, hangUp: () => void): End {
  let receive: (message: string | Uint8Array) => void = () => {};
  let closed: (reason: string) => void = () => {};
  return {
    sendText: send,
    sendBinary: send,
    onMessage: (run) => {
      receive = run;
    },
    onClose: (run) => {
      closed = run;
    },
    close: hangUp,
    terminate: hangUp,
    ping() {},
    onPong() {},
    receive: (message) => receive(message),
    over: (reason) => closed(reason),
  };
}

export interface StreamOptions {
  readonly agent: Process;
  readonly server: RunningServer;
  readonly network: Network;
  readonly machine: string;
  readonly nodeId: string;
  readonly runOf: (allocationId: string) => Run | undefined;
}

/** Opens the stream. `lost` is called once when it has broken, unless the agent is dead. */
export function openStream(options: StreamOptions, lost: () => void): void {
  const { agent, server, network, machine, nodeId, runOf } = options;
  let isOver = false;
  const hangUp = (reason: string) => {
    if (isOver) return;
    isOver = true;
    forgetAgent();
    forgetServer();
    server.process.post(() => serverEnd.over(reason));
    agent.post(() => {
      nodeEnd.over(reason);
      lost();
    });
  };
  const serverEnd = end(
    (message) => network.carry(machine, 'to', () => agent.post(() => nodeEnd.receive(message))),
    () => hangUp('closed by the server'),
  );
  const nodeEnd = end(
    (message) =>
      network.carry(machine, 'from', () => server.process.post(() => serverEnd.receive(message))),
    () => hangUp('closed by the node'),
  );
  const forgetAgent = agent.onDeath(() => hangUp('the agent died'));
  const forgetServer = server.process.onDeath(() => hangUp('the server died'));
  const connection = new StreamConnection({ socket: nodeEnd, side: 'node' });
  connection.accept(
    'restart',
    restartHandler((id) => commandTarget(runOf(id))),
  );
  server.takeStream(nodeId, serverEnd);
}

function commandTarget(run: Run | undefined) {
  if (run === undefined) return undefined;
  return {
    restart: async () => {
      if (run.restart()) return;
      throw new CommandRefusal('not-running', `The allocation "${run.id}" is not running.`);
    },
    signal: async () => {},
  };
}
