/**
 * The id of a scaling policy, made only from the job, group and kind, so that it stays through updates
 * (docs/behaviour/job-specification.md#scaling-policies). It has the form of a custom UUID (RFC 9562 §5.8).
 * It is a plain hash and not secret: somebody may make another policy with the same id, so a read by id only
 * answers with a policy of the named namespace.
 */
export function scalingPolicyId(parts: readonly string[]): string {
  const text = JSON.stringify(parts);
  const words = multipliers.map((multiplier, lane) => hash(text, multiplier, lane));
  const hex = words.map((word) => word.toString(16).padStart(8, '0')).join('');
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16);
  const [first, second] = [hex.slice(0, 8), hex.slice(8, 12)];
  return `${first}-${second}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** Odd numbers, one for each lane of 32 bits. */
const multipliers = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f];

function hash(text: string, multiplier: number, lane: number): number {
  let state = Math.imul(lane + 1, 0x165667b1) ^ text.length;
  for (let at = 0; at < text.length; at++) {
    state = Math.imul(state ^ text.charCodeAt(at), multiplier);
    state = (state << 13) | (state >>> 19);
  }
  // Every bit of the result depends on every bit of the input.
  state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
  state = Math.imul(state ^ (state >>> 12), 0x297a2d39);
  return (state ^ (state >>> 15)) >>> 0;
}
