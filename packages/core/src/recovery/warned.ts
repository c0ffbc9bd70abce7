/** Warns if two layers of retries multiply. */
import type { Explanation } from "./Explanation.ts"

/** Adds a warning to a worst case if its attempts and the sends of the transport multiply. */
export const warned = (model: Explanation, transport: Explanation | undefined): Explanation => {
  const { attempts } = model.worst
  const sends = transport?.worst.requests ?? 1
  if (attempts === 1 || sends === 1) return model
  const warning = `each of ${attempts} attempts is sent up to ${sends} times by the transport; with { transport: "off" } the table takes its place`
  return { ...model, warning }
}
