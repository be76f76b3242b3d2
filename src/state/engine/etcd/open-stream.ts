import type { ClientDuplexStream } from '@grpc/grpc-js';

/** A stream to one endpoint. */
export interface OpenStream {
  readonly stream: ClientDuplexStream<object, unknown>;
  readonly endpoint: string;
}
