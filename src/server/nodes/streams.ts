import type { StreamConnection } from '../../model/node-stream/stream-connection.ts';

/**
 * The connections that nodes hold open to this server, which never dials a node. A new connection
 * of a node replaces the old one, which is surely dead.
 */
export class NodeStreams {
  readonly #connections = new Map<string, StreamConnection>();
  readonly #listeners = new Set<(nodeId: string) => void>();

  add(nodeId: string, connection: StreamConnection): void {
    this.#connections.get(nodeId)?.close(1000, 'the node connected again');
    this.#connections.set(nodeId, connection);
    this.#tellListeners(nodeId);
  }

  /** Removes the connection, unless a newer one has taken its place. */
  remove(nodeId: string, connection: StreamConnection): void {
    if (this.#connections.get(nodeId) !== connection) return;
    this.#connections.delete(nodeId);
    this.#tellListeners(nodeId);
  }

  /** Ends the connection of a node that was purged. */
  drop(nodeId: string, reason: string): void {
    this.#connections.get(nodeId)?.close(1008, reason);
    if (this.#connections.delete(nodeId)) this.#tellListeners(nodeId);
  }

  /** The nodes that hold a connection. */
  nodeIds(): Iterable<string> {
    return this.#connections.keys();
  }

  /** Calls `listen` with each node that connects or disconnects. Returns the function that ends this. */
  onChange(listen: (nodeId: string) => void): () => void {
    this.#listeners.add(listen);
    return () => this.#listeners.delete(listen);
  }

  #tellListeners(nodeId: string): void {
    for (const listen of this.#listeners) listen(nodeId);
  }

  /** Ends the connections of nodes that are not known. */
  dropAll(isKnown: (nodeId: string) => boolean, reason: string): void {
    for (const nodeId of [...this.#connections.keys()]) {
      if (!isKnown(nodeId)) this.drop(nodeId, reason);
    }
  }

  /** The open connection of the node; `undefined`: it holds none to this server. */
  held(nodeId: string): StreamConnection | undefined {
    const connection = this.#connections.get(nodeId);
    return connection?.isClosed === false ? connection : undefined;
  }

  get size(): number {
    return this.#connections.size;
  }

  closeAll(): void {
    for (const connection of this.#connections.values()) connection.close(1001, 'server stops');
    this.#connections.clear();
  }
}
