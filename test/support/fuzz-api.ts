import fc from 'fast-check';
import Schema from 'typebox/schema';
import type { TestApi } from './api.ts';
import { type FuzzedRequest, type Known, type Operation, requestOf } from './fuzz.ts';

/** The status of a request whose caller has disconnected. */
export const gone = 499;

/** The answer; a blocking query is answered as soon as it waits. */
async function answerTo(api: TestApi, { method, url, token, headers, body }: FuzzedRequest) {
  const caller = new AbortController();
  const answer = api.call(method, url, {
    token,
    headers,
    signal: caller.signal,
    ...(body !== undefined && { body }),
  });
  const isOver = await Promise.race([answer.then(() => true), api.settle().then(() => false)]);
  if (!isOver) {
    await api.settle();
    caller.abort();
  }
  return answer;
}

/** The fault of the answer, or `undefined`. */
function faultOf(
  operation: Operation,
  { status, json, text }: Awaited<ReturnType<typeof answerTo>>,
) {
  if (status === gone) return undefined;
  if (status === 200) {
    if (operation.answer === undefined || Schema.Check(operation.answer, json)) return undefined;
    return `an answer that its schema does not allow: ${text.slice(0, 500)}`;
  }
  if (status === 500) return 'a 500';
  const isProblem = status >= 400 && json?.status === status && typeof json.code === 'string';
  return isProblem ? undefined : `${status} that is no problem: ${text.slice(0, 200)}`;
}

/** Sends valid and invalid requests. Returns the number of answers by status. */
export async function fuzz(
  api: TestApi,
  operation: Operation,
  known: Known,
  runs: number,
): Promise<ReadonlyMap<number, number>> {
  const seen = new Map<number, number>();
  const { errorInstance } = await fc.check(
    fc.asyncProperty(requestOf(operation, known), async (request) => {
      const answer = await answerTo(api, request);
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
      const fault = faultOf(operation, answer);
      if (fault !== undefined) throw new Error(`${JSON.stringify(request)} gives ${fault}`);
    }),
    { numRuns: runs },
  );
  if (errorInstance) throw errorInstance;
  return seen;
}
