import { delay, type Timers } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import type { ByteStream } from '../../model/node-stream/byte-stream.ts';
import type { PeeringLink } from '../peering/link.ts';
import { readerLimits } from './limits.ts';

/** The kind of the streams that carry the link of a peer from a reader to the main thread. */
export const peeringKind = 'peering';

/**
 * Not in limits: on the stream each frame follows its kind (a byte) and its length (4 bytes, the most significant one
 * first).
 */
const headBytes = 5;
const kinds = { frame: 0, closed: 1 } as const;

/** The link of a peer that is connected to a reader, on the other end of the stream. */
export function linkOver(stream: ByteStream, timers: Timers): PeeringLink {
  const closed = Promise.withResolvers<string>();
  let sending: Promise<void> = Promise.resolve();
  let waitingBytes = 0;
  let isOver = false;
  const send = (kind: number, text: string): void => {
    const bytes = Buffer.from(text);
    const head = Buffer.alloc(headBytes);
    head.writeUInt8(kind);
    head.writeUInt32BE(bytes.length, 1);
    waitingBytes += bytes.length;
    sending = sending.then(async () => {
      await stream.write(Buffer.concat([head, bytes]));
      waitingBytes -= bytes.length;
    });
    sending.catch(() => {});
  };
  const end = (reason: string): void => {
    isOver = true;
    closed.resolve(reason);
  };
  return {
    closed: closed.promise,
    send: (text) => {
      if (!isOver) send(kinds.frame, text);
      return !isOver;
    },
    get waitingBytes() {
      return waitingBytes;
    },
    onFrame: (take) => {
      const read = async (): Promise<string> => {
        for await (const { kind, text } of framesOf(stream)) {
          if (kind === kinds.closed) return text;
          await take(text);
        }
        return lost;
      };
      read().then(end, () => end(lost));
    },
    close: (reason) => {
      if (isOver) return;
      send(kinds.closed, reason);
      isOver = true;
      const late = timers.after(readerLimits.endMs, () => stream.cancel());
      const over = (): void => {
        late.clear();
        closed.resolve(reason);
      };
      sending.then(() => stream.end()).then(over, over);
    },
  };
}

/** Not in limits: the words for a link that ended without a reason. */
const lost = 'the connection was lost';

/** Carries the frames of a link over the stream, and those of the stream over the link, until either ends. */
export function joinLink(link: PeeringLink, stream: ByteStream, timers: Timers): void {
  const far = linkOver(stream, timers);
  far.onFrame(async (text) => {
    link.send(text);
    while (link.waitingBytes > limits.peering.frameBytesMax) {
      await delay(timers, readerLimits.lookAgainMs);
    }
  });
  link.onFrame((text) => {
    if (far.waitingBytes > limits.peering.unreadBytesMax) link.close('it sends too fast');
    else far.send(text);
  });
  void far.closed.then((reason) => link.close(reason));
  void link.closed.then((reason) => far.close(reason));
}

async function* framesOf(stream: ByteStream) {
  let ahead = Buffer.alloc(0);
  for await (const chunk of stream) {
    ahead = Buffer.concat([ahead, chunk]);
    while (ahead.length >= headBytes) {
      const end = headBytes + ahead.readUInt32BE(1);
      if (ahead.length < end) break;
      yield { kind: ahead.readUInt8(0), text: ahead.toString('utf8', headBytes, end) };
      ahead = ahead.subarray(end);
    }
  }
}
