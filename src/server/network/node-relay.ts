import { type ByteStream, StreamFault } from '../../model/node-stream/byte-stream.ts';
import type { StreamOpener } from '../../model/node-stream/stream-connection.ts';

/** The kind of the streams that lead to a node. */
export const nodeKind = 'node';

/** The way to a node that is connected to the server at the other end. */
export const nodeOver = (connection: StreamOpener, node: string): StreamOpener => ({
  open: (kind, params, creditBytes) =>
    connection.open(nodeKind, { node, kind, params }, creditBytes),
});

/** Passes a stream of another server on to a node. @throws StreamFault */
export async function relayToNode(
  stream: ByteStream,
  { node, kind, params }: Readonly<Record<string, unknown>>,
  find: (nodeId: string) => StreamOpener | undefined,
): Promise<void> {
  const held = typeof node === 'string' ? find(node) : undefined;
  if (held === undefined || typeof kind !== 'string') {
    throw new StreamFault({
      status: 503,
      code: 'node-disconnected',
      message: 'the node is not connected to this server',
    });
  }
  const target = held.open(kind, (params ?? {}) as Readonly<Record<string, unknown>>);
  const cancel = (): void => target.cancel();
  stream.signal.addEventListener('abort', cancel, { once: true });
  const input = async (): Promise<void> => {
    for await (const chunk of stream) await target.write(chunk);
    target.end();
  };
  // A fault of the input ends the target, which is read below.
  input().catch(cancel);
  for await (const chunk of target) await stream.write(chunk);
}
