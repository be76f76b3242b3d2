import type { Answer } from '../http.ts';

/** The body as JSON: as it is, or as a JSON text where it is of another type. `undefined`: it is too long. */
export async function textOf(answer: Answer, lengthMax: number): Promise<string | undefined> {
  const text = await bodyText(answer, lengthMax);
  if (text === undefined || text.length > lengthMax) return undefined;
  if (text === '') return 'null';
  const type = answer.headers['content-type'] ?? '';
  return /json/.test(type) ? text : JSON.stringify(text);
}

async function bodyText({ body }: Answer, lengthMax: number): Promise<string | undefined> {
  if (body === undefined || typeof body === 'string') return body ?? '';
  const decoder = new TextDecoder();
  if (body instanceof Uint8Array) return decoder.decode(body);
  let text = '';
  for await (const part of body) {
    text += decoder.decode(part, { stream: true });
    if (text.length > lengthMax) return undefined;
  }
  return text + decoder.decode();
}
